"""Numbers that a program works out as it runs: `x.shape[1] // 2`, `.item()`.

They are arguments of ATen calls (`Expr`), and become `pnnx.Expression`s where those are emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from converter.aten.expr import Expr, ExprArg, expr, sizes_of
from converter.ir import Operand

FUNCTIONS = {
    "_sym_sqrt": "sqrt",
    "abs": "abs",
    "add": "add",
    "and_": "and",
    "ceil": "ceil",
    "eq": "eq",
    "floor": "floor",
    "floordiv": "floor_divide",
    "ge": "ge",
    "gt": "gt",
    "le": "le",
    "lshift": "lshift",
    "lt": "lt",
    "mod": "remainder",
    "mul": "mul",
    "ne": "ne",
    "neg": "neg",
    "or_": "or",
    "pow": "pow",
    "round": "round",
    "rshift": "rshift",
    "sub": "sub",
    "sym_float": "float",
    "sym_int": "int",
    "sym_max": "max",
    "sym_min": "min",
    "sym_not": "logical_not",
    "truediv": "div",
    "trunc": "trunc",
}
"""Python's and torch's functions of numbers, by their names in the file, and the expressions'."""


def number(target: str, args: Sequence[ExprArg]) -> ExprArg:
    """What a call makes of numbers and tensors. Raises KeyError for one that expressions lack."""
    if target.startswith("torch.ops.aten."):
        return ATEN[target.split(".")[3]](*args)
    name = target.rpartition(".")[2]
    if name == "pos":
        return args[0]
    if name == "sym_ite":
        return chosen(*args)
    return expr(FUNCTIONS[name], *args)


def chosen(condition: ExprArg, one: ExprArg, other: ExprArg) -> Expr:
    """`one if condition else other` of ints, of which expressions have only the arithmetic."""
    flag = expr("int", condition)
    return expr("add", expr("mul", flag, one), expr("mul", expr("sub", 1, flag), other))


def size(tensor: ExprArg, dim: ExprArg) -> ExprArg:
    assert isinstance(tensor, Operand)
    assert isinstance(dim, int)
    return sizes_of(tensor)[dim]


def count(tensor: ExprArg) -> ExprArg:
    """The number of a tensor's elements."""
    assert isinstance(tensor, Operand)
    product: ExprArg = 1
    for one in sizes_of(tensor):
        product = one if product == 1 else expr("mul", product, one)
    return product


def item(tensor: ExprArg) -> Expr:
    """The number that a tensor holds."""
    assert isinstance(tensor, Operand)
    return expr("float" if tensor.dtype in ("f64", "f32", "f16", "bf16") else "int", tensor)


ATEN: Mapping[str, Callable[..., ExprArg]] = {
    "_local_scalar_dense": item,
    "item": item,
    "sym_numel": count,
    "sym_size": size,
}
