"""Activations: element by element, or along one dim."""

from __future__ import annotations

from converter.ir import Attribute
from converter.ncnn.arithmetic import (
    ADD,
    DIV,
    LOGADDEXP,
    MAX,
    MIN,
    MUL,
    SUB,
    binary,
    pointwise,
    unary,
)
from converter.ncnn.blob import Blob
from converter.ncnn.boolean import chosen, greater
from converter.ncnn.layers import (
    CELU,
    CLIP,
    ELU,
    GELU,
    HARD_SIGMOID,
    HARD_SWISH,
    MISH,
    PRELU,
    RELU,
    SELU,
    SHRINK,
    SIGMOID,
    SOFTMAX,
    SWISH,
    TANH,
    LayerCall,
)
from converter.ncnn.op import Op
from converter.ncnn.reduction import LOG_SUM_EXP, MAX_OF, reduce
from converter.ncnn.registry import images, ncnn
from converter.ncnn.slicing import split_at

NO_PARAMS = {
    ("F.relu", "nn.ReLU"): RELU(),
    ("F.relu6", "nn.ReLU6"): CLIP(min=0.0, max=6.0),
    ("F.selu", "nn.SELU"): SELU(),
    ("F.sigmoid", "nn.Sigmoid", "torch.sigmoid"): SIGMOID(),
    ("F.silu", "nn.SiLU"): SWISH(),
    ("F.mish", "nn.Mish"): MISH(),
    ("F.tanh", "nn.Tanh", "torch.tanh"): TANH(),
    ("F.hardsigmoid", "nn.Hardsigmoid"): HARD_SIGMOID(alpha=1 / 6, beta=0.5),
    ("F.hardswish", "nn.Hardswish"): HARD_SWISH(alpha=1 / 6, beta=0.5),
}


def _elementwise(types: tuple[str, ...], call: LayerCall) -> None:
    @ncnn(*types)
    def layer(op: Op) -> Blob:
        return pointwise(op, call, op.blob())


for types, call in NO_PARAMS.items():
    _elementwise(types, call)


@ncnn("F.leaky_relu", "nn.LeakyReLU")
def leaky_relu(op: Op) -> Blob:
    return pointwise(op, RELU(slope=op.number("negative_slope", 0.01)), op.blob())


@ncnn("F.rrelu", "nn.RReLU")
def rrelu(op: Op) -> Blob:
    """In eval mode, the slope is the mean of the bounds."""
    slope = (op.number("lower", 1 / 8) + op.number("upper", 1 / 3)) / 2
    return pointwise(op, RELU(slope=slope), op.blob())


@ncnn("F.elu", "nn.ELU")
def elu(op: Op) -> Blob:
    return pointwise(op, ELU(alpha=op.number("alpha", 1.0)), op.blob())


@ncnn("F.celu", "nn.CELU")
def celu(op: Op) -> Blob:
    return pointwise(op, CELU(alpha=op.number("alpha", 1.0)), op.blob())


@ncnn("F.gelu", "nn.GELU")
def gelu(op: Op) -> Blob:
    op.expect("approximate", "none", "tanh")
    return pointwise(op, GELU(fast_gelu=int(op.params.get("approximate") == "tanh")), op.blob())


@ncnn("F.hardtanh", "nn.Hardtanh")
def hardtanh(op: Op) -> Blob:
    return pointwise(
        op, CLIP(min=op.number("min_val", -1.0), max=op.number("max_val", 1.0)), op.blob()
    )


@ncnn("torch.clamp", "torch.clip")
def clamp(op: Op) -> Blob:
    """One bound is a minimum or maximum, which lets infinities pass that Clip does not; a bound may
    be a tensor.
    """
    x = op.blob()
    if op.params.get("min") is not None and op.params.get("max") is not None:
        return pointwise(op, CLIP(min=op.number("min"), max=op.number("max")), x)
    for kind, name in ((MAX, "min"), (MIN, "max")):
        bound: Blob | float | None = op.argument(name, op.count)
        if bound is None and op.params.get(name) is not None:
            bound = op.number(name)
        if bound is not None:
            x = binary(op, kind, x, bound)
    return x


@ncnn("F.softshrink", "nn.Softshrink")
def softshrink(op: Op) -> Blob:
    bound = op.number("lambd", 0.5)
    return pointwise(op, SHRINK(bias=bound, lambd=bound), op.blob())


@ncnn("F.hardshrink", "nn.Hardshrink")
def hardshrink(op: Op) -> Blob:
    return pointwise(op, SHRINK(bias=0.0, lambd=op.number("lambd", 0.5)), op.blob())


