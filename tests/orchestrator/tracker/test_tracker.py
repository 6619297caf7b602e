"""The parity tracker: what it must say follows from cases and expectations, both ways."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from orchestrator.cells import Cell, CellError, load_cells, reference
from orchestrator.cli import main
from orchestrator.commands import tracker as command
from orchestrator.expectations import Table, load_tables
from orchestrator.tracker import check
from orchestrator.tracker.apis import is_known, public, section
from orchestrator.tracker.document import read, write
from orchestrator.tracker.rows import Row, rows
from suites.apis import proven
from suites.registry import CaseInfo, discover

ENTRY = """\
[[expect]]
case = "{case}"
frontend = "{frontend}"
target = "{target}"
when = "{when}"
outcome = "failed"
stage = "compare"
diagnostic = "Mismatch"
reason = "for a test"
"""


def info(name: str, *, suite: str = "functional", ncnn: bool = True, needs: str = "") -> CaseInfo:
    return CaseInfo(
        name=name,
        suite=suite,
        file=f"{suite}/some.py",
        line=7,
        needs=(needs,) if needs else (),
        targets=("pnnx", "ncnn") if ncnn else ("pnnx",),
        devices=("cpu",),
        limit=60.0,
        proves=proven(name, suite, ()),
    )


def cells() -> dict[str, Cell]:
    pins = ("torch==2.13.0",)
    return {
        name: Cell(name, "", SpecifierSet(), pins, None, {}, Path(f"{name}.toml"), name == "main")
        for name in ("main", "other")
    }


def table(folder: Path, cases: list[CaseInfo], *entries: dict[str, str]) -> Table:
    folder.joinpath("some.toml").write_text(
        "\n".join(ENTRY.format(**({"target": "pnnx", "when": "always"} | each)) for each in entries)
    )
    return load_tables(folder, [case.name for case in cases], cells())


@pytest.mark.parametrize(
    ("case", "suite", "api", "part"),
    [
        ("F_relu", "functional", "torch.nn.functional.relu", "torch.nn.functional"),
        ("nn_Conv2d", "modules", "torch.nn.Conv2d", "torch.nn"),
        ("Tensor_view", "tensor", "torch.Tensor.view", "Tensor"),
        ("torch_fft_rfft", "torch_ops", "torch.fft.rfft", "torch"),
        ("torch_topk", "torch_ops", "torch.topk", "torch"),
        ("transformers_m2m_100_attention", "transformers", "transformers.models.m2m_100",
         "transformers"),
        ("torchaudio_F_spectrogram", "torchaudio", "torchaudio.functional.spectrogram",
         "torchaudio"),
        ("torchaudio_Spectrogram", "torchaudio", "torchaudio.transforms.Spectrogram", "torchaudio"),
        ("torchvision_RoIAlign", "models", "torchvision.ops.RoIAlign", "torchvision"),
        ("resnet18", "models", "torchvision.models.resnet18", "torchvision"),
        ("quantization_shufflenet_v2_x1_0", "models",
         "torchvision.models.quantization.shufflenet_v2_x1_0", "torchvision"),
        ("pnnx_fuse_rmsnorm", "fusion", "pnnx.fuse_rmsnorm", "pnnx"),
    ],
)  # fmt: skip
def test_what_a_name_spells(case: str, suite: str, api: str, part: str) -> None:
    assert proven(case, suite, ()) == (api,)
    assert proven(case, suite, ("torch.abs",)) == ("torch.abs",)
    assert is_known(api)
    assert section(api) == part


def test_a_name_that_spells_nothing() -> None:
    assert proven("ir_complex", "torch_ops", ()) == ()


def test_rows(tmp_path: Path) -> None:
    cases = [
        info("F_relu"),
        info("F_elu"),
        info("nn_GELU", ncnn=False),
        info("torch_abs"),
        info("torch_exp"),
        info("torchvision_RoIAlign", needs="torchvision"),
    ]
    made = rows(
        cases,
        table(
            tmp_path,
            cases,
            {"case": "F_elu", "frontend": "pt2"},
            {"case": "torch_abs", "frontend": "ts", "target": "ncnn"},
            {"case": "torch_exp", "frontend": "ts", "when": "torch<2.13"},
            {"case": "torch_exp", "frontend": "pt2", "when": "platform==win32"},
        ),
        cells(),
    )
    assert {row.api: row.cells for row in made.values()} == {
        "torch.nn.GELU": ("Yes", "Yes", "No"),
        "torch.nn.functional.elu": ("Yes", "No", "Yes"),
        "torch.nn.functional.relu": ("Yes", "Yes", "Yes"),
        "torch.abs": ("Yes", "Yes", "No"),
        "torch.exp": ("Yes", "Yes", "Yes"),
        "torchvision.ops.RoIAlign": ("No", "No", "No"),
    }
    assert (
        "some.toml:1 expects that F_elu is failed" in made["torch.nn.functional.elu"].against["pt2"]
    )


def test_an_api_needs_all_its_cases(tmp_path: Path) -> None:
    cases = [info("Tensor_index"), info("Tensor_slice", ncnn=False)]
    cases = [
        CaseInfo(**{key: getattr(case, key) for key in case.__struct_fields__ if key != "proves"},
                 proves=("torch.Tensor.__getitem__",))
        for case in cases
    ]  # fmt: skip
    (row,) = rows(cases, table(tmp_path, cases), cells()).values()
    assert row.cells == ("Yes", "Yes", "No")
    assert row.against == {"ncnn": "Tensor_slice does not run on ncnn"}


ROWS = {
    row.api: row
    for row in (
        Row("torch.nn.Conv2d", {}),
        Row("torch.nn.functional.relu", {"ncnn": "F_relu does not run on ncnn"}),
        Row("torch.abs", {}),
    )
}
GOOD = write(ROWS.values())
RELU = GOOD.splitlines().index("| torch.nn.functional.relu | Yes | Yes | No |") + 1


def test_what_is_written_is_what_is_read() -> None:
    entries, faults = read(GOOD)
    assert not faults
    assert [entry.api for entry in entries] == list(ROWS)
    assert not check.faults(GOOD, ROWS)


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("relu | Yes | Yes | No", "relu | Yes | Yes | Yes", RELU,
         "ncnn of torch.nn.functional.relu should be No: F_relu does not run on ncnn"),
        ("relu | Yes | Yes", "relu | No | Yes", RELU,
         "ts of torch.nn.functional.relu should be Yes: every case of it runs"),
        ("relu | Yes | Yes | No", "relu | Yes | yes | No", RELU, "pt2 of .* is 'yes'; write Yes"),
        ("relu | Yes | Yes | No", "relu | Yes | Yes", RELU, "is no row of 4 columns"),
        ("functional.relu |", "functional.rely |", RELU,
         "unknown API torch.nn.functional.rely: did you mean torch.nn.functional.relu"),
        ("functional.relu |", "functional.gelu |", RELU, "functional.gelu: no case proves"),
        ("| torch.nn.functional.relu | Yes | Yes | No |\n", "", len(GOOD.splitlines()),
         "no row for torch.nn.functional.relu"),
        ("| torch.nn.functional.relu | Yes | Yes | No |\n",
         "| torch.nn.functional.relu | Yes | Yes | No |\n" * 2, RELU + 1,
         f"torch.nn.functional.relu is also at line {RELU}"),
        ("## torch.nn.functional", "## torch.nn.funktional", RELU - 4,
         "section torch.nn.funktional is none of torch.nn, "),
        ("## torch.nn.functional", "## torch.nn", RELU - 4, "section torch.nn is also at line 11"),
        ("## torch\n\n| API | ts", "## torch\n\n| Api | ts", RELU + 4, r"should be '\| API \| ts"),
    ],
)  # fmt: skip
def test_faults_have_their_lines(old: str, new: str, line: int, says: str) -> None:
    assert old in GOOD
    found = check.faults(GOOD.replace(old, new, 1), ROWS)
    match = [fault for fault in found if fault.line == line]
    assert match, found
    assert any(re.search(says, fault.text) for fault in match), match


def test_rows_in_another_order() -> None:
    lines = write(reversed(list(ROWS.values())))
    (fault,) = check.faults(lines, ROWS)
    assert fault.line == next(
        n for n, line in enumerate(lines.splitlines(), 1) if line[:3] == "## "
    )
    assert fault.text == "'## torch' should be '## torch.nn'"


@pytest.mark.parametrize(
    ("old", "new"), [("relu | Yes |", "relu |Yes |"), ("| torch.nn.functional.relu", "\n\\g<0>")]
)
def test_rows_in_another_form(old: str, new: str) -> None:
    (fault,) = check.faults(re.sub(re.escape(old), new, GOOD, count=1), ROWS)
    assert (fault.line, "should be '| torch.nn.functional.relu" in fault.text) == (RELU, True)


def test_a_file_of_nothing_lacks_every_row() -> None:
    assert {fault.text for fault in check.faults("", ROWS)} == {f"no row for {api}" for api in ROWS}


def test_the_reference_is_one_cell_and_has_what_every_case_needs() -> None:
    real = load_cells()
    cell = reference(real)
    assert not [case.name for case in discover() if cell.lacks(case.needs)]
    none = {name: each for name, each in real.items() if not each.reference}
    with pytest.raises(CellError, match="none of envs/ says `reference = true`"):
        reference(none)
    with pytest.raises(CellError, match="one cell must"):
        reference(cells() | {"main2": cells()["main"]})


def test_every_case_names_apis_that_exist() -> None:
    assert not check.foreign(discover())
    wrong = [info("F_rely"), info("ir_complex", suite="torch_ops")]
    assert check.foreign(wrong)[0].startswith(
        "suites/functional/some.py:7: case F_rely proves torch.nn.functional.rely, which does not"
    )
    assert "case ir_complex names no API; give proves=(...)" in check.foreign(wrong)[1]


def test_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "FILE", tmp_path / "parity-tracker.md")
    assert main(["tracker", "--check"]) == 2
    assert "parity-tracker.md: not readable" in capsys.readouterr().err
    assert main(["tracker", "--write"]) == 0
    assert "torch.nn: " in capsys.readouterr().out
    assert main(["tracker", "--check"]) == 0
    text = command.FILE.read_text().replace("Yes", "No", 3)
    command.FILE.write_text(text)
    capsys.readouterr()
    assert main(["tracker", "--check"]) == 1
    out = capsys.readouterr().out
    assert "parity-tracker.md:" in out
    assert "pnnx-parity tracker --write" in out


def test_coverage_counts_what_torch_offers() -> None:
    offered = [api for api in public() if api.startswith("torch.nn.") and api.count(".") == 2]
    (line, _) = command.coverage(["torch.nn.Conv2d"])
    assert line.startswith(f"torch.nn: 1 of {len(offered)} proven (1%); left: AdaptiveAvgPool1d, ")
    assert "Conv2d, " not in line.replace("LazyConv2d", "")
