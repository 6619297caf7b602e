"""Element-wise arithmetic: a `pnnx.Expression` where those have the function, else `torch.*`."""

from __future__ import annotations

from converter.aten.call import Arg, Call
from converter.aten.dtype import torch_dtype
from converter.aten.emit import Emitter, ExprArg, expr
from converter.aten.registry import lowers, register, same
from converter.ir import Operand

UNARY = (
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "floor",
    "log",
    "log10",
    "log1p",
    "neg",
    "reciprocal",
    "rsqrt",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "trunc",
)
"""Functions of one argument that expressions have, by the same name."""

BINARY = {
    "atan2.default": "atan2",
    "bitwise_and.Tensor": "and",
    "bitwise_and.Scalar": "and",
    "bitwise_or.Tensor": "or",
    "bitwise_or.Scalar": "or",
    "bitwise_xor.Tensor": "xor",
    "bitwise_xor.Scalar": "xor",
    "__and__.Tensor": "and",
    "__and__.Scalar": "and",
    "__or__.Tensor": "or",
    "__or__.Scalar": "or",
    "__xor__.Tensor": "xor",
    "__xor__.Scalar": "xor",
    "__lshift__.Tensor": "lshift",
    "__lshift__.Scalar": "lshift",
    "__rshift__.Tensor": "rshift",
    "__rshift__.Scalar": "rshift",
    "div.Tensor": "div",
    "div.Scalar": "div",
    "floor_divide.default": "floor_divide",
    "floor_divide.Scalar": "floor_divide",
    "fmod.Tensor": "fmod",
    "fmod.Scalar": "fmod",
    "logaddexp.default": "logaddexp",
    "max.other": "max",
    "maximum.default": "maximum",
    "min.other": "min",
    "minimum.default": "minimum",
    "mul.Tensor": "mul",
    "mul.Scalar": "mul",
    "pow.Scalar": "pow",
    "pow.Tensor_Scalar": "pow",
    "pow.Tensor_Tensor": "pow",
    "remainder.Scalar": "remainder",
    "remainder.Scalar_Tensor": "remainder",
    "remainder.Tensor": "remainder",
}
"""Functions of two arguments that expressions have."""

PLAIN = (
    "angle",
    "bitwise_not",
    "deg2rad",
    "digamma",
    "erfc",
    "erfinv",
    "exp2",
    "frac",
    "heaviside",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "lgamma",
    "log2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "nextafter",
    "positive",
    "rad2deg",
    "real",
    "sgn",
    "signbit",
    "sinc",
)
"""Functions that expressions lack: `torch.lgamma` and so on, with ATen's own arguments."""

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def operand_or_number(call: Call, name: str) -> ExprArg:
    value: Arg = call.args[name]
    return value if isinstance(value, Operand) else call.number_or_complex(name)


def unary(function: str) -> None:
    @lowers(f"{function}.default")
    def lowering(call: Call, emit: Emitter) -> None:
        emit.expression(call.output, expr(function, call.tensor("self")))


def binary(target: str, function: str) -> None:
    @lowers(target)
    def lowering(call: Call, emit: Emitter) -> None:
        left, right = list(call.args)[:2]
        emit.expression(
            call.output,
            expr(function, operand_or_number(call, left), operand_or_number(call, right)),
        )


for function in UNARY:
    unary(function)
for target, function in BINARY.items():
    binary(target, function)
for name in PLAIN:
    same(f"{name}.default", f"torch.{name}")
for name in COMPARISONS:
    same([f"{name}.Tensor", f"{name}.Scalar"], f"torch.{name}")
for name in ("bitwise_left_shift", "bitwise_right_shift"):
    same([f"{name}.Tensor", f"{name}.Tensor_Scalar"], f"torch.{name}")
