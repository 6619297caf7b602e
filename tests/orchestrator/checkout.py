"""A copy of the checkout with cells of its own, for the tests of what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from live import CELL, Command

from orchestrator.cells import ROOT
from orchestrator.cluster.ship import shipment

TRIAL = ("--case", "F_relu6", "--frontend", "pt2", "--target", "pnnx", "--every-cell")
"""One trial in each cell."""


class Checkout:
    """A copy of what a run needs. It has every cell of the project, and the main one is built."""

    def __init__(self, root: Path, command: Command) -> None:
        self.root = root
        self.command = command
        self.share(CELL)

    def cell(self, name: str, **pins: str) -> str:
        """Add a cell as the main one is, with other pins of some packages."""
        lines = (self.root / "envs" / f"{CELL}.toml").read_text().splitlines()
        for package, version in pins.items():
            (place,) = (n for n, line in enumerate(lines) if f'"{package}==' in line)
            lines[place] = f'    "{package}=={version}",'
        (self.root / "envs" / f"{name}.toml").write_text("\n".join(lines) + "\n")
        return name

    def share(self, name: str) -> None:
        """Let the cell's environment be the main one's."""
        home = self.root / ".nox" / f"env-{name}"
        home.parent.mkdir(exist_ok=True)
        home.symlink_to((ROOT / ".nox" / f"env-{CELL}").resolve())

    def script(self, name: str, text: str) -> Path:
        """Let the cell's Python be a script."""
        python = self.root / ".nox" / f"env-{name}" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(text)
        python.chmod(0o755)
        return python


@contextmanager
def checkout() -> Iterator[Checkout]:
    with shipment() as root, Command(checkout=root) as command:
        yield Checkout(root, command)
