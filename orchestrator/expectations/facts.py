"""What a `when` is compared with: a cell's package versions and its markers."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from packaging.utils import canonicalize_name

from orchestrator.cells import Cell
from orchestrator.record import CellRecord
from suites.trial import DEVICES, EXPORTS, Trial

#: The environment variable behind the marker `mkl`; a cell that does not set it is `native`.
MKL_VARIABLE = "MKL_ENABLE_INSTRUCTIONS"

#: Names that compare as words, not as versions, and the words that are known (None: any).
MARKERS: dict[str, tuple[str, ...] | None] = {
    "platform": ("linux", "darwin", "win32"),
    "mkl": None,
    "device": DEVICES,
    "export": EXPORTS,
}


class Facts(msgspec.Struct, frozen=True):
    """A cell's package versions by canonical name, and its markers.

    A package that is not listed is absent; a marker that is not listed is open: before a run
    nobody knows on which platform a cell will be run.
    """

    packages: dict[str, str]
    markers: dict[str, str] = {}

    @classmethod
    def pinned(cls, cell: Cell) -> Facts:
        """What envs/ says of a cell."""
        packages = {name: str(version) for name, version in cell.versions.items()}
        return cls(packages, _mkl(cell.env))

    @classmethod
    def found(cls, cell: CellRecord) -> Facts:
        """What a runner found inside a cell."""
        packages = {str(canonicalize_name(name)): text for name, text in cell.packages.items()}
        return cls(packages, {"platform": cell.platform} | _mkl(cell.env))

    def of(self, trial: Trial) -> Facts:
        """These facts for a trial: its device, and how it is exported."""
        return Facts(self.packages, self.markers | {"device": trial.device, "export": trial.export})


def _mkl(env: Mapping[str, str]) -> dict[str, str]:
    return {"mkl": env.get(MKL_VARIABLE, "native")}
