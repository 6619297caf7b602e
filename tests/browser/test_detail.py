"""The lists of the page and the detail of a trial."""

from __future__ import annotations

import pytest
from example import GUARD
from playwright.sync_api import expect

TOPK = "#trial=torch214-av/torch_topk/ts/pnnx/cpu"


def test_sections_in_the_order_of_the_questions(visit, busy):
    page = visit(busy)
    titles = page.locator("main h2").all_inner_texts()
    assert titles == [
        "Without a result", "Differences between cells", "Changes since the previous run",
        "Look first", "Failure clusters", "Matrix", "Structural parity", "Slowest trials",
        "Environment",
    ]  # fmt: skip
    links = page.locator("nav a")
    assert links.count() == len(titles)
    for target in links.evaluate_all("links => links.map((link) => link.hash.slice(1))"):
        assert page.locator(f"section#{target}").count() == 1


def test_differences_name_what_tells_the_cells_apart(visit, busy):
    section = visit(busy).locator("#differences")
    expect(section).to_contain_text("failed at export where torch ≥ 2.14.1 in torch214-av")
    expect(section).to_contain_text("skipped at build where transformers ≤ 4.48.3 in torch213-tf4")
    row = section.locator("tr", has_text="torch_topk")
    expect(row).to_contain_text("ts, pt2 → pnnx, ncnn")
    expect(row).to_contain_text(GUARD)
    assert row.locator(".g").all_inner_texts() == ["✓", "✓", "✕"]
    assert section.locator("tbody tr:not(.division)").count() == 2, "rows that do not differ"


def test_changes(visit, busy):
    section = visit(busy).locator("#changes")
    headings = section.locator(".division").all_inner_texts()
    assert headings == [
        "Newly failing 4", "Fixed 3", "New diagnostic 3", "Slower than twice its usual time 1",
        "Flaky 1",
    ]  # fmt: skip
    failing = section.locator("tr", has_text="torch_topk")
    expect(failing).to_have_count(1)
    expect(failing).to_contain_text("passed in 20261102-0600")
    expect(section).to_contain_text("1.3 times their usual time")


def test_charts_of_the_last_runs(visit, busy):
    charts = visit(busy).locator(".trend figure")
    expect(charts).to_have_count(2)
    assert charts.nth(0).locator("circle").count() == 20
    expect(charts.nth(0).locator("figcaption")).to_have_text("89% of the trials passed")
    for box in charts.locator("circle").evaluate_all(
        "dots => dots.map((dot) => [dot.cx.baseVal.value, dot.cy.baseVal.value])"
    ):
        assert 52 <= box[0] <= 420
        assert 10 <= box[1] <= 104


def test_structural_parity(visit, busy):
    section = visit(busy).locator("#structure")
    expect(section).to_contain_text("16 of 18 are the same, 88.8%")
    expect(section.locator("tr", has_text="models")).to_contain_text("100%")
    expect(section.locator("details")).to_have_count(1)
    expect(section.locator("summary")).to_contain_text("in torch213-tf4, torch213-tf5")
    section.locator("summary").click()
    expect(section.locator(".graphs")).to_contain_text("only in ts: pnnx.Expression")


def test_a_failure(visit, busy):
    detail = visit(busy, TOPK).locator("#detail")
    expect(detail.locator("h2")).to_have_text("torch_topk")
    expect(detail).to_contain_text("ts → pnnx in torch214-av")
    expect(detail).to_contain_text("failed at export, and no entry expects it")
    expect(detail.locator("pre").first).to_have_text(f"{GUARD}\n  File topk.py, line 3")
    expect(detail).to_contain_text("20261103-0600/results.jsonl")
    stages = detail.locator(".stages span:not(.bar)").all_inner_texts()
    assert stages == ["build", "10.0 ms", "eager", "20.0 ms", "export (ended here)", "30.0 ms"]
    facts = detail.locator(".run").inner_text().split("\n")
    assert facts[facts.index("torch") + 1] == "2.14.1+cu130"
    expect(detail.locator(".command")).to_have_text(
        "pnnx-parity run --case torch_topk --cell torch214-av --frontend ts --target pnnx "
        "--device cpu"
    )


def test_an_expected_skip(visit, busy):
    page = visit(busy, "#trial=torch213-tf4/transformers_qwen3_attention/ts/pnnx/cpu")
    detail = page.locator("#detail")
    expect(detail).to_contain_text("skipped at build: transformers 4 has no qwen3")
    expect(detail).to_contain_text("suites/expectations/transformers.toml:3")
    expect(detail.locator("a")).to_have_attribute("href", "https://example.org/1")


def test_an_export_of_another_kind(visit, busy):
    page = visit(busy, "#trial=torch213-tf5/F_elu/pt2/pnnx/cpu/decomposed")
    expect(page.locator("#detail .command")).to_contain_text("--export decomposed")


def test_a_case_that_runs_on_request(visit, busy):
    page = visit(busy)
    words = page.evaluate("commandOf({...trials[0], suite: 'selfcheck'})")
    assert words[-1] == "--suite selfcheck"


@pytest.mark.parametrize("has_clipboard", [True, False])
def test_the_command_is_copied(visit, busy, has_clipboard):
    """Also where a page that was opened as a file gets no clipboard."""
    page = visit(busy, TOPK)
    if not has_clipboard:
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Copy the command").click()
    expect(page.get_by_role("button", name="Copy the command")).to_have_text("Copied")
    command = page.inner_text("#detail .command")
    page.keyboard.press("Escape")
    page.locator("[name=q]").focus()
    page.keyboard.press("Control+V")
    assert page.input_value("[name=q]") == command


def test_it_closes_by_button_and_by_a_click_outside(visit, busy):
    page = visit(busy, TOPK)
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#detail")).not_to_be_visible()
    page.locator("#trials td[tabindex]").first.click()
    expect(page.locator("#detail")).to_be_visible()
    page.mouse.click(5, 5)
    expect(page.locator("#detail")).not_to_be_visible()
