"""Work out operators that models make tables with: grids, one-hots, sums of indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from converter.ir import Array, Operator
from converter.passes.evaluate import (
    Arrays,
    EvaluationError,
    cast,
    evaluates,
    from_zero,
    integer,
    integers,
    only,
    output_dtype,
    output_shape,
)


@evaluates("torch.meshgrid")
def meshgrid(op: Operator, inputs: dict[str, Array]) -> Arrays:
    return np.meshgrid(*inputs.values(), indexing="xy" if op.params["indexing"] == "xy" else "ij")


@evaluates("torch.roll")
def roll(op: Operator, inputs: dict[str, Array]) -> Arrays:
    shifts, dims = integers(op.params["shifts"]), integers(op.params["dims"])
    if len(shifts) != len(dims):
        raise EvaluationError("it rolls what is flattened")
    return [np.roll(only(inputs), shifts, dims)]


@evaluates("torch.outer")
def outer(op: Operator, inputs: dict[str, Array]) -> Arrays:
    one, other = inputs.values()
    if one.dtype != other.dtype or (one.dtype.kind not in "iu" and one.dtype.itemsize < 4):
        raise EvaluationError("the types differ, or are of half precision")
    return [one[:, None] * other]


@evaluates("F.one_hot", checked=True)
def one_hot(op: Operator, inputs: dict[str, Array]) -> Arrays:
    index = from_zero(only(inputs))
    classes = output_shape(op)[-1]
    if index.size and index.max() >= classes:
        raise EvaluationError("an index is too large")
    return [(index[..., None] == np.arange(classes)).astype(np.int64)]


@evaluates("torch.scatter", checked=True)
def scatter(op: Operator, inputs: dict[str, Array]) -> Arrays:
    """Of one value, so that it does not matter which index comes last."""
    result, index = inputs["input"].copy(), from_zero(inputs["index"])
    if "value" not in op.params or op.params.get("reduce") is not None:
        raise EvaluationError("it is of a tensor")
    axis = integer(op.params["dim"])
    part: list[slice] = [slice(size) for size in index.shape]
    part[axis] = slice(None)
    value = cast(np.asarray(op.params["value"]), result.dtype)
    np.put_along_axis(result[tuple(part)], index, value, axis)
    return [result]


REDUCTIONS: dict[str, Callable[..., Any]] = {
    "torch.amax": np.max,
    "torch.amin": np.min,
    "torch.max": np.max,
    "torch.min": np.min,
    "torch.prod": np.prod,
    "torch.sum": np.sum,
}


@evaluates(*REDUCTIONS, checked=True)
def reduce(op: Operator, inputs: dict[str, Array]) -> Arrays:
    """Of whole numbers, in any order the same. A dim of torch.max and torch.min comes with indices,
    which depend on the kernel.
    """
    array, dims = only(inputs), op.params.get("dim")
    if array.dtype.kind not in "iub" or len(op.outputs) != 1 or not array.size:
        raise EvaluationError("it is of floats, of nothing, or has indices")
    axis = tuple(integers(dims)) if dims not in (None, ()) else None
    how: dict[str, Any] = {"keepdims": bool(op.params.get("keepdim"))}
    if op.type in ("torch.prod", "torch.sum"):
        how["dtype"] = output_dtype(op)
    return [np.asarray(REDUCTIONS[op.type](array, axis, **how))]
