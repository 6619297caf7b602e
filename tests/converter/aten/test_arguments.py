"""Every kind of argument that a program has: dtypes, layouts, devices, lists, strings, None…"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from equality import AS_EXPORTED, check, load
from torch import nn

import converter
from converter.errors import UnsupportedError
from suites.compare import compare, exact

x = torch.rand(2, 3)
image = torch.rand(1, 2, 3, 4)


def test_dtypes_devices_layouts_and_memory_formats() -> None:
    check(
        "x.to(torch.float64)",
        "x.to(dtype=torch.bfloat16)",
        "x.half()",
        "x.to(torch.complex64)",
        "x.to('cpu') + 1",
        "x.to(torch.device('cpu'), torch.float64)",
        "x.sum(dtype=torch.float64)",
        "torch.softmax(x, 1, torch.float64)",
        "image.to(memory_format=torch.channels_last) + 1",
        "image.contiguous(memory_format=torch.channels_last) * 2",
        "image.clone(memory_format=torch.channels_last)",
        "torch.zeros_like(x, memory_format=torch.preserve_format)",
        "torch.zeros(2, 3, dtype=torch.double, layout=torch.strided, device='cpu', "
        "pin_memory=False) + x",
        "torch.arange(3, device=x.device, dtype=x.dtype) + x",
        x=x,
        image=image,
    )


def test_numbers() -> None:
    check(
        "x * (1 + 2j)",
        "torch.full((2,), 1 - 1j)",
        "torch.add(x.to(torch.complex64), x, alpha=2j)",
        "torch.clamp(x, max=float('inf'))",
        "x.masked_fill(x > 0.5, float('-inf'))",
        "x * float('nan')",
        "x.long() + 2**40",
        "x[:, :2] + x.sum().item()",
        "x.view(x.size(0) * x.size(1) // 2, -1) + x.shape[1] + x.numel() + x.dim()",
        "torch.scalar_tensor(3.0, dtype=torch.float64) + x",
        "torch.where(x > 0.5, 1j, x)",
        "x.to(torch.complex64).pow(2j) / (2 - 1j)",
        "torch.where(x > 0.5, 1, x)",
        "torch.where(x > 0.5, 1, 0)",
        "torch.where(x > 0.5, 1.0, 0.0)",
        "torch.arange(5.0, 0.0, -1.5)",
        x=x,
    )


def test_strings_and_lists() -> None:
    check(
        "torch.einsum('ij->ji', x)",
        "F.gelu(x, approximate='tanh')",
        "x.scatter_reduce(1, torch.zeros(2, 3).long(), x, 'amax')",
        "torch.meshgrid(x[0], x[1], indexing='xy')",
        "x.sum((0, 1))",
        "x.sum(dim=[])",
        "x.std(unbiased=False)",
        "torch.block_diag(x, x)",
        "torch.broadcast_tensors(x, x[:1])",
        "F.interpolate(image, scale_factor=(2.0, 1.5))",
        x=x,
        image=image,
        how=AS_EXPORTED,
    )


def test_optional_tensors_and_constants() -> None:
    check(
        "F.layer_norm(x, (3,), None, torch.ones(3))",
        "F.batch_norm(x, torch.zeros(3), torch.ones(3), None, None)",
        "torch.clamp(x, None, torch.tensor(0.5))",
        "x[:, torch.tensor([0, 2])]",
        "x[torch.tensor([0, 1]), torch.tensor([1, 2])]",
        "x[None][:, :, torch.tensor([0])]",
        "x + torch.tensor([1.0, 2.0, 3.0]) * torch.tensor(2) + torch.tensor([[1], [2]])",
        x=x,
    )


def test_several_results_and_none() -> None:
    check(
        "tuple(torch.sort(x))",
        "tuple(torch.topk(x, 2))[1]",
        "torch.var_mean(x, 1)",
        "tuple(torch.aminmax(x, dim=0))",
        "tuple(torch.cummax(x, 0))",
        "tuple(torch.frexp(x))",
        "torch.unique(torch.tensor([1, 1, 2]), return_counts=True)",
        "tuple(torch.linalg.slogdet(x @ x.t()))",
        "(torch._assert_async((x > -1).all()), torch._check(x.shape[0] == 2), x + 1)[-1]",
        "(torch._assert(x.shape[0] == 2, 'two rows'), x + 1)[-1]",
        x=x,
    )


def test_linear_algebra_of_decomposed_programs() -> None:
    """They return by-products, and order their checks as side effects."""
    matrix = torch.rand(3, 3) + 3 * torch.eye(3)
    symmetric = matrix @ matrix.t()
    check(
        "torch.linalg.det(m)",
        "torch.logdet(s)",
        "tuple(torch.linalg.slogdet(m))",
        "tuple(torch.linalg.eigh(s, 'U'))",
        "torch.linalg.eigvalsh(s)",
        "torch.linalg.eigvals(m)",
        "tuple(torch.linalg.svd(b, full_matrices=False))",
        "torch.linalg.svdvals(m)",
        "torch.linalg.solve(m, b)",
        "torch.linalg.solve(m, m, left=False)",
        "tuple(torch.linalg.solve_ex(m, b))",
        "torch.linalg.inv(m) + torch.inverse(s)",
        "torch.linalg.cholesky(s)",
        "tuple(torch.linalg.lu_factor(m))",
        "torch.linalg.matrix_power(m, -2)",
        m=matrix,
        s=symmetric,
        b=torch.rand(3, 2),
    )


class Modes(nn.Module):
    """Under no_grad, enable_grad, inference_mode and a disabled autocast."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            y = x + 1
        with torch.enable_grad():
            z = F.relu(y) * y
        with torch.autocast("cpu", enabled=False):
            z = torch.mm(z, x.t())
        with torch.inference_mode():
            return z - y.sum()


