"""The matrix: filters, search, what stands in the address, and keys."""

from __future__ import annotations

import re

import pytest
from example import written
from playwright.sync_api import Page, expect
from synthetic import passed, report_of, write_run

TOPK = "torch214-av/torch_topk/ts/pnnx/cpu"


def shown(page: Page) -> tuple[list[str], str]:
    """The cases of the matrix, and what it says of itself."""
    return page.locator("#trials tbody th").all_inner_texts(), page.inner_text("#shown")


def focused(page: Page) -> str:
    return page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.name")


def test_everything_is_shown_at_first(visit, busy):
    cases, said = shown(visit(busy))
    assert cases == [
        "F_elu", "F_mish", "F_relu", "nn_GRU", "torch_topk", "transformers_qwen3_attention",
    ]  # fmt: skip
    assert said == "6 of 6 cases, 74 of 74 trials"


@pytest.mark.parametrize(
    ("field", "value", "cases", "trials"),
    [
        ("verdict", "unexpected", ["nn_GRU", "torch_topk"], 10),
        ("verdict", "stale", ["F_relu"], 3),
        ("outcome", "crashed", ["nn_GRU"], 6),
        ("outcome", "skipped", ["transformers_qwen3_attention"], 4),
        ("suite", "modules", ["nn_GRU"], 12),
        ("cell", "torch214-av", None, 24),
        ("frontend", "ts", None, 36),
        ("target", "ncnn", None, 36),
        ("export", "decomposed", ["F_elu"], 1),
    ],
)
def test_filters(visit, busy, field, value, cases, trials):
    page = visit(busy)
    page.select_option(f"[name={field}]", value)
    expect(page.locator("#shown")).to_contain_text(f" {trials} of 74 trials")
    assert cases is None or shown(page)[0] == cases
    assert page.evaluate("location.hash") == f"#{field}={value}"


def test_filters_narrow_each_other_and_are_cleared(visit, busy):
    page = visit(busy)
    page.select_option("[name=verdict]", "unexpected")
    page.select_option("[name=cell]", "torch213-tf5")
    expect(page.locator("#shown")).to_have_text("1 of 6 cases, 2 of 74 trials")
    page.click("button[type=reset]")
    expect(page.locator("#shown")).to_have_text("6 of 6 cases, 74 of 74 trials")
    page.select_option("[name=outcome]", "crashed")
    page.select_option("[name=verdict]", "ok")
    expect(page.locator("#shown")).to_contain_text("nothing matches these filters")


def test_a_tile_filters(visit, busy):
    page = visit(busy)
    page.click(".tile.expected")
    expect(page.locator("#shown")).to_have_text("1 of 6 cases, 4 of 74 trials")
    expect(page.locator("[name=verdict]")).to_have_value("expected")


def test_a_tile_of_nothing_leads_nowhere(visit, tmp_path):
    good = report_of(write_run(tmp_path / "run", [passed("F_relu")]))
    tiles = visit(written(good, tmp_path / "out")).locator(".tiles li")
    expect(tiles).to_have_text(["0 unexpected", "0 stale", "0 expected", "1 ok"])
    assert [tile.locator("a").count() for tile in tiles.all()] == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("text", "cases"),
    [
        ("RELU", ["F_relu"]),
        ("data-dependent", ["torch_topk"]),
        ("Eq(u0, 1)", ["torch_topk"]),
        ("no such text", []),
    ],
)
def test_search_in_names_and_diagnostics(visit, busy, text, cases):
    page = visit(busy)
    page.fill("[name=q]", text)
    expect(page.locator("#shown")).to_contain_text(f"{len(cases)} of 6 cases")
    assert shown(page)[0] == cases


def test_what_else_stands_in_a_row_is_dimmed(visit, busy):
    page = visit(busy, "#outcome=crashed")
    expect(page.locator("#trials td:not(.dim)[tabindex]")).to_have_count(6)
    expect(page.locator("#trials td.dim")).to_have_count(6)


def test_an_address_shows_the_same_again(visit, busy):
    page = visit(busy)
    page.fill("[name=q]", "o")
    page.select_option("[name=cell]", "torch214-av")
    expect(page.locator("#shown")).to_contain_text("2 of 6 cases, 8 of")
    page.locator("#trials td[tabindex]").first.click()
    expect(page.locator("#detail")).to_be_visible()
    address = page.evaluate("location.hash")
    other = visit(busy, address)
    expect(other.locator("#detail-title")).to_have_text(page.inner_text("#detail-title"))
    assert shown(other) == shown(page)
    assert other.input_value("[name=q]") == "o"
    assert other.input_value("[name=cell]") == "torch214-av"


def test_an_address_of_a_trial_alone(visit, busy):
    page = visit(busy, f"#trial={TOPK}")
    expect(page.locator("#detail-title")).to_have_text("torch_topk")
    page = visit(busy, "#trial=torch213-tf5/F_elu/pt2/pnnx/cpu/decomposed")
    expect(page.locator("#detail .where").first).to_have_text(
        "pt2 decomposed → pnnx in torch213-tf5"
    )


