"""Run folders: `results/<run>/` with its run.json, from first to last."""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from orchestrator import journal
from orchestrator.cells import ROOT
from orchestrator.errors import UsageError, nearest
from orchestrator.files import write_whole
from orchestrator.record import RunRecord
from orchestrator.report.merge import read_run
from suites.system import system
from suites.trial import Trial

RESULTS = ROOT / "results"
RECORD = "run.json"
LATEST = "latest"
"""The name that the newest run in `results/` has beside its own."""
NAMES = f"a folder, a name in results/, or {LATEST}"
"""How runs are named, for the help of commands."""


class Run:
    """A run's folder and its record, which is written whole at every change."""

    def __init__(self, folder: Path, record: RunRecord) -> None:
        self.folder = folder
        self.record = record

    @property
    def journal(self) -> Path:
        return self.folder / journal.NAME

    def save(self) -> None:
        data = msgspec.json.format(msgspec.json.encode(self.record), indent=1)
        write_whole(self.folder / RECORD, data)

    def spent(self, phase: str, seconds: float) -> None:
        """Add to the wall time of a phase; a resumed run has some already."""
        times = self.record.seconds
        times[phase] = round(times.get(phase, 0.0) + seconds, 3)

    def discard(self) -> None:
        """Remove a run in which nothing was run; its folder too, if nothing else is in it."""
        for file in (self.folder / RECORD, self.journal):
            file.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    def missing(self) -> list[Trial]:
        """The planned trials without a result. Raises JournalError."""
        done = {result.trial for result in journal.read(self.journal)}
        return [trial for trial in self.record.plan if trial not in done]


def create(folder: Path | None, command: Sequence[str], plan: list[Trial]) -> Run:
    """Make the folder of a new run, named after the time if none is given. Raises UsageError."""
    started = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    if folder is not None and any(os.path.exists(folder / name) for name in (RECORD, journal.NAME)):
        raise UsageError(
            f"{folder} holds a run already; give another --output, or --resume {folder}"
        )
    try:
        if folder is None:
            folder = _fresh(RESULTS / started.strftime("%Y%m%d-%H%M%S"))
        else:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        where = folder or RESULTS
        raise UsageError(f"{where}: {error.strerror}; give another folder with --output") from None
    record = RunRecord(
        run=folder.resolve().name,
        started=started,
        command=list(command),
        commit=commit(),
        versions=own_versions(),
        cpu=cpu_model(),
        plan=plan,
    )
    run = Run(folder, record)
    run.save()
    run.journal.touch()  # a run without one is a damaged run
    return run


def _fresh(folder: Path) -> Path:
    """Make a folder of that name, or with a number after it where that exists."""
    made, number = folder, 1
    while True:
        try:
            made.mkdir(parents=True)
        except FileExistsError:
            number += 1
            made = folder.with_name(f"{folder.name}-{number}")
        else:
            return made


def find(name: str) -> Path:
    """The folder of a run: by its path, by its name in results/, or `latest`, which is the one of
    results/ that was started last. Raises UsageError.
    """
    folder = located(name)
    if os.path.exists(folder / RECORD):
        return folder
    known = [LATEST, *(file.parent.name for file in RESULTS.glob(f"*/{RECORD}"))]
    raise UsageError(f"no run at {name!r}: it has no {RECORD}; {nearest(name, known)}")


def located(name: str) -> Path:
    """Where a run of this name is, or would be. Raises UsageError where there is no latest one."""
    if not os.path.lexists(name):
        if name == LATEST:
            return _latest()
        if os.path.lexists(RESULTS / name):
            return RESULTS / name
    return Path(name)


def _latest() -> Path:
    found = []
    for file in RESULTS.glob(f"*/{RECORD}"):
        with contextlib.suppress(OSError, msgspec.DecodeError):  # damaged: it has no time
            record = msgspec.json.decode(file.read_bytes(), type=RunRecord)
            # Of one second, the later one has the higher number after its name.
            found.append((record.started, len(file.parent.name), file.parent))
    if not found:
        raise UsageError(f"there is no run in {RESULTS} yet, so none is the {LATEST}")
    return max(found)[-1]


def reopen(name: str) -> Run:
    """Open a run by its folder, or by the folder's name in results/. Raises UsageError."""
    folder = find(name)
    return Run(folder, read_run(folder).record)


def commit() -> str:
    """The checkout's commit, with `+` where files differ from it; empty without git."""

    def git(*words: str) -> str:
        command = ("git", "-C", str(ROOT), *words)
        return subprocess.run(
            command, capture_output=True, text=True, timeout=30, check=True
        ).stdout

    try:
        dirty = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "HEAD").strip() + ("+" if dirty else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def own_versions() -> dict[str, str]:
    """The versions of the orchestrator's own Python, Ray and pnnx-parity."""
    packages = {name: importlib.metadata.version(name) for name in ("ray", "pnnx-parity")}
    return {"python": platform.python_version()} | packages


def cpu_model() -> str:
    """The processor's name: numbers may differ between two of them, by their instruction sets."""
    return system.processor() or platform.processor() or platform.machine()
