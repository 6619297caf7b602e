"""Structural parity: the graphs that both frontends made of a case, compared.

A trial keeps what it converted to (`Result.graph`). Comparing two costs about a millisecond.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from orchestrator.report.merge import Newest
from orchestrator.report.model import Share, Structure, Unlike
from orchestrator.report.text import cut, visible
from suites.registry import CaseInfo
from suites.reviewed import Reviewed
from suites.trial import PLAIN, Trial

Reasons = Mapping[str, Sequence[Reviewed]]
"""Why the graphs of a case may differ, by its name."""

INFLATED_MAX = 8 << 20
"""Bytes of a graph that are read, however little its compressed form."""

SHOWN = 400
"""Bytes of a difference's text."""


class Pair(NamedTuple):
    """What both frontends made of a case in a cell, compressed."""

    case: str
    cell: str
    """Its column's label."""
    ts: bytes
    pt2: bytes


def graphs(results: Mapping[tuple[str, Trial], Newest]) -> list[Pair]:
    """The cases of which both frontends kept the graph."""
    found: dict[tuple[str, str], dict[str, bytes]] = defaultdict(dict)
    for (label, trial), (result, _) in results.items():
        if result.graph and trial.export == PLAIN:
            found[trial.case, label][trial.frontend] = result.graph
    return [
        Pair(case, cell, both["ts"], both["pt2"])
        for (case, cell), both in found.items()
        if len(both) == 2
    ]


def structure(pairs: Iterable[Pair], cases: Mapping[str, CaseInfo], reasons: Reasons) -> Structure:
    """Compare pairs, and look up why those that differ may."""
    found = Structure()
    compared = cache(compare)  # most cells write the same
    texts: dict[str, list[str]] = defaultdict(list)
    """The differences of each case, in whichever cell."""
    for pair in pairs:
        differences = compared(pair.case, pair.ts, pair.pt2)
        texts[pair.case] += differences
        suite = cases[pair.case].suite if pair.case in cases else ""
        for share in (found.total, found.suites.setdefault(suite, Share())):
            share.compared += 1
            share.same += not differences
        if differences:
            found.unlike.append(_unlike(pair, suite, differences, reasons.get(pair.case, ())))
    found.unlike.sort(key=lambda each: (not each.unreviewed, each.case, each.cell))
    found.outdated = [
        visible(f"{case}: no longer so: {', '.join(outdated)} ({reason.reason})")
        for case, differences in texts.items()
        for reason in reasons.get(case, ())
        if (outdated := reason.outdated(differences))
    ]
    return found


def _unlike(
    pair: Pair, suite: str, differences: Sequence[str], reasons: Sequence[Reviewed]
) -> Unlike:
    return Unlike(
        case=pair.case,
        suite=suite,
        cell=pair.cell,
        differences=list(map(_shown, differences)),
        reasons=[
            _shown(reason.reason) for reason in reasons if any(map(reason.covers, differences))
        ],
        unreviewed=[
            _shown(text)
            for text in differences
            if not any(reason.covers(text) for reason in reasons)
        ],
    )


def _shown(text: str) -> str:
    return cut(visible(text), SHOWN)


def compare(case: str, ts: bytes, pt2: bytes) -> list[str]:
    """How two graphs differ, a line each; also where one cannot be read."""
    from converter.pnnx.param import ParamError, read_param  # NumPy takes a tenth of a second
    from suites.structure import differences

    try:
        traced, exported = (
            read_param(_inflated(data), f"{case}.{frontend}")
            for frontend, data in (("ts", ts), ("pt2", pt2))
        )
    except (ParamError, ValueError, zlib.error) as error:
        return [f"not compared: {error}"]
    return list(map(str, differences(traced, exported)))


def _inflated(data: bytes) -> str:
    return zlib.decompressobj().decompress(data, INFLATED_MAX).decode()
