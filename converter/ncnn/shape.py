"""Views of tensors: reshapes, permutations, dims of size 1 added and dropped."""

from __future__ import annotations

import numpy as np

from converter.ir import Attribute, Shape
from converter.ncnn.batch import permutation
from converter.ncnn.blob import Blob, carried
from converter.ncnn.graph import computed
from converter.ncnn.layers import DIAG, PERMUTE, LayerCall
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn


def _names(text: str) -> list[str]:
    return text.split()


ORDER_TYPES = {
    "W": _names("W"),
    "HW": _names("WH HW"),
    "CHW": _names("WHC HWC WCH CWH HCW CHW"),
    "CDHW": _names("WHDC HWDC WDHC DWHC HDWC DHWC WHCD HWCD WCHD CWHD HCWD CHWD")
    + _names("WDCH DWCH WCDH CWDH DCWH CDWH HDCW DHCW HCDW CHDW DCHW CDHW"),
}
"""Permute's order types, by the dims of the blob; each names the dims of the result, last first."""


VIEWS = (
    "Tensor.reshape",
    "Tensor.reshape_as",
    "Tensor.unflatten",
    "Tensor.view",
    "Tensor.view_as",
    "nn.Flatten",
    "nn.Unflatten",
    "torch.atleast_1d",
    "torch.atleast_2d",
    "torch.atleast_3d",
    "torch.flatten",
    "torch.ravel",
    "torch.squeeze",
    "torch.unflatten",
    "torch.unsqueeze",
)
PERMUTES = ("Tensor.permute", "torch.movedim", "torch.permute", "torch.t", "torch.transpose")


@ncnn(*VIEWS, dtypes="moved")
def reshape(op: Op) -> Blob:
    """As the shape that the operator's output has; complex numbers stay pairs."""
    x, shape = op.blob(), op.shape()
    if x.dtype == "c64":
        shape = (*shape, 2)
    batch = op.wanted
    if batch is None:
        batch = carried(x.shape, x.batch, shape)
    return op.view(x, shape, batch)


@ncnn(*PERMUTES, dtypes="moved")
def torch_permute(op: Op) -> Blob:
    order = permutation(op.operator)
    if order is None:
        op.refuse("its dims are no permutation")
    x = op.blob()
    return permute(op, x, (*order, len(order)) if x.dtype == "c64" else order)


def permute(op: Op, x: Blob, order: tuple[int, ...]) -> Blob:
    """The tensor with its axes in another order. What is the batch stays it."""
    shape = tuple(x.shape[axis] for axis in order)
    batch = None if x.batch is None else order.index(x.batch)
    moving = [axis for axis in order if x.shape[axis] != 1]
    if moving == sorted(moving):
        return op.view(x, shape, batch)
    if x.values is not None:
        return op.constant(_permuted(x.values, order))
    axes = x.axes(tuple(axis for axis in order if axis != x.batch))
    if list(axes) == sorted(axes):  # only the batch moves among them
        return Blob(x.operand, shape, x.dtype, batch)
    return op.emit(_permute(axes), x, shape=shape, batch=batch)


def _permute(axes: tuple[int, ...]) -> LayerCall:
    dims = next(dims for dims in ORDER_TYPES if len(dims) == len(axes))
    name = "".join(dims[axis] for axis in reversed(axes))
    return PERMUTE(order_type=ORDER_TYPES[dims].index(name))


def _permuted(values: Attribute, order: tuple[int, ...]) -> Attribute:
    shape = tuple(values.shape[axis] for axis in order)
    return computed(
        shape, lambda: np.ascontiguousarray(values.array().transpose(order)), values.dtype
    )


@ncnn("torch.diag")
def diag(op: Op) -> Blob:
    return op.emit(DIAG(diagonal=op.integer("diagonal", 0)), op.lay(op.blob(), None))


SAME = (
    "F.alpha_dropout",
    "F.dropout",
    "F.dropout1d",
    "F.dropout2d",
    "F.dropout3d",
    "F.feature_alpha_dropout",
    "Tensor.clone",
    "Tensor.contiguous",
    "Tensor.detach",
    "nn.AlphaDropout",
    "nn.Dropout",
    "nn.Dropout1d",
    "nn.Dropout2d",
    "nn.Dropout3d",
    "nn.FeatureAlphaDropout",
    "nn.Identity",
    "torch.clone",
    "torch.positive",
)


PAIRED = frozenset((*VIEWS, *PERMUTES, *SAME))
"""What moves complex numbers too, which are pairs in a dim more than the tensor has."""


@ncnn(*SAME, dtypes="moved")
def same(op: Op) -> Blob:
    """In eval mode, the input."""
    op.expect("training", False)
    return op.blob()


def squeezed(op: Op, x: Blob, dim: int) -> Blob:
    """The tensor without a dim of size 1."""
    shape: Shape = x.shape[:dim] + x.shape[dim + 1 :]
    batch = None if x.batch is None or x.batch == dim else x.batch - (x.batch > dim)
    return op.view(x, shape, batch)


def unsqueezed(op: Op, x: Blob, dim: int) -> Blob:
    """The tensor with a dim of size 1 before `dim`."""
    batch = None if x.batch is None else x.batch + (x.batch >= dim)
    return op.view(x, (*x.shape[:dim], 1, *x.shape[dim:]), batch)