same("isclose.default", "torch.isclose")
same(["copysign.Tensor", "copysign.Scalar"], "torch.copysign")
same("xlogy.Tensor", "torch.xlogy")
same(["lerp.Scalar", "lerp.Tensor"], "torch.lerp")
same("addcmul.default", "torch.addcmul")
same("addcdiv.default", "torch.addcdiv")
same("nan_to_num.default", "torch.nan_to_num")
same("polar.default", "torch.polar")
same("complex.default", "torch.complex")
same(["where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar"], "torch.where")
same(["clamp.default", "clip.default"], "torch.clamp")
same(["clamp.Tensor", "clip.Tensor"], "torch.clamp")


@lowers("add.Tensor", "add.Scalar")
def add(call: Call, emit: Emitter) -> None:
    linear_combination(call, emit, "add", "self", "other")


@lowers("sub.Tensor", "sub.Scalar")
def sub(call: Call, emit: Emitter) -> None:
    linear_combination(call, emit, "sub", "self", "other")


@lowers("rsub.Tensor", "rsub.Scalar")
def rsub(call: Call, emit: Emitter) -> None:
    linear_combination(call, emit, "sub", "other", "self")


def linear_combination(call: Call, emit: Emitter, function: str, left: str, right: str) -> None:
    """`left ± right`, where `other` is scaled by alpha.

    torch multiplies and adds in one rounding, an expression in two: the result may differ in the
    last bit where alpha is not 1, so that torch's own function is kept.
    """
    alpha = call.args.get("alpha", 1)
    if alpha == 1:
        emit.expression(
            call.output,
            expr(function, operand_or_number(call, left), operand_or_number(call, right)),
        )
        return
    swapped = left == "other"
    emit.op(
        "torch.rsub" if swapped else f"torch.{function}",
        call.output,
        input=call.tensor("self"),
        other=call.args["other"],
        alpha=alpha,
    )


@lowers("div.Tensor_mode", "div.Scalar_mode")
def div_mode(call: Call, emit: Emitter) -> None:
    mode = call.args["rounding_mode"]
    left, right = call.tensor("self"), operand_or_number(call, "other")
    if mode is None:
        emit.expression(call.output, expr("div", left, right))
    elif mode == "floor":
        emit.expression(call.output, expr("floor_divide", left, right))
    else:
        emit.op("torch.div", call.output, input=left, other=call.args["other"], rounding_mode=mode)


@lowers("round.default")
def round(call: Call, emit: Emitter) -> None:
    emit.expression(call.output, expr("round", call.tensor("self")))


same("round.decimals", "torch.round")


@lowers("clamp_min.default", "clamp_min.Tensor")
def clamp_min(call: Call, emit: Emitter) -> None:
    emit.op("torch.clamp", call.output, input=call.tensor("self"), min=call.args["min"], max=None)


@lowers("clamp_max.default", "clamp_max.Tensor")
def clamp_max(call: Call, emit: Emitter) -> None:
    emit.op("torch.clamp", call.output, input=call.tensor("self"), min=None, max=call.args["max"])


def to(call: Call, emit: Emitter) -> None:
    """A change of dtype; of device or memory format only, it is none."""
    source = call.tensor("self")
    dtype = call.args.get("dtype")
    other = call.args.get("other")
    if isinstance(other, Operand):
        dtype = other.dtype
    if dtype is None or dtype == source.dtype:
        emit.alias(call.output, source)
    elif call.target == "aten.type_as.default":
        emit.op("Tensor.type_as", call.output, input=source, other=other)
    else:
        emit.op("Tensor.to", call.output, input=source, copy=False, dtype=torch_dtype(dtype))


for target in (
    "to.dtype",
    "to.dtype_layout",
    "to.device",
    "to.other",
    "_to_copy.default",
    "type_as.default",
):
    register(target, to)


@lowers("prims.convert_element_type.default")
def convert_element_type(call: Call, emit: Emitter) -> None:
    emit.op(
        "Tensor.to",
        call.output,
        input=call.tensor("a"),
        copy=False,
        dtype=torch_dtype(call.args["dtype"]),
    )
