"""Untrusted text: visible, cut, and grouped by kind."""

from __future__ import annotations

from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.report.model import Missing
from orchestrator.report.text import cut, first_line, gist, pattern, visible, visible_all

anything = st.text(st.characters(codec=None), max_size=60)


@given(anything)
def test_visible_text_is_legal_xml_and_stays_as_it_is(text):
    shown = visible(text)
    assert visible(shown) == shown
    xml = ElementTree.Element("a")
    xml.text = shown
    assert ElementTree.fromstring(ElementTree.tostring(xml, encoding="utf-8")).text == (
        shown or None
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc é 中 שלום", "a\tb\nc é 中 שלום"),
        ("a\r\nb", "a\nb"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("bell\x07 \x9b \x1b]0;title", r"bell\x07 \x9b \x1b]0;title"),
        ("\u202efdp.exe\u200f\u2066", r"\u202efdp.exe\u200f\u2066"),
        ("lone \ud800, tag \U000e0041", r"lone \ud800, tag \U000e0041"),
    ],
)
def test_what_is_written_out(text, shown):
    assert visible(text) == shown


def test_visible_all_reaches_into_structs():
    missing = Missing("run\x00\n::error::", "a", "b", "c", "d", "e")
    assert visible_all([missing]) == [msgspec.structs.replace(missing, run=r"run\x00\n::error::")]


@given(st.text(max_size=300), st.integers(min_value=40, max_value=200))
def test_cut_keeps_the_beginning_and_the_end(text, limit):
    short = cut(text, limit)
    if len(text.encode()) <= limit:
        assert short == text
        return
    assert len(short.encode()) <= limit + 80
    start, _, rest = short.partition("\n… ")
    assert text.startswith(start)
    assert text.endswith(rest.rpartition("…\n")[2])


def test_cut_says_where_the_whole_is():
    once = cut("x" * 1_000_000)
    assert "the middle is left out, whole in results.jsonl" in once
    assert cut(once, 1000) == cut("x" * 1_000_000, 1000)  # so nothing that it says can be wrong


def test_first_line():
    assert first_line("\n  \n one \n two") == "one"
    assert first_line("") == ""
    assert first_line("x" * 500, 10) == "x" * 9 + "…"


def test_gist_tells_more_than_an_error_s_name():
    assert gist("RuntimeError:\n\n  no such thing\nmore") == "RuntimeError: no such thing"
    assert gist("one\ntwo") == "one"
    assert gist("RuntimeError:") == "RuntimeError:"
    assert gist("") == ""
    assert pattern("RuntimeError:\nno 7 things", "F_x") == "RuntimeError: no N things"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "Unsupported: aten.foo is not converted, at /a/b.py:12 `return x` (in L.conv); mend",
            "Unsupported: aten.foo is not converted, at /c/d.py:340 `return y`; mend",
        ),
        (
            "Mismatch: output 0: 3 of 24 values differ, at most by 1.2e-05, at (0, 1), of (2, 12)",
            "Mismatch: output 1: 24 of 240 values differ, at most by 0.25, at (3, 7), of (1, 240)",
        ),
        ("it wrote /tmp/x1/CASE/model.param", "it wrote /var/y2/z/model.param"),
        (r"no file C:\temp\model.pt", "no file /tmp/model.pt"),
        ("object at 0x7f00aa", "object at 0x55e1"),
        ("two lines\nfirst", "two lines\nsecond"),
    ],
)
def test_alike(first, second):
    assert pattern(first, "F_relu") == pattern(second, "F_relu")


def test_names_of_cases_are_alike_and_names_of_operators_are_not():
    assert pattern("F_relu_pnnx.py fails", "F_relu") == pattern("F_elu_pnnx.py fails", "F_elu")
    assert pattern("no F.conv2d", "a") != pattern("no F.conv3d", "a")
    assert pattern("needs torch", "a") != pattern("needs numpy", "a")


@given(anything)
def test_a_pattern_is_one_line(text):
    assert "\n" not in pattern(visible(text), "F_relu")
