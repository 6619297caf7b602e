"""The operations of operators: those of one element of the result, or a rule.

Operators that are in no table here count nothing, as they do in pnnx.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from math import gcd, prod

from converter.ir import Operator
from converter.pnnx.names import words
from converter.statistics.attention import attention, multihead
from converter.statistics.recurrent import recurrent
from converter.statistics.sizes import (
    dims,
    function,
    integers,
    reduced,
    size,
    tensor,
    window,
)

PER_ELEMENT: Mapping[str, int] = {
    name: count
    for count, names in {
        1: """
            bitwiseand bitwisenot bitwiseor bitwisexor clamp cumprod cumsum eq ge gt hardtanh le
            logicaland logicalnot logicalor logicalxor
            lt ne relu relu6 threshold
        """,
        2: "celu elu leakyrelu prelu selu",
        3: "hardsigmoid",
        4: "hardswish softsign",
        5: "logsoftmax softmax softmin",
        6: "glu mish sigmoid silu softplus tanh",
        10: "gelu",
    }.items()
    for name in words(names)
}
"""By function, how many operations make an element."""

RESAMPLING = {"linear": 5, "bilinear": 11, "trilinear": 31, "bicubic": 35}
"""By mode."""

COSTLY = words(
    """
    acos acosh asin asinh atan atan2 atanh cos cosh erf exp expm1 log log10 log1p log2 logaddexp
    pow rsqrt sin sinh sqrt tan tanh
    """
)
BITWISE = words("and or xor lshift rshift")
"""Functions in expressions: four operations or none. Others are one."""


def operations(op: Operator) -> int:
    """Count the operations of an operator whose sizes are known."""
    if op.type == "pnnx.Expression":
        return size(op.outputs[0]) * sum(map(in_expression, re.findall(r"(\w+)\(", expr(op))))
    name = function(op)
    if name in PER_ELEMENT:
        return PER_ELEMENT[name] * size(op.outputs[0])
    rule = RULES.get(name)
    return rule(op) if rule else 0


def expr(op: Operator) -> str:
    text = op.params["expr"]
    return text if isinstance(text, str) else ""


def in_expression(name: str) -> int:
    return 4 if name in COSTLY else 0 if name in BITWISE else 1


def convolution(op: Operator) -> int:
    weight, bias = tensor(op, "weight"), tensor(op, "bias")
    result = size(op.outputs[0])
    return 2 * result * prod((weight or (1,))[1:]) + (result if bias else 0)


def transposed(op: Operator) -> int:
    weight, bias = tensor(op, "weight"), tensor(op, "bias")
    given, result = size(op.inputs[0]), size(op.outputs[0])
    return 2 * given * prod((weight or (1,))[1:]) + (result if bias else 0)


def product(op: Operator) -> int:
    return 2 * size(op.outputs[0]) * dims(op.inputs[0])[-1]


def added_product(op: Operator) -> int:
    scaled = sum(op.params.get(name, 1) != 1 for name in ("alpha", "beta"))
    return (2 * dims(op.inputs[1])[-1] + 1 + scaled) * size(op.outputs[0])


def norm_of(plain: int, affine: int) -> Callable[[Operator], int]:
    """Make the rule of a normalization: the operations of an element, and more with weights."""

    def rule(op: Operator) -> int:
        each = plain + (affine if tensor(op, "weight") else 0)
        return each * size(op.inputs[0])

    return rule


def instance_norm(op: Operator) -> int:
    """By the statistics of the input; where some are stored, it is a batch-norm."""
    return norm_of(2 if tensor(op, "running_mean") else 7, 2)(op)


def local_response(op: Operator) -> int:
    if op.type.startswith("nn."):
        return 0
    return (7 + integers(op, "size")[0]) * size(op.outputs[0])


def average_pool(op: Operator) -> int:
    return window(op) * size(op.outputs[0])


def max_pool(op: Operator) -> int:
    return (window(op) - 1) * size(op.outputs[0])


def lp_pool(op: Operator) -> int:
    if op.type.startswith("nn."):
        return 0
    return 4 * size(op.inputs[0]) + (window(op) + 9) * size(op.outputs[0])


def adaptive_average(op: Operator) -> int:
    """The sizes of all windows, which overlap by one where the sizes have no common divisor."""
    rank = int(op.type[-2])
    given, made = dims(op.inputs[0]), dims(op.outputs[0])
    pairs = zip(given[-rank:], made[-rank:], strict=True)
    lines = (old + new - gcd(old, new) for old, new in pairs)
    return prod(made[:-rank]) * prod(lines)


def adaptive_max(op: Operator) -> int:
    return adaptive_average(op) - size(op.outputs[0])


def reduction(given: int, made: int = 0) -> Callable[[Operator], int]:
    """Make the rule of a reduction: operations of an element that is read, and of one made."""
    return lambda op: given * size(op.inputs[0]) + made * size(op.outputs[0])


def vector_norm(op: Operator) -> int:
    return norm(op, size(op.inputs[0]), size(op.outputs[0]))


def norm(op: Operator, given: int, made: int) -> int:
    """The operations of norms of `given` elements in all: the powers, their sums and the roots."""
    p = order(op)
    if p in (1, math.inf):
        return 2 * given
    return (2 if p == 2 else 6) * given + 4 * made


def order(op: Operator) -> float:
    p = op.params.get("p", op.params.get("ord"))
    return float(p) if isinstance(p, int | float) else 2.0


def normalize(op: Operator) -> int:
    given, made = size(op.inputs[0]), reduced(op)
    return given + made + norm(op, given, made)


def pairwise(op: Operator) -> int:
    given, made = size(op.inputs[0]), size(op.outputs[0])
    return (2 if order(op) == 2 else 1) * given + norm(op, given, made)


def resampling(op: Operator) -> int:
    if op.type == "nn.UpsamplingBilinear2d":
        return RESAMPLING["bilinear"] * size(op.outputs[0])
    return RESAMPLING.get(str(op.params.get("mode")), 0) * size(op.outputs[0])


def fold(op: Operator) -> int:
    return size(op.inputs[0]) - size(op.outputs[0])


RULES: Mapping[str, Callable[[Operator], int]] = {
    "adaptiveavgpool": adaptive_average,
    "adaptivemaxpool": adaptive_max,
    "addmm": added_product,
    "amax": reduction(1),
    "amin": reduction(1),
    "avgpool": average_pool,
    "baddbmm": added_product,
    "batchnorm": norm_of(2, 2),
    "bmm": product,
    "conv": convolution,
    "convtranspose": transposed,
    "fold": fold,
    "groupnorm": norm_of(7, 2),
    "gru": recurrent,
    "instancenorm": instance_norm,
    "interpolate": resampling,
    "layernorm": norm_of(7, 2),
    "linear": convolution,
    "localresponsenorm": local_response,
    "logsumexp": reduction(5, 4),
    "lppool": lp_pool,
    "lstm": recurrent,
    "matmul": product,
    "max": reduction(1),
    "maxpool": max_pool,
    "mean": reduction(1, 1),
    "min": reduction(1),
    "mm": product,
    "multiheadattention": multihead,
    "mv": product,
    "norm": vector_norm,
    "normalize": normalize,
    "pairwisedistance": pairwise,
    "prod": reduction(1),
    "rmsnorm": norm_of(5, 1),
    "rnn": recurrent,
    "scaleddotproductattention": attention,
    "std": reduction(4, 6),
    "sum": reduction(1),
    "upsample": resampling,
    "upsamplingbilinear": resampling,
    "var": reduction(4, 2),
}
"""By function."""
