"""`pytest suites --case F_relu --frontend pt2 -n 2`: every trial is a test, in this process.

It shows raw outcomes, for an editor or a debugger: expectations are the orchestrator's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path

import pytest

from suites.registry import ROOT, CaseInfo, RegistryError, discover
from suites.trial import EXPORTS, FRONTENDS, PLAIN, TARGETS, Outcome, Trial, ways

CELL = "here"
"""The name of the environment that pytest itself runs in."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("suites")
    group.addoption("--case", action="append", metavar="NAME", help="default: all")
    group.addoption("--frontend", choices=FRONTENDS, action="append", help="default: both")
    group.addoption("--target", choices=TARGETS, action="append", help="default: those of a case")
    group.addoption("--export", choices=EXPORTS, action="append", help="default: plain")


def pytest_configure(config: pytest.Config) -> None:
    # torch.export writes its structured trace for whoever listens, and pytest listens to all.
    config.pluginmanager.set_blocked("logging-plugin")
    known = [info.name for infos in _by_file().values() for info in infos]
    for name in config.getoption("case") or ():
        if name not in known:
            near = get_close_matches(name, known, 1)
            mend = f"; did you mean {near[0]}?" if near else ""
            raise pytest.UsageError(f"--case {name}: there is no such case{mend}")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".py" and _infos(file_path):
        return CaseFile.from_parent(parent, path=file_path)
    return None


def _infos(path: Path) -> list[CaseInfo]:
    """The cases of a file; none where it is no file of a suite."""
    try:
        return _by_file().get(path, [])
    except RegistryError as error:
        raise pytest.UsageError(str(error)) from None


@cache
def _by_file() -> dict[Path, list[CaseInfo]]:
    """Every case but the self-check's."""
    found = defaultdict(list)
    for info in discover():
        found[ROOT / info.file].append(info)
    return found


def is_chosen(name: str, config: pytest.Config) -> bool:
    """Whether `--case` names a case, whole; `-k` is pytest's own, and takes parts of names."""
    names = config.getoption("case")
    return not names or name in names


class CaseFile(pytest.File):
    """A file of cases: its trials, through the chosen frontends to the chosen targets."""

    def collect(self) -> Iterator[pytest.Item]:
        frontends = self.config.getoption("frontend") or FRONTENDS
        exports = self.config.getoption("export") or [PLAIN]
        targets = self.config.getoption("target") or TARGETS
        for info in _infos(self.path):
            if not is_chosen(info.name, self.config):
                continue
            for frontend, export in ways(frontends, exports):
                for target in (target for target in info.targets if target in targets):
                    trial = Trial(info.name, CELL, frontend, target, export=export)
                    how = [frontend, target] if export == PLAIN else [frontend, export, target]
                    name = f"{info.name}[{'-'.join(how)}]"
                    yield TrialItem.from_parent(self, name=name, trial=trial, info=info)


class TrialItem(pytest.Item):
    """One trial on the CPU. Its diagnostic is the test's failure or the reason of its skip."""

    def __init__(self, *, trial: Trial, info: CaseInfo, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self.trial = trial
        self.info = info

    def runtest(self) -> None:
        from suites.execute import run_trial

        factory = self.session.config._tmp_path_factory
        result = run_trial(self.trial, factory.mktemp(self.trial.case))
        if result.outcome is Outcome.skipped:
            pytest.skip(result.diagnostic)
        if result.outcome is not Outcome.passed:
            pytest.fail(f"{result.outcome} at {result.stage}: {result.diagnostic}", pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.info.line - 1, self.name
