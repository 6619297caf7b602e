"""`python -m orchestrator.runner`: started by a slot, which holds the other ends of its pipes."""

import os

from orchestrator.runner.link import Link
from suites.system import system

if __name__ == "__main__":  # a spawned child imports this file under another name
    system.end_with_parent(os.getppid(), at_once=False)
    link = Link.take()  # before torch and the suites, which may print while they are imported
    from orchestrator.runner.serve import serve

    serve(link)
    os._exit(0)  # nothing is left to do, and torch's own end takes long
