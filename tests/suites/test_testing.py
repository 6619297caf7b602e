"""`check`, as people use it in their own tests."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from suites.testing import Check, Tolerance, Verdict, check
from suites.trial import Stage

DOCS = Path(__file__).parents[2] / "docs" / "testing-your-model.md"


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.norm(self.conv(x)))


class Keywords(nn.Module):
    def forward(self, x, factors, *, shift, scale):
        return x * factors[0] + factors[1] - shift["by"] / scale


class Untrue(nn.Module):
    """Another number at each call, so that what was exported is not what eager gave."""

    def __init__(self, step=1.0):
        super().__init__()
        self.calls, self.step = 0.0, step

    def forward(self, x):
        self.calls += self.step
        return x, [x * self.calls]


class Writing(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.drop = nn.Dropout()

    def forward(self, x):
        x.add_(1)
        return self.drop(x) * self.calls


class Counting(Writing):
    def forward(self, x):
        self.calls.add_(1)
        return x * self.calls


class Refused(nn.Module):
    def forward(self, x):
        return torch.bernoulli(x)


class Branching(nn.Module):
    def forward(self, x):
        return x * 2 if x.sum() > 1 else x * 3


@pytest.mark.parametrize("target", ["pnnx", "ncnn"])
@pytest.mark.parametrize("export", ["plain", "strict", "decomposed"])
def test_a_model_that_converts_passes(target, export):
    result = check(Net(), (torch.randn(1, 3, 8, 8),), target=target, export=export)
    assert result, str(result)
    assert (result.verdict, result.stage, result.why) == (Verdict.passed, None, "")
    assert repr(result) == "<passed>"


@pytest.mark.parametrize("export", ["plain", "strict"])
def test_inputs_are_nested_and_named(export):
    factors = [torch.randn(3), torch.randn(2, 1)]
    kwargs = {"scale": torch.rand(3) + 1, "shift": {"by": torch.randn(2, 3)}}
    result = check(Keywords(), (torch.randn(2, 3), factors), kwargs, export=export)
    assert result, str(result)


class Repeated(nn.Module):
    def forward(self, x, times: int, word: str, others):
        return x[:, :times] * times + others["a"], word


def test_ints_that_stay_dynamic_are_inputs_and_other_constants_are_not():
    given = torch.rand(2, 9), 5, "word", {"n": 3, "a": torch.rand(2, 1)}
    kept = (None, torch.export.Dim.DYNAMIC, None, {"n": None, "a": None})
    assert check(Repeated(), given)
    assert check(Repeated(), given, dynamic_shapes=kept)
    refused = check(Repeated(), given, dynamic_shapes=kept, target="ncnn")
    assert "pnnx_input_1: is a number, and ncnn's inputs are blobs; export it as" in refused.why


class Mixed(nn.Module):
    def forward(self, x):
        made = (x + 1, None, x.shape[0], 2.5, "word", True)
        return {"made": made, "none": None, "x": [x.sum()]}


@pytest.mark.parametrize("target", ["pnnx", "ncnn"])
def test_results_that_are_no_tensors_are_returned_too(target):
    assert check(Mixed(), (torch.rand(2, 3),), target=target)
    attention, x = nn.MultiheadAttention(8, 2, batch_first=True), torch.rand(1, 5, 8)
    assert check(attention, (x, x, x), {"need_weights": False}, target=target)


def test_a_dynamic_program_is_converted_for_the_shapes_of_the_inputs():
    batch = torch.export.Dim("batch")
    result = check(nn.Linear(3, 4), (torch.randn(5, 3),), dynamic_shapes=({0: batch},))
    assert result, str(result)


class Sized(nn.Module):
    def forward(self, pair, *, scale, step=1):
        x, y = pair
        return x.reshape(x.size(0), -1) * scale, y[: y.size(0) // 2 * step]


@pytest.mark.parametrize("export", ["plain", "decomposed"])
def test_other_sizes_stay_dynamic_and_are_compared_too(export, tmp_path):
    inputs = ((torch.randn(4, 3, 2), torch.randn(4, 2)),)
    others = ((torch.randn(7, 3, 2), torch.randn(7, 2)),)
    kwargs = {"scale": torch.rand(6)}
    result = check(Sized(), inputs, kwargs, others=others, export=export, folder=tmp_path)
    assert result, str(result)
    assert "#0=(?,3,2)f32" in (tmp_path / "model.pnnx.param").read_text()


def test_other_sizes_of_any_number_of_arguments():
    class Sum(nn.Module):
        def forward(self, *xs, last):
            return sum(xs) + last

    inputs, others = ([torch.rand(rows, 3)] * 2 for rows in (4, 6))
    assert check(Sum(), inputs, {"last": torch.rand(3)}, others=others)


def test_a_mismatch_at_the_other_sizes_is_found():
    class Untrue(nn.Module):
        def forward(self, x):
            return x * (2 if torch.compiler.is_exporting() else x.size(0) / 2)

    result = check(Untrue(), (torch.ones(4, 3),), others=(torch.ones(6, 3),))
    assert (result.verdict, result.stage) == (Verdict.mismatch, Stage.compare)
    assert "18 of 18 values differ" in result.why
    assert check(Untrue(), (torch.ones(4, 3),))


def test_a_dim_that_the_export_fixes_cannot_have_another_size():
    class Fixed(nn.Module):
        def forward(self, x):
            return x * (2 if x.size(0) == 4 else 3)

    result = check(Fixed(), (torch.ones(4, 3),), others=(torch.ones(6, 3),))
    assert (result.verdict, result.stage) == (Verdict.refused, Stage.export)


def test_whether_the_same_bits_were_asked_for_is_told():
    x = torch.randn(1, 3, 8, 8)
    assert check(nn.ReLU(), (x,)).exact
    assert not check(Net(), (x,)).exact
    assert not check(nn.ReLU(), (x,), target="ncnn").exact
    assert not check(nn.ReLU(), (x,), export="decomposed").exact


def test_a_mismatch_tells_the_first_output_that_differs_and_how_far():
    result = check(Untrue(), (torch.ones(2),))
    assert not result
    assert (result.verdict, result.stage) == (Verdict.mismatch, Stage.compare)
    assert result.why.startswith(
        "output[1][0]: 2 of 2 values differ, at most by 1 (relative 1), at (0,): eager 1, "
        "converted 2; float32 (2,), allowed is 0"
    )
    assert check(Untrue(1e-6), (torch.ones(2),)).verdict is Verdict.mismatch
    loose = Tolerance(rtol=2.0, atol=0.0, reason="the first call counts")
    assert check(Untrue(), (torch.ones(2),), tolerance=loose)


def test_a_refusal_tells_the_operator_and_the_line():
    result = check(Refused(), (torch.rand(3),))
    assert (result.verdict, result.stage) == (Verdict.refused, Stage.convert)
    assert "aten.bernoulli" in result.why
    assert re.search(r"test_testing\.py:\d+ `return torch.bernoulli\(x\)`", result.why)
    assert str(Path(__file__).parent) in str(result)
    assert str(Path(__file__).parent) not in repr(result)


def test_what_torch_refuses_is_told_in_its_words():
    result = check(Branching(), (torch.rand(3),))
    assert (result.verdict, result.stage) == (Verdict.refused, Stage.export)
    assert result.why.startswith("GuardOnDataDependentSymNode: ")


def test_what_only_ncnn_lacks_is_refused_for_ncnn():
    class Double(nn.Module):
        def forward(self, x):
            return x.cumsum(0)

    x = torch.rand(2, 3, 4, dtype=torch.complex64)
    assert check(Double(), (x,))
    assert check(Double(), (x,), target="ncnn").verdict is Verdict.refused


def test_module_and_inputs_are_left_as_they_were():
    module, x = Counting(), torch.zeros(3)
    module.drop.eval()
    check(module, (x,))
    assert module.training
    assert not module.drop.training
    assert module.calls == 0
    assert check(Writing(), (x,))
    assert x.eq(0).all()


def test_files_are_kept_in_a_folder(tmp_path):
    result = check(Net(), (torch.rand(1, 3, 8, 8),), target="ncnn", folder=tmp_path / "kept")
    assert result.files == tuple(sorted((tmp_path / "kept").iterdir()))
    names = {path.name for path in result.files}
    assert names >= {"model.pt2", "model_pnnx.py", "model.ncnn.param", "model_ncnn.py"}
    assert check(Net(), (torch.rand(1, 3, 8, 8),)).files == ()


def test_bad_arguments_are_the_callers():
    with pytest.raises(ValueError, match="target='onnx' is none of pnnx, ncnn"):
        check(Net(), (torch.rand(1, 3, 8, 8),), target="onnx")
    with pytest.raises(ValueError, match="export='loose' is none of plain, strict, decomposed"):
        check(Net(), (torch.rand(1, 3, 8, 8),), export="loose")
    with pytest.raises(RuntimeError, match="expected input"):
        check(Net(), (torch.rand(1, 5, 8, 8),))


MINE = """
import torch
from suites.testing import check

class Refused(torch.nn.Module):
    def forward(self, x):
        return torch.bernoulli(x)

def test_mine():
    assert check(Refused(), (torch.rand(3),))
"""


def test_in_pytest_the_documented_example_passes_and_a_failed_assertion_is_readable(tmp_path):
    example = re.search(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert example is not None
    (tmp_path / "test_example.py").write_text(example[1])
    (tmp_path / "test_mine.py").write_text(MINE)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120).stdout
    assert "1 failed, 3 passed" in told
    (line,) = (line for line in told.splitlines() if line.startswith("E ") and " assert " in line)
    assert "assert <refused at convert: cannot convert " in line
    assert "at test_mine.py:7 `return torch.bernoulli(x)`" in line
    assert "torch.__trace" not in told


def test_a_result_can_be_made_and_compared():
    assert Check(Verdict.passed) == Check(Verdict.passed)
    assert str(Check(Verdict.refused, Stage.export, "no")) == "refused at export: no"
