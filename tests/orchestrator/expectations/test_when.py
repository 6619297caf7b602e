"""The language of `when`, and what it is compared with."""

from __future__ import annotations

from itertools import product

import pytest
from expectation_tables import CELLS, cell
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.expectations.facts import MARKERS, Facts
from orchestrator.expectations.when import When, WhenError, hold
from orchestrator.record import CellRecord
from suites.trial import Trial

PACKAGES = {"torch", "transformers", "pnnx"}
FACTS = Facts(
    {"torch": "2.13.0+cpu", "transformers": "5.16.1"},
    {"platform": "linux", "mkl": "SSE4_2", "device": "cpu"},
)


def holds(text, facts=FACTS):
    return hold([When.parse(text, PACKAGES)], facts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("always", True),
        ("torch>=2.12,<2.14", True),
        ("torch >= 2.12, < 2.14", True),
        ("Torch==2.13.0", True),  # a local version, as pip takes it
        ("torch==2.13.*", True),
        ("torch~=2.12", True),
        ("torch>2.13", False),
        ("torch!=2.13.0", False),
        ("pnnx>=1", False),  # the cell does not have it
        ("pnnx!=1", False),
        ("platform==linux", True),
        ("platform!=linux", False),
        ("mkl==SSE4_2", True),
        ("mkl != native", True),
        ("device==cuda", False),
        ("export==strict", True),
        ("export==strict and export==plain", False),
        ("torch>=2.12,<2.14 and platform==linux", True),
        ("torch>=2.12,<2.14   and platform==win32", False),
        ("platform!=win32 and platform!=darwin", True),
        ("platform==win32 and platform==linux", False),
    ],
)
def test_one_cell(text, expected):
    assert holds(text) is expected


def test_nightlies_and_odd_versions_are_compared():
    nightly = Facts({"torch": "2.15.0.dev20261101+cpu"})
    assert holds("torch>=2.14", nightly)
    assert not holds("torch>=2.15", nightly)
    assert not holds("torch!=2", Facts({"torch": "built by hand"}))


def test_open_markers_may_be_anything_but_one_thing():
    facts = Facts({"torch": "2.13.0"})
    assert holds("platform==win32", facts)
    assert holds("platform!=win32", facts)
    assert not holds("platform==win32 and platform==linux", facts)
    assert holds("platform==win32 and mkl==AVX2", facts)


def test_facts_of_a_cell_before_and_in_a_run():
    assert Facts.pinned(CELLS["new"]).markers == {"mkl": "native"}
    pinned = Facts.pinned(cell("odd", "torch===2.13.0", "ml_dtypes==0.5"))
    assert pinned.packages == {"torch": "2.13.0", "ml-dtypes": "0.5"}
    record = CellRecord(
        python="3.11.7",
        platform="win32",
        packages={"Torch": "2.13.0+cpu", "ml_dtypes": "0.5.4"},
        env={"MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    )
    assert Facts.found(record) == Facts(
        {"torch": "2.13.0+cpu", "ml-dtypes": "0.5.4"}, {"platform": "win32", "mkl": "AVX2"}
    )
    trial = Trial("F_relu", "a", "pt2", "pnnx", "cuda", "strict")
    known = {"platform": "win32", "mkl": "AVX2", "device": "cuda", "export": "strict"}
    assert Facts.found(record).of(trial).markers == known


WORDS = [
    f"{marker}{operator}{word}"
    for marker in ("platform", "device")
    for operator in ("==", "!=")
    for word in MARKERS[marker]
]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
def test_open_markers_agree_with_trying_every_world(conditions):
    """With all markers open, conditions can hold at once exactly if some choice of words meets
    them, an unnamed platform or device included."""
    text = " and ".join(conditions)
    worlds = product((*MARKERS["platform"], "aix"), (*MARKERS["device"], "xpu"))
    some = any(
        holds(text, Facts({}, {"platform": platform, "device": device, "mkl": "native"}))
        for platform, device in worlds
    )
    assert holds(text, Facts({})) is some


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        when = When.parse(text, PACKAGES)
    except WhenError:
        return
    assert when.packages or when.markers or text.strip() == "always"


@given(
    st.lists(st.sampled_from([">=2.1", "<2.14", "!=2.13.0", "==2.13.*", "~=2.12"]), min_size=1),
    st.sampled_from(["", " "]),
)
def test_spaces_do_not_matter(specifiers, space):
    text = "torch" + space + f"{space},{space}".join(specifiers)
    assert holds(f"  {text} ") is holds(text.replace(" ", ""))
