"""Element-wise arithmetic on blobs that broadcast as tensors do."""

from __future__ import annotations

from converter.ir import Dim, Shape
from converter.ncnn.blob import Blob
from converter.ncnn.layers import BINARY_OP, ERF, UNARY_OP, LayerCall
from converter.ncnn.op import Op

ADD, SUB, MUL, DIV, MAX, MIN, POW, RSUB, RDIV, RPOW, ATAN2, RATAN2 = range(12)
LOGADDEXP = 14

SMALLEST = 2.0**-126
"""The smallest normal number of single precision."""

REVERSED = {
    ADD: ADD,
    SUB: RSUB,
    MUL: MUL,
    DIV: RDIV,
    MAX: MAX,
    MIN: MIN,
    POW: RPOW,
    ATAN2: RATAN2,
    LOGADDEXP: LOGADDEXP,
}
"""Each operation, and the one with its operands exchanged, for a scalar that comes first."""

UNARY = {
    "abs": 0,
    "neg": 1,
    "floor": 2,
    "ceil": 3,
    "square": 4,
    "sqrt": 5,
    "rsqrt": 6,
    "exp": 7,
    "log": 8,
    "sin": 9,
    "cos": 10,
    "tan": 11,
    "asin": 12,
    "acos": 13,
    "atan": 14,
    "reciprocal": 15,
    "tanh": 16,
    "log10": 17,
    "round": 18,
    "trunc": 19,
    "sign": 20,
    "expm1": 21,
    "sinh": 22,
    "asinh": 23,
    "cosh": 24,
    "acosh": 25,
    "atanh": 26,
    "log1p": 27,
}
"""UnaryOp's operations by the names that expressions have for them."""


def unary(op: Op, name: str, x: Blob) -> Blob:
    """One of `UNARY`, or erf."""
    y = pointwise(op, ERF() if name == "erf" else UNARY_OP(op_type=UNARY[name]), x)
    return binary(op, ADD, y, _zero_from_one_on(op, x)) if name == "acosh" else y


def _zero_from_one_on(op: Op, x: Blob) -> Blob:
    """NaN below 1, where ncnn's acosh is the logarithm of NaN, for which it has a number."""
    return unary(op, "sqrt", binary(op, MIN, binary(op, SUB, x, 1.0), 0.0))


def pointwise(op: Op, call: LayerCall, x: Blob) -> Blob:
    """A layer that computes each element by itself.

    What only it reads need not be reshaped before: the result is, and perhaps needs not be either.
    """
    if x.origin is None or len(op.operator.inputs[0].consumers) > 1:
        return op.emit(call, x, shape=x.shape)
    y = op.emit(call, x.origin, shape=x.origin.shape)
    return op.view(y, x.shape, x.batch)


def binary(op: Op, kind: int, a: Blob | float, b: Blob | float) -> Blob:
    """An operation of two blobs, or of a blob and a number. Not of two numbers."""
    if isinstance(b, Blob) and not isinstance(a, Blob):
        return binary(op, REVERSED[kind], b, a)
    assert isinstance(a, Blob)
    if not isinstance(b, Blob):
        if kind == DIV and abs(b) < SMALLEST:
            op.refuse(f"divides by {b}: ncnn multiplies with the reciprocal, which is infinite")
        return pointwise(op, BINARY_OP(op_type=kind, with_scalar=1, b=b), a)
    shape = broadcast(op, a.shape, b.shape)
    a, b, batch = aligned(op, a, b, len(shape))
    return op.emit(BINARY_OP(op_type=kind), a, b, shape=shape, batch=batch)


def broadcast(op: Op, *shapes: Shape) -> Shape:
    """The shape that tensors of these shapes have together."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(_common(op, dims) for dims in zip(*padded, strict=True))


def _common(op: Op, dims: tuple[Dim, ...]) -> Dim:
    """The size that is not 1. Where dynamic ones are spelled in several ways, they are equal
    whenever the program runs: it was exported under that guard. The shortest is kept.
    """
    sizes = {dim for dim in dims if dim != 1}
    if "?" in sizes or len({dim for dim in sizes if isinstance(dim, int)}) > 1:
        op.refuse(f"broadcasts the sizes {' and '.join(sorted(map(str, sizes)))}")
    return min(sizes, key=lambda dim: (isinstance(dim, str), len(str(dim)), dim), default=1)


def aligned(op: Op, a: Blob, b: Blob, rank: int) -> tuple[Blob, Blob, int | None]:
    """Two blobs of the same number of dims, with the same axis as the batch, and that axis.

    ncnn broadcasts dims of size 1, and batches of size 1, of blobs that have equally many dims.
    """
    places = [blob.batch + rank - blob.rank for blob in (a, b) if blob.batch is not None]
    batch = places[0] if places else None
    return _align(op, a, rank, batch), _align(op, b, rank, batch), batch


def _align(op: Op, blob: Blob, rank: int, batch: int | None) -> Blob:
    """The tensor with dims of size 1 in front, and that batch axis."""
    if blob.rank == rank and blob.batch == batch:
        return blob
    return op.view(blob, (*(1,) * (rank - blob.rank), *blob.shape), batch)
