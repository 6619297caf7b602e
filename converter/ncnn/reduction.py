"""Reductions over dims: sums, means, extremes, norms."""

from __future__ import annotations

import math

import numpy as np

from converter.dims import product
from converter.ir import Attribute, Dim
from converter.ncnn.arithmetic import ADD, DIV, MAX, MUL, SUB, binary, unary
from converter.ncnn.blob import MAX_RANK, Blob
from converter.ncnn.joining import expanded
from converter.ncnn.layers import CUMULATIVE_SUM, REDUCTION
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn

SUM, ABS_SUM, SQUARE_SUM, MEAN, MAX_OF, MIN_OF, PROD, L1, L2, LOG_SUM, LOG_SUM_EXP = range(11)

KINDS = {
    "torch.sum": SUM,
    "torch.mean": MEAN,
    "torch.amax": MAX_OF,
    "torch.amin": MIN_OF,
    "torch.max": MAX_OF,
    "torch.min": MIN_OF,
    "torch.prod": PROD,
}


OF_ONE = {ABS_SUM: "abs", SQUARE_SUM: "square", L1: "abs", L2: "abs", LOG_SUM: "log"}
"""What a reduction is of one value, where it is not the value itself."""


def reduce(op: Op, kind: int, x: Blob, dims: tuple[int, ...], keepdim: bool) -> Blob:
    """Reduce over dims, in order and not negative."""
    if not dims:
        return unary(op, OF_ONE[kind], x) if kind in OF_ONE else x
    if len(dims) == x.rank > MAX_RANK:
        flat = reduce(op, kind, op.view(x, (math.prod(op.sizes(x)),), None), (0,), False)
        return op.view(flat, (1,) * x.rank, 0) if keepdim else flat
    x = op.free(x, *dims)
    if keepdim:
        shape = tuple(1 if dim in dims else size for dim, size in enumerate(x.shape))
        batch = x.batch
    else:
        shape = tuple(size for dim, size in enumerate(x.shape) if dim not in dims)
        batch = None if x.batch is None else x.batch - sum(dim < x.batch for dim in dims)
    axes = x.axes(dims)
    whole = len(axes) == len(x.dims)
    call = REDUCTION(
        operation=kind,
        reduce_all=int(whole),
        **({} if whole else {"axes": axes}),
        keepdims=int(keepdim),
        fixbug0=1,
    )
    return op.emit(call, x, shape=shape, batch=batch)


def number_of(op: Op, size: Dim) -> Blob | float:
    """A size to compute with; one that the network works out is the sum of as many ones."""
    if isinstance(size, int):
        return float(size)
    ones = expanded(op, op.constant(Attribute.of(np.ones(1, np.float32))), (size,))
    return reduce(op, SUM, ones, (0,), keepdim=False)


@ncnn(*KINDS)
def reduction(op: Op) -> list[Blob]:
    x = op.blob()
    return op.values(reduce(op, KINDS[op.type], x, op.dims(x.rank), op.flag("keepdim")))


@ncnn("torch.logsumexp")
def logsumexp(op: Op) -> Blob:
    """max + log(sum(exp(x - max))): ncnn's own overflows from 88 on."""
    x = op.blob()
    dims = op.dims(x.rank)
    largest = reduce(op, MAX_OF, x, dims, keepdim=True)
    sums = reduce(op, LOG_SUM_EXP, binary(op, SUB, x, largest), dims, keepdim=True)
    total = binary(op, ADD, sums, largest)
    return total if op.flag("keepdim") else _without(op, total, dims)


def _without(op: Op, x: Blob, dims: tuple[int, ...]) -> Blob:
    """Drop dims of size 1."""
    kept = [dim for dim in range(x.rank) if dim not in dims]
    batch = kept.index(x.batch) if x.batch in kept else None
    return op.view(x, tuple(x.shape[dim] for dim in kept), batch)


@ncnn("torch.norm")
def norm(op: Op) -> Blob:
    x = op.blob()
    kinds = {1.0: L1, 2.0: L2, math.inf: MAX_OF, -math.inf: MIN_OF}
    p = 2.0 if op.params.get("p") in (None, "fro") else op.number("p")
    if p not in kinds:
        op.refuse(f"p={p} is not expressible in ncnn", "use 1, 2 or inf")
    if kinds[p] in (MAX_OF, MIN_OF):
        x = unary(op, "abs", x)
    return reduce(op, kinds[p], x, op.dims(x.rank), op.flag("keepdim"))


@ncnn("F.normalize")
def normalize(op: Op) -> Blob:
    """x / max(norm(x), eps)"""
    x = op.blob()
    kinds = {1.0: L1, 2.0: L2}
    p = op.number("p", 2.0)
    if p not in kinds:
        op.refuse(f"p={p} is not expressible in ncnn", "use 1 or 2")
    dims = op.dims(x.rank) if "dim" in op.params else (op.wrap(1, x.rank),)
    return _unit(op, x, kinds[p], dims, op.number("eps", 1e-12))


def _unit(op: Op, x: Blob, kind: int, dims: tuple[int, ...], eps: float) -> Blob:
    x = op.free(x, *dims)
    length = reduce(op, kind, x, dims, keepdim=True)
    return binary(op, DIV, x, binary(op, MAX, length, eps))


@ncnn("F.cosine_similarity")
def cosine_similarity(op: Op) -> Blob:
    """The sum of x1 / max(|x1|, eps) * x2 / max(|x2|, eps)"""
    pair, eps = (op.need("x1", 0), op.need("x2", 1)), op.number("eps", 1e-8)
    rank = max(x.rank for x in pair)
    dim = op.dim(rank, default=1)
    first, second = (_unit(op, x, L2, (op.wrap(dim - rank, x.rank),), eps) for x in pair)
    return reduce(op, SUM, binary(op, MUL, first, second), (dim,), keepdim=False)


@ncnn("torch.var", "torch.std")
def variance(op: Op) -> Blob:
    return _variance(op, rooted=op.type == "torch.std")


@ncnn("torch.var_mean", "torch.std_mean")
def variance_and_mean(op: Op) -> list[Blob]:
    x = op.blob()
    mean = reduce(op, MEAN, x, op.dims(x.rank), op.flag("keepdim"))
    return [_variance(op, rooted=op.type == "torch.std_mean"), mean]


def _variance(op: Op, rooted: bool) -> Blob:
    """sum((x - mean)²) / (n - 1), or n if it is not unbiased, or its root"""
    x = op.blob()
    dims = op.dims(x.rank)
    correction = 1.0 if op.params.get("correction") is None else op.number("correction")
    if "unbiased" in op.params:
        correction = float(op.flag("unbiased"))
    count = number_of(op, product(x.shape[dim] for dim in dims))
    if isinstance(count, Blob):
        count = binary(op, SUB, count, correction)
    elif count <= correction:
        op.refuse("is of fewer values than its correction")
    else:
        count -= correction
    x = op.free(x, *dims)
    centred = binary(op, SUB, x, reduce(op, MEAN, x, dims, keepdim=True))
    sums = reduce(op, SQUARE_SUM, centred, dims, op.flag("keepdim"))
    var = binary(op, DIV, sums, count)
    return unary(op, "sqrt", var) if rooted else var


@ncnn("torch.cumsum")
def cumsum(op: Op) -> Blob:
    dim = op.dim(op.blob().rank)
    x = op.free(op.blob(), dim)
    return op.emit(CUMULATIVE_SUM(axis=x.axis(dim)), x)