@pytest.mark.parametrize("strict", [False, True])
def test_modes_have_no_part_in_inference(strict: bool, tmp_path: Path) -> None:
    torch.export.save(torch.export.export(Modes(), (x,), strict=strict), tmp_path / "m.pt2")
    converter.convert(tmp_path / "m.pt2", ncnn=False)
    compare(Modes()(x), load(tmp_path / "m_pnnx.py")(x), exact)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


class Wrappers(nn.Module):
    """What decides how gradients are made, or compiles a part, computes the same."""

    def __init__(self) -> None:
        super().__init__()
        self.part = torch.compile(nn.Linear(3, 3))

    def forward(self, x: torch.Tensor) -> Any:
        again = torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False)
        region = torch.compiler.nested_compile_region(lambda x: x.cos())
        return Doubled.apply(again), self.part(x), region(x) + region(x + 1)


@pytest.mark.parametrize("decomposed", [False, True])
def test_wrappers_have_no_part_in_inference(decomposed: bool, tmp_path: Path) -> None:
    model = Wrappers().eval()
    with torch.no_grad():
        program = torch.export.export(model, (x,))
        if decomposed:
            program = program.run_decompositions()
        torch.export.save(program, tmp_path / "m.pt2")
        converter.convert(tmp_path / "m.pt2", ncnn=False)
        compare(program.module()(x), load(tmp_path / "m_pnnx.py")(x), exact)


class Constants(nn.Module):
    """Constants of every kind that a model is called with, and returns."""

    def forward(
        self, x: torch.Tensor, n: int, f: float, flag: bool, mode: str, none: None, *, bias: Any
    ) -> dict[str, Any]:
        y = torch.div(x, f, rounding_mode=mode) * n if flag and bias is None else x
        return {"y": (y, [x, none], ()), "n": n, "f": f, "flag": flag, "mode": mode, "rows": len(x)}


@pytest.mark.parametrize("strict", [False, True])
def test_constants_that_a_model_is_called_with(strict: bool, tmp_path: Path) -> None:
    given = (x, 2, 1.5, True, "floor", None)
    program = torch.export.export(Constants(), given, {"bias": None}, strict=strict)
    torch.export.save(program, tmp_path / "m.pt2")
    converter.convert(tmp_path / "m.pt2", ncnn=False)
    compare(Constants()(*given, bias=None), load(tmp_path / "m_pnnx.py")(x), exact)


class Holder(nn.Module):
    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("held", tensor)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x + 1, self.held


@pytest.mark.parametrize(
    "dtype",
    ["uint16", "uint32", "uint64", "complex32", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"],
)
def test_stored_dtypes_that_pnnx_lacks_are_named(dtype: str, tmp_path: Path) -> None:
    held = torch.zeros(2).to(getattr(torch, dtype))
    torch.export.save(torch.export.export(Holder(held), (x,)), tmp_path / "m.pt2")
    with pytest.raises(
        UnsupportedError, match=rf"`b_held` has the dtype {dtype}, which pnnx lacks"
    ):
        converter.convert(tmp_path / "m.pt2", ncnn=False)
