"""Reductions and scans: dims, keepdim, dtypes, what is returned."""

from __future__ import annotations

from pathlib import Path

import torch
from equality import Program, check, words

import converter

torch.manual_seed(0)
x = torch.randn(2, 3, 4)
ints = torch.randint(-5, 6, (2, 3, 4))
small = ints.int()
mask = x > 0
half = torch.randn(2, 3, 4).half()
wave = torch.complex(x, x.flip(0))
holes = torch.where(x > 1, torch.nan, x)
point = torch.tensor(1.5)
empty = torch.zeros(0, 3)


def test_sums_means_products() -> None:
    dims = ("", "1", "-1", "(0, 2)", "1, keepdim=True", "(0, -1), keepdim=True", "()")
    check(
        *[f"x.{name}({dim})" for name in ("sum", "mean", "nansum", "nanmean") for dim in dims],
        "x.prod(), x.prod(1), x.prod(-1, keepdim=True), x.sum((0, 1, 2)), x.mean(None, True)",
        "x.sum(dtype=torch.double), x.sum(1, dtype=torch.half), x.mean(1, dtype=torch.double)",
        "ints.sum(), ints.sum(1), small.sum(), small.sum(dtype=torch.int)",
        "small.sum(1, dtype=torch.int8)",
        "mask.sum(), mask.sum(0, dtype=torch.int), mask.sum(0, dtype=torch.float)",
        "mask.float().mean()",
        "ints.prod(), small.prod(0), small.prod(0, dtype=torch.int), mask.prod(1)",
        "x.prod(dtype=torch.double)",
        "ints.sum(1, dtype=torch.float), x.sum(1, dtype=torch.int)",
        "ints.mean(1, dtype=torch.float)",
        "half.sum(), half.sum(1), half.mean(), half.sum(dtype=torch.float), half.prod(1)",
        "wave.sum(), wave.mean(1), wave.prod(2), holes.nansum(1), holes.nanmean()",
        "holes.nanmean(1)",
        "holes.sum(), holes.mean(0), point.sum(), point.mean(), empty.sum(), empty.sum(0)",
        "empty.mean(1)",
        "point.sum(0), point.sum(-1, keepdim=True), torch.nansum(small, 1), torch.sum(x, 1, True)",
        x=x,
        ints=ints,
        small=small,
        mask=mask,
        half=half,
        wave=wave,
        holes=holes,
        point=point,
        empty=empty,
    )


def test_deviations() -> None:
    calls = (
        "x",
        "x, 1",
        "x, (0, -1)",
        "x, 1, keepdim=True",
        "x, unbiased=False",
        "x, None, keepdim=True",
    )
    more = (
        "x, 1, unbiased=False",
        "x, 1, correction=0",
        "x, (0, 1), correction=2",
        "x, correction=3",
    )
    check(
        *[f"torch.{name}({call})" for name in words("std var std_mean var_mean") for call in calls],
        *[f"torch.{name}({call})" for name in words("std var std_mean var_mean") for call in more],
        "half.std(1), half.var(), wave.var(1), x.std(dim=1, correction=0.5)",
        x=x,
        half=half,
        wave=wave,
    )


def test_norms() -> None:
    check(
        "x.norm(), x.norm(1), x.norm(2, 1), x.norm(3, (0, 2), keepdim=True)",
        "x.norm(dtype=torch.double)",
        "x.norm('fro'), x.norm(dim=1), x.norm('fro', dim=(0, 1)), x.norm(float('inf')), x.norm(0)",
        "x.norm(-float('inf'), 1), x.norm(0.5, 1), x.norm(2, 1, dtype=torch.double)",
        "half.norm(2, 1)",
        "torch.norm(x), torch.norm(x, p=1, dim=-1), torch.norm(wave), torch.norm(wave, dim=1)",
        "torch.linalg.vector_norm(x), torch.linalg.vector_norm(x, 3, dim=(0, 1), keepdim=True)",
        "torch.linalg.vector_norm(half, dtype=torch.float), torch.linalg.vector_norm(x, dim=())",
        "torch.linalg.norm(x[0]), torch.linalg.norm(x, dim=1), torch.linalg.norm(x[0], 'fro')",
        "torch.linalg.norm(x[0], 1), torch.linalg.norm(x, 2.5, dim=1, keepdim=True)",
        "torch.linalg.matrix_norm(x), torch.linalg.matrix_norm(x, 'fro', dim=(0, 1), keepdim=True)",
        "torch.linalg.matrix_norm(x, 1)",
        "torch.linalg.matrix_norm(x, float('inf'), dtype=torch.double)",
        "torch.frobenius_norm(x, (0, 1)), torch.dist(x, x * 2), torch.dist(x, x * 2, p=1)",
        "torch.renorm(x, 2, 1, 0.5), torch.renorm(x, p=1, dim=0, maxnorm=3)",
        x=x,
        half=half,
        wave=wave,
    )


