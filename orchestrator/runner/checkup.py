"""`python -m orchestrator.runner.checkup PACKAGE`: print the package's version, then import it.

Needs the standard library only: whatever else the cell lacks, this runs in it.
"""

import importlib
import sys
from importlib.metadata import version

LAZY = {"transformers": "transformers.modeling_utils"}
"""Packages that import little by themselves, and a module that imports what their users need."""

if __name__ == "__main__":
    package = sys.argv[1]
    print(version(package), flush=True)
    importlib.import_module(LAZY.get(package, package.replace("-", "_")))