@ncnn("F.softplus", "nn.Softplus")
def softplus(op: Op) -> Blob:
    """log(1 + exp(beta x)) / beta, and x where beta x is beyond the threshold: from 16 on it is x
    by itself, as exp(-threshold) is lost in rounding.

    Not ncnn's Softplus, which overflows from 88 on: log(exp(x) + exp(0)) does not.
    """
    beta, threshold = op.number("beta", 1.0), op.number("threshold", 20.0)
    x = op.blob()
    scaled = x if beta == 1 else binary(op, MUL, x, beta)
    soft = binary(op, LOGADDEXP, scaled, 0.0)
    if beta != 1:
        soft = binary(op, DIV, soft, beta)
    if threshold >= 16:
        return soft
    return chosen(op, greater(op, scaled, threshold), x, soft)


@ncnn("F.logsigmoid", "nn.LogSigmoid")
def logsigmoid(op: Op) -> Blob:
    """-log(exp(-x) + 1): log(sigmoid(x)) would be -inf from -88 down."""
    return unary(op, "neg", binary(op, LOGADDEXP, unary(op, "neg", op.blob()), 0.0))


@ncnn("F.softsign", "nn.Softsign")
def softsign(op: Op) -> Blob:
    x = op.blob()
    return binary(op, DIV, x, binary(op, ADD, unary(op, "abs", x), 1.0))


@ncnn("F.tanhshrink", "nn.Tanhshrink")
def tanhshrink(op: Op) -> Blob:
    x = op.blob()
    return binary(op, SUB, x, op.emit(TANH(), x))


def _softmax(op: Op, dim: int) -> Blob:
    x = op.free(op.blob(), dim)
    return op.emit(SOFTMAX(axis=x.axis(dim), fixbug0=1), x)


@ncnn("F.softmax", "nn.Softmax", "torch.softmax")
def softmax(op: Op) -> Blob:
    return _softmax(op, op.dim(op.blob().rank))


@ncnn("nn.Softmax2d", batch=images(2))
def softmax2d(op: Op) -> Blob:
    return _softmax(op, op.blob().rank - 3)


@ncnn("F.softmin", "nn.Softmin")
def softmin(op: Op) -> Blob:
    dim = op.dim(op.blob().rank)
    x = unary(op, "neg", op.free(op.blob(), dim))
    return op.emit(SOFTMAX(axis=x.axis(dim), fixbug0=1), x)


@ncnn("F.log_softmax", "nn.LogSoftmax")
def log_softmax(op: Op) -> Blob:
    """x - max - log(sum(exp(x - max))): the log of a softmax is -inf where that underflows."""
    x = op.blob()
    dims = (op.dim(x.rank),)
    x = op.free(x, *dims)
    shifted = binary(op, SUB, x, reduce(op, MAX_OF, x, dims, keepdim=True))
    return binary(op, SUB, shifted, reduce(op, LOG_SUM_EXP, shifted, dims, keepdim=True))


@ncnn("F.glu", "nn.GLU")
def glu(op: Op) -> Blob:
    """One half times the sigmoid of the other. (ncnn's GLU is NaN where that underflows.)"""
    x = op.blob()
    dim = op.dim(x.rank, default=-1)
    size = op.size(x, dim) // 2
    values, gates = split_at(op, x, dim, [size, size])
    return binary(op, MUL, values, op.emit(SIGMOID(), gates, shape=gates.shape))


@ncnn("nn.PReLU", "F.prelu")
def prelu(op: Op) -> Blob:
    """PReLU has a slope for each item of a blob's first dim, or one for all."""
    x = op.blob()
    weight = op.attrs.get("weight")
    if weight is None:
        weight = op.need("weight", 1).values
    if weight is None:
        return _computed_prelu(op, x, op.need("weight", 1))
    return op.emit(PRELU(num_slope=weight.size, slope=weight), _channels_first(op, x, weight))


def _channels_first(op: Op, x: Blob, weight: Attribute) -> Blob:
    """Channels are dim 1, or the only dim."""
    if weight.size == 1 or x.rank == 1:
        return x
    return op.lay(x, 0)


def _computed_prelu(op: Op, x: Blob, weight: Blob) -> Blob:
    """max(x, 0) - weight * max(-x, 0)"""
    channels = (1,) * max(x.rank > 1, 0)
    shape = op.known(weight.shape)
    if weight.rank == 1 and x.rank > 1 and shape != (1,):
        weight = op.view(weight, (*channels, *shape, *(1,) * (x.rank - 2)), None)
    negative = binary(op, MAX, unary(op, "neg", x), 0.0)
    return binary(op, SUB, op.emit(RELU(), x), binary(op, MUL, negative, weight))