def test_extremes() -> None:
    check(
        *[
            f"{tensor}.{name}({dim})"
            for tensor in ("x", "ints")
            for name in words("max min amax amin argmax argmin any all median aminmax")
            for dim in ("", "dim=1", "dim=-1, keepdim=True")
        ],
        "x.amax((0, 2)), x.amin((0, -1), keepdim=True), x.amax(()), mask.any((0, 1))",
        "mask.all((0, 2), True)",
        "torch.max(x, 1).values, torch.max(x, 1).indices, torch.min(x, 0)[0], holes.max()",
        "holes.amax(1)",
        "torch.any(mask), torch.all(mask, 1), torch.any(x), torch.all(ints), half.amax(1)",
        "half.argmax(1)",
        "holes.nanmedian(), holes.nanmedian(1), holes.nanmedian(1, keepdim=True), point.argmax()",
        "point.max()",
        "x.logsumexp(1), x.logsumexp((0, 2), keepdim=True), torch.special.logsumexp(x, -1)",
        "x.kthvalue(2), x.kthvalue(2, 1, keepdim=True), ints.mode(), ints.mode(1, keepdim=True)",
        "ints.count_nonzero(), ints.count_nonzero(1), ints.count_nonzero((0, 2))",
        "mask.count_nonzero(0)",
        "x.quantile(0.3), x.quantile(0.3, 1), x.quantile(x[0, 0, :2].sigmoid(), 1, keepdim=True)",
        "x.quantile(0.3, 1, interpolation='nearest'), holes.nanquantile(0.5, 1)",
        "holes.nanquantile(0.5)",
        "x.histc(5, -1, 1), torch.bincount(ints.flatten() + 5)",
        "torch.bincount(ints.flatten() + 5, minlength=20)",
        x=x,
        ints=ints,
        mask=mask,
        holes=holes,
        half=half,
        point=point,
    )


def test_orders() -> None:
    check(
        "x.sort(), x.sort(1), x.sort(1, descending=True), x.sort(stable=True, dim=0)",
        "ints.sort(stable=True)",
        "x.argsort(), x.argsort(1, descending=True), x.argsort(stable=True, dim=1), x.msort()",
        "x.topk(2), x.topk(2, 1), x.topk(1, -2, largest=False), x.topk(3, dim=-1, sorted=True)",
        x=x,
        ints=ints,
    )


def test_scans() -> None:
    check(
        *[
            f"x.{name}({dim})"
            for name in words("cumsum cumprod cummax cummin logcumsumexp")
            for dim in "012"
        ],
        "x.cumsum(-1, dtype=torch.double), ints.cumsum(1), small.cumsum(1)",
        "small.cumsum(1, dtype=torch.int)",
        "mask.cumsum(1), mask.cumprod(1, dtype=torch.float), half.cumsum(1)",
        "half.cumsum(1, dtype=torch.float)",
        "small.cumprod(-1), small.cumprod(1, dtype=torch.int8), wave.cumsum(1), point.cumsum(0)",
        "x.diff(), x.diff(2, 1), torch.diff(x, prepend=x[..., :1], append=x[..., :2])",
        "torch.gradient(x), torch.gradient(x, spacing=2.5), torch.gradient(x, dim=(1, 2))",
        "torch.gradient(x, spacing=2, dim=1), torch.gradient(x, spacing=0.5, dim=(0, -1))[1]",
        "torch.gradient(x, spacing=(0.5, 2.0, 3.0)), torch.gradient(x, spacing=[2.0], dim=1)",
        "torch.gradient(x, spacing=(0.5, 1.5), dim=(2, 1), edge_order=2)",
        "torch.trapezoid(x), torch.trapezoid(x, dx=0.5, dim=1), torch.trapezoid(x, x, dim=0)",
        "torch.trapz(x)",
        "torch.cumulative_trapezoid(x), torch.cumulative_trapezoid(x, x, dim=1)",
        x=x,
        ints=ints,
        small=small,
        mask=mask,
        half=half,
        wave=wave,
        point=point,
    )


def test_sizes_that_depend_on_values() -> None:
    check(
        "torch.where(mask), x.nonzero(as_tuple=True), torch.where(mask[0, 0])[0]",
        "torch.nonzero(mask), torch.argwhere(mask), x[mask], torch.masked_select(x, mask)",
        "x[mask].sum(), torch.masked_select(x, mask).reshape(-1, 1) * 2, (x[mask] * 2).flatten()",
        "torch.unique(ints), torch.unique(ints, return_inverse=True)",
        "torch.unique(ints, return_counts=True)",
        "torch.unique(ints, return_inverse=True, return_counts=True), torch.unique(small, dim=1)",
        "torch.unique(small, dim=0, return_inverse=True), torch.unique_consecutive(ints)",
        "torch.unique_consecutive(ints, return_counts=True)",
        "torch.unique_consecutive(ints, return_inverse=True, dim=1)",
        x=x,
        mask=mask,
        ints=ints,
        small=small,
    )


def test_extremes_of_everything_have_no_dims_in_pnnx_words(tmp_path: Path) -> None:
    program = Program(("x.amax()", "x.amin(())"), {"x": x})
    torch.export.save(torch.export.export(program, (x,)), tmp_path / "model.pt2")
    graph = converter.load(tmp_path / "model.pt2")
    extremes = [*graph.of_type("torch.amax"), *graph.of_type("torch.amin")]
    assert [op.params["dim"] for op in extremes] == [None, None]
