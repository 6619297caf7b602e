"""Which rules each case's conversion went through: `results/prepush-index.json`, made from runs.

Of a case the newest run counts, for each target and each way to export. The file holds nothing that
the run folders lack: `pnnx-parity history --rebuild` makes it anew.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from orchestrator.files import write_whole
from orchestrator.report.merge import RunFolder
from orchestrator.spelling import command
from suites.trial import Result

FILE = "prepush-index.json"
FORMAT = 1


class Way(msgspec.Struct, frozen=True, order=True):
    """A case to one target, exported in one way."""

    case: str
    target: str
    export: str


class Entry(msgspec.Struct):
    """What a way went through, in the run that was started then."""

    way: Way
    started: datetime.datetime
    rules: tuple[str, ...]


class Index(msgspec.Struct):
    entries: list[Entry] = []
    format: int = FORMAT

    def ways(self) -> dict[str, set[Way]]:
        """Who went through each rule."""
        found: dict[str, set[Way]] = defaultdict(set)
        for entry in self.entries:
            for rule in entry.rules:
                found[rule].add(entry.way)
        return dict(found)

    def joined(self, runs: Iterable[RunFolder]) -> Index:
        """This index with runs more; of each way the newest run counts."""
        newest = {entry.way: entry for entry in self.entries}
        for run in runs:
            for way, rules in _rules(run.results).items():
                entry = Entry(way, run.record.started, rules)
                if way not in newest or newest[way].started <= entry.started:
                    newest[way] = entry
        return Index([entry for _, entry in sorted(newest.items())])


def _rules(results: Iterable[Result]) -> dict[Way, tuple[str, ...]]:
    """By way; in several cells a model may go through other rules."""
    found: dict[Way, set[str]] = defaultdict(set)
    for result in results:
        if result.rules:
            trial = result.trial
            found[Way(trial.case, trial.target, trial.export)].update(result.rules)
    return {way: tuple(sorted(rules)) for way, rules in found.items()}


def read(results: Path, warn: Callable[[str], None]) -> Index:
    """The index of a folder of runs; empty where there is none, or none that can be read."""
    file = results / FILE
    try:
        index = msgspec.json.decode(file.read_bytes(), type=Index)
    except FileNotFoundError:
        return Index()
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        warn(f"{file} is damaged ({error}); make it anew with: {command('history', '--rebuild')}")
        return Index()
    if index.format != FORMAT:
        warn(f"{file} is of another version; make it anew with: {command('history', '--rebuild')}")
        return Index()
    return index


def add(results: Path, runs: Iterable[RunFolder], warn: Callable[[str], None]) -> None:
    """Add runs to the index beside them. Nothing fails for want of it."""
    before = read(results, warn)
    after = before.joined(runs)
    if after == before:
        return
    try:
        write_whole(results / FILE, msgspec.json.encode(after))
    except OSError as error:
        warn(f"{error.filename}: {error.strerror}; going on without the index for pushes")
