"""Text that would like to be more than text, wherever a report shows what it does not know."""

from __future__ import annotations

import re

import pytest
from example import written
from playwright.sync_api import expect
from synthetic import cell, failed, passed, report_of, write_run

ATTACKS = {
    "script": "<script>window.pwned = 1</script>",
    "end": "</script></style></pre><script>window.pwned = 1</script>",
    "comment": "<!-- <script> window.pwned = 1 //",
    "handler": "<img src=x onerror='window.pwned = 1'><svg onload='window.pwned = 1'>",
    "template": "{{ 7 * 7 }} {% raw %} ${window.pwned = 1} &lt;b&gt;",
    "quotes": "\" onfocus='window.pwned=1' autofocus x='\\u0022",
    "lines": "one\u2028two\u2029three\r\nfour",
    "control": "\x00\x07\x1b[31mred\x1b[0m\x1b]0;title\x07\x7f\x9b",
    "order": "safe \u202egnp.exe\u2066 \u200f right",
    "arabic": "خطأ: שגיאה in F_relu (1, 2)",
}
LONG = "x" * 500_000 + " middle " + "y" * 500_000


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    results = [failed(f"case_{name}", diagnostic=text) for name, text in ATTACKS.items()]
    results += [failed("case_long", diagnostic=LONG), passed("case_fine", "b")]
    results += [failed("case_script", "b", diagnostic=ATTACKS["end"])]
    everywhere = "".join(ATTACKS.values())
    cells = {
        "a": cell(packages={everywhere: everywhere}, env={"OMP_X": everywhere}),
        "b": cell("2.14.1"),
    }
    run = write_run(folder / "runs" / "<b onclick=x>run", results, cells=cells)
    (folder / "runs" / "damaged<script>window.pwned=1<").mkdir()
    report = report_of(run, folder / "runs" / "damaged<script>window.pwned=1<")
    return written(report, folder / "out")


def opened(visit, page, name):
    page = visit(page, f"#trial=a/case_{name}/pt2/pnnx/cpu")
    expect(page.locator("#detail")).to_be_visible()
    return page, page.locator("#detail pre").first.text_content()


@pytest.mark.parametrize("name", ["script", "end", "comment", "handler", "template", "quotes"])
def test_markup_is_shown_as_text_and_does_nothing(visit, hostile, name):
    page, text = opened(visit, hostile, name)
    assert text == ATTACKS[name]
    assert page.evaluate("window.pwned") is None
    assert page.locator("script").count() == 2
    assert page.locator("main img, dialog img, main svg, main b[onclick]").count() == 0
    expect(page.locator("#attention")).to_contain_text(ATTACKS[name].split("\n")[0])


def test_lines_and_control_characters_are_made_visible(visit, hostile):
    assert opened(visit, hostile, "lines")[1] == "one\\u2028two\\u2029three\nfour"
    page, text = opened(visit, hostile, "control")
    assert text == "\\x00\\x07red\\x1b]0;title\\x07\\x7f\\x9b"
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", page.locator("body").text_content())


def test_marks_that_reorder_text_are_made_visible(visit, hostile):
    page, text = opened(visit, hostile, "order")
    assert text == "safe \\u202egnp.exe\\u2066 \\u200f right"
    whole = page.locator("body").text_content()
    assert not re.search("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", whole)


def test_text_that_runs_from_right_to_left_stays_where_it_is(visit, hostile):
    page, text = opened(visit, hostile, "arabic")
    assert text == ATTACKS["arabic"]
    for place in page.locator("pre, .text").all():
        assert place.evaluate("it => getComputedStyle(it).unicodeBidi") == "plaintext"


def test_a_megabyte_is_cut_and_says_where_the_rest_is(visit, hostile):
    page, text = opened(visit, hostile, "long")
    assert len(text) < 4200
    assert text.startswith("x" * 3000)
    assert text.endswith("y" * 1000)
    assert "the middle is left out, whole in results.jsonl" in text
    expect(page.locator("#detail")).to_contain_text("<b onclick=x>run/results.jsonl")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_search_finds_it_and_the_address_keeps_it(visit, hostile):
    page = visit(hostile)
    page.fill("[name=q]", ATTACKS["end"])
    expect(page.locator("#shown")).to_have_text(re.compile("^2 of"))
    again = visit(hostile, page.evaluate("location.hash"))
    assert again.input_value("[name=q]") == ATTACKS["end"]
    assert again.evaluate("window.pwned") is None


def test_an_address_is_no_more_than_text(visit, hostile):
    page = visit(hostile, "#trial=<img src=x onerror=window.pwned=1>&q=<script>&cell=<b>")
    expect(page.locator("#shown")).to_contain_text("no trial <img src=x")
    assert page.evaluate("window.pwned") is None
