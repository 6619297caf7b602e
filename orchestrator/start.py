"""`pnnx-parity`: say in one line what is missing where only the converter was installed."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; 2 where the orchestrator's own packages are not installed."""
    try:
        from orchestrator.cli import main as run
    except ModuleNotFoundError as error:
        print(
            f"pnnx-parity: {error.name} is not installed; "
            'install the orchestrator in a checkout: pip install -e ".[orchestrator]"',
            file=sys.stderr,
        )
        return 2
    return run()
