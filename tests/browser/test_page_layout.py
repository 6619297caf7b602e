"""How the page fits: small and large, light and dark, on screen and paper, for eyes and readers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

SCREENS = {
    "desktop": {"viewport": {"width": 1400, "height": 900}},
    "desktop at 200%": {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2},
    "phone": {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True},
}

CHECKS = Path(__file__).parent
FAINT = (CHECKS / "contrast.js").read_text(encoding="utf-8")
UNTOLD = (CHECKS / "readers.js").read_text(encoding="utf-8")
TOO_WIDE = (CHECKS / "width.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits(visit, busy, screen, scheme):
    page = visit(busy, color_scheme=scheme, **SCREENS[screen])
    page.locator("details").evaluate_all("all => all.forEach((each) => (each.open = true))")
    assert page.evaluate(TOO_WIDE) == []
    page.evaluate("location.hash = 'trial=torch214-av/torch_topk/ts/pnnx/cpu'")
    expect(page.locator("#detail")).to_be_visible()
    box = page.locator("#detail").bounding_box()
    width = SCREENS[screen]["viewport"]["width"]
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.locator("#detail").evaluate("it => it.scrollWidth <= it.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("section", ["differences", "changes", "structure"])
def test_lists_are_read_on_a_phone_without_scrolling_sideways(visit, busy, section):
    page = visit(busy, **SCREENS["phone"])
    places = page.locator(f"#{section} .scroll")
    assert places.evaluate_all("all => all.map((it) => it.scrollWidth - it.clientWidth)") == [0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(visit, busy, scheme):
    page = visit(busy, color_scheme=scheme)
    page.locator("details").evaluate_all("all => all.forEach((each) => (each.open = true))")
    assert page.evaluate(FAINT) == []
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") is (scheme == "light")
    page.evaluate("location.hash = 'trial=torch214-av/torch_topk/ts/pnnx/cpu'")
    expect(page.locator("#detail")).to_be_visible()
    assert page.evaluate(FAINT) == []


def test_readers_are_told(visit, busy):
    page = visit(busy)
    assert page.evaluate(UNTOLD) == []
    page.evaluate("location.hash = 'trial=torch214-av/torch_topk/ts/pnnx/cpu'")
    expect(page.get_by_role("dialog", name="torch_topk")).to_be_visible()
    assert page.evaluate(UNTOLD) == []


def test_outcomes_and_verdicts_are_told_without_colour(visit, busy):
    page = visit(busy)
    signs = page.locator(".legend .g").all_inner_texts()
    assert signs[:5] == ["✓", "✕", "!", "…", "–"]
    assert len(set(signs[:5])) == 5
    marks = page.locator("#trials .g").evaluate_all(
        "all => all.map((it) => [it.classList[1], getComputedStyle(it).boxShadow,"
        " getComputedStyle(it).outlineStyle, getComputedStyle(it).fontWeight].join())"
    )
    by_verdict = {mark.split(",")[0]: mark.partition(",")[2] for mark in marks}
    assert len(by_verdict) == len(set(by_verdict.values())) == 5


def test_headers_stay_in_sight(visit, large):
    page = visit(large)
    page.locator("#matrix .scroll").evaluate("it => it.scrollTo(300, 3000)")
    inside = page.locator("#matrix .scroll").bounding_box()
    head = page.locator("#trials thead .corner").bounding_box()
    assert abs(head["y"] - inside["y"]) < 3
    assert abs(head["x"] - inside["x"]) < 3
    page.evaluate("scrollTo(0, 5000)")
    assert page.locator("nav").bounding_box()["y"] == 0
    # What the keys move to is not hidden by the headers.
    page.locator("#trials td[tabindex='0']").focus()
    for key in ("PageDown", "PageDown", "j", "PageUp", "PageUp"):
        page.keyboard.press(key)
    cell = page.locator("#trials td:focus").bounding_box()
    head = page.locator("#trials thead").bounding_box()
    assert cell["y"] >= head["y"] + head["height"] - 1
    assert head["y"] >= page.locator("nav").bounding_box()["height"]


def test_on_paper(visit, busy):
    page = visit(busy)
    page.emulate_media(media="print")
    for hidden in ("nav", "#filters", "#detail", ".keys"):
        expect(page.locator(hidden)).not_to_be_visible()
    assert len(page.pdf(prefer_css_page_size=True)) > 10_000


def test_all_rows_are_printed(visit, large):
    page = visit(large)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#trials tbody tr").count() == 398


def test_a_report_of_full_size(visit, large, record_property):
    size = large.stat().st_size
    assert size < 2_000_000
    start = time.monotonic()
    page = visit(large)
    expect(page.locator("#shown")).to_have_text("398 of 398 cases, 9,552 of 9,552 trials")
    opening = time.monotonic() - start
    ready = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    expect(page.locator("#trials tbody tr")).to_have_count(398)  # the rest comes without scrolling
    page.fill("[name=q]", "case_39")
    expect(page.locator("#shown")).to_have_text("8 of 398 cases, 192 of 9,552 trials")
    told = f"{size:,} bytes, opened in {opening:.2f} s, its scripts done after {ready:.0f} ms"
    record_property("a report of full size", told)