def test_an_address_of_no_trial_says_so(visit, busy):
    page = visit(busy, "#trial=torch214-av/F_gone/ts/pnnx/cpu")
    expect(page.locator("#shown")).to_contain_text("This report has no trial torch214-av/F_gone/")
    expect(page.locator("#detail")).not_to_be_visible()


def test_a_trial_without_a_result(visit, busy):
    page = visit(busy, "#verdict=missing")
    assert shown(page) == (["F_mish"], "1 of 6 cases, 1 of 74 trials")
    gap = page.locator("#trials td:not(.dim)[tabindex]")
    expect(gap).to_have_text("?")
    gap.click()
    expect(page.locator("#detail")).to_contain_text("pnnx-parity run --resume 20261103-0600")
    expect(page.locator("#detail .command")).to_contain_text("--device cuda")


def test_the_way_back(visit, busy):
    page = visit(busy)
    page.locator("#attention a.trial").first.click()
    expect(page.locator("#detail")).to_be_visible()
    page.go_back()
    expect(page.locator("#detail")).not_to_be_visible()
    page.go_forward()
    expect(page.locator("#detail")).to_be_visible()


def test_keys_in_the_matrix(visit, busy):
    page = visit(busy)
    page.keyboard.press("/")
    assert focused(page) == "q"
    page.keyboard.type("topk")
    expect(page.locator("#shown")).to_contain_text("1 of 6 cases")
    page.keyboard.press("Escape")
    expect(page.locator("#shown")).to_contain_text("6 of 6 cases")
    page.keyboard.press("Escape")
    assert focused(page) != "q"
    page.keyboard.press("j")
    assert focused(page).startswith("F_elu, torch213-tf4, ts → pnnx")
    for key, wanted in [
        ("j", "F_mish, torch213-tf4, ts → pnnx"),
        ("ArrowDown", "F_relu, torch213-tf4, ts → pnnx"),
        ("ArrowRight", "F_relu, torch213-tf4, ts → ncnn"),
        ("End", "F_relu, torch214-av, pt2 → ncnn"),
        ("k", "F_mish, torch214-av, pt2 → ncnn"),
        ("PageUp", "F_elu, torch214-av, pt2 → ncnn"),
        ("ArrowUp", "F_elu, torch214-av, pt2 → ncnn"),
        ("Home", "F_elu, torch213-tf4, ts → pnnx"),
        ("ArrowLeft", "F_elu, torch213-tf4, ts → pnnx"),
        ("PageDown", "transformers_qwen3_attention, torch213-tf4, ts → pnnx"),
    ]:
        page.keyboard.press(key)
        assert focused(page).startswith(wanted), key
    assert page.locator("#trials td[tabindex='0']").count() == 1, "more than one stop for Tab"


def test_keys_pass_over_what_was_not_run(visit, busy):
    page = visit(busy)
    page.locator("#trials td[aria-label^='F_elu, torch213-tf5, pt2 decomposed']").focus()
    page.keyboard.press("ArrowDown")
    assert focused(page).startswith("F_elu, torch213-tf5, pt2 decomposed")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert focused(page).startswith("F_mish, torch214-av")


def test_keys_in_the_detail(visit, busy):
    page = visit(busy, "#outcome=crashed")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    # The first of the row was dimmed: the filters let others through.
    expect(page.locator("#detail-title")).to_have_text("nn_GRU")
    page.keyboard.press("Escape")
    expect(page.locator("#detail")).not_to_be_visible()
    assert focused(page).startswith("nn_GRU, torch213-tf4, ts → pnnx")
    page.locator("#trials td:not(.dim)[tabindex]").first.focus()
    page.keyboard.press("Enter")
    place = page.locator("#detail .where").first
    expect(place).to_have_text("pt2 → pnnx in torch213-tf4")
    page.keyboard.press("j")
    expect(place).to_have_text("pt2 → pnnx in torch213-tf5")
    assert "trial=torch213-tf5" in page.evaluate("location.hash")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("k")
    page.keyboard.press("Escape")
    cell = page.locator("#trials td:focus")
    expect(cell).to_have_attribute("aria-label", re.compile("^nn_GRU, torch213-tf5, pt2 → pnnx"))
    assert page.evaluate("location.hash") == "#outcome=crashed"


def test_focus_is_seen(visit, busy):
    page = visit(busy)
    stops = []
    for _ in range(60):
        page.keyboard.press("Tab")
        outline, name = page.evaluate(
            "[getComputedStyle(document.activeElement).outlineStyle,"
            " document.activeElement.outerHTML.slice(0, 80)]"
        )
        if name.startswith("<body"):
            break
        assert outline != "none", name
        stops.append(name)
    assert len(stops) > 20
    assert stops[0].startswith('<a class="skip"')
