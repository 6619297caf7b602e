"""Import every package of a cell in its Python; say what is broken, and the mend."""

from __future__ import annotations

import argparse
import os
import subprocess
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from packaging.requirements import Requirement

from orchestrator import interpreters
from orchestrator.cells import ROOT, Cell
from orchestrator.cluster.connect import own_cpus
from orchestrator.commands.options import Known
from orchestrator.pins import meets, rebuild
from orchestrator.runner.client import START_LIMIT, Runner, RunnerDied
from suites.system.status import ended

TRIO = ("torch", "torchvision", "torchaudio")
"""Packages that are compiled against each other."""


class Finding(NamedTuple):
    """A package as it is in a cell; `version` is empty where it is not installed."""

    version: str
    error: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cell", nargs="+", metavar="CELL")


def main(args: argparse.Namespace) -> int:
    healthy = [_examine(cell) for cell in Known().picked(args.cell)]
    return 0 if all(healthy) else 2


def _examine(cell: Cell) -> bool:
    """Print one line for each package, and one for the runner; tell whether all are well."""
    if not cell.home().exists() and interpreters.find(cell.python) is None:
        print(f"{cell.name}: cannot be built: {interpreters.lack(cell.python)}")
        return False
    print(f"{cell.name}: {cell.python_path()}")
    pins = [Requirement(pin) for pin in cell.pins]
    names = [pin.name for pin in pins]
    with ThreadPoolExecutor(own_cpus()) as pool:
        findings = dict(zip(names, pool.map(lambda name: _import(cell, name), names), strict=True))
    faults = {pin.name: fault(cell, pin, findings) for pin in pins}
    for name, finding in findings.items():
        print(_line(f"{name} {finding.version}".strip(), faults[name]))
    if any(faults.values()):
        return False
    started = time.monotonic()
    broken = _start(cell)
    print(_line(f"runner, after {time.monotonic() - started:.1f} s", broken))
    return not broken


def _line(what: str, fault: str) -> str:
    return f"  broken  {what}: {fault}" if fault else f"  ok      {what}"


def _import(cell: Cell, package: str) -> Finding:
    try:
        done = subprocess.run(
            [cell.python_path(), "-m", "orchestrator.runner.checkup", package],
            cwd=ROOT,
            env=cell.environ(os.environ),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=START_LIMIT,
        )
    except subprocess.TimeoutExpired:
        return Finding("", f"its import took more than {START_LIMIT:g} s")
    version = done.stdout.partition("\n")[0]
    if not done.returncode:
        return Finding(version, "")
    words = [line for line in done.stderr.splitlines() if line.strip()]
    said = words[-1].strip() if words else "nothing"
    how = "" if done.returncode == 1 else f"its import {ended(done.returncode)}; it said: "
    return Finding(version, how + said)


def fault(cell: Cell, pin: Requirement, findings: Mapping[str, Finding]) -> str:
    """Say what is wrong with a pinned package, and the mend; nothing if it is well."""
    version, error = findings[pin.name]
    mend = rebuild(cell)
    if not version:
        return f"not installed ({error}); {mend}"
    if not meets(pin, version):
        return f"the cell pins {pin}; {mend}"
    if not error:
        return ""
    if pin.name in TRIO[1:] and not findings["torch"].error:
        torch = f"torch {findings['torch'].version}"
        return (
            f"{error}; it was not built for {torch}: {', '.join(TRIO)} must come from one index"
            f" as one release (a +cpu torch beside PyPI's {pin.name} breaks it); {mend}"
        )
    return f"{error}; {mend}"


def _start(cell: Cell) -> str:
    """Start a runner as a run does; say what is wrong with it, if anything is."""
    runner = Runner(cell, cell.python_path())
    try:
        runner.ready()
    except RunnerDied as death:
        return str(death)
    finally:
        runner.close()
    return ""
