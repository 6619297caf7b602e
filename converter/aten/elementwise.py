"""Element-wise arithmetic: a `pnnx.Expression` where those have the function, else `torch.*`."""

from __future__ import annotations

from converter.aten.call import Arg, Call
from converter.aten.emit import Emitter
from converter.aten.expr import Expr, ExprArg, expr
from converter.aten.registry import lowers
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


def operand_or_number(call: Call, name: str) -> ExprArg:
    value: Arg = call.args[name]
    return value if isinstance(value, Operand | Expr) else call.number_or_complex(name)


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
