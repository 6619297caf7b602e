"""Numbers that a program works out as it runs: `x.shape[1] // 2`, `.item()`.

They are arguments of ATen calls (`Expr`), and become `pnnx.Expression`s where those are emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from converter.archive.program import Body, Node
from converter.archive.values import SymRef, Value
from converter.aten.bind import bind
from converter.aten.call import FIX, Arg
from converter.aten.expr import ITSELF, Expr, ExprArg, expr, sizes_of
from converter.aten.schema_table import schema
from converter.errors import UnsupportedError
from converter.ir import Operand
from converter.symbols import Symbols, unknown


class Numbers:
    """The numbers of a program by name: those that the shapes decide, and how the others come."""

    def __init__(self, body: Body, symbols: Symbols) -> None:
        self._body = body
        self._symbols = symbols
        self._found: dict[str, ExprArg | UnsupportedError] = {}

    def given(self, name: str, operand: Operand) -> None:
        """Name a number that the caller passes."""
        self._found[name] = expr(ITSELF, operand)

    def settle(self, node: Node, argument: Callable[[Value, Node], Arg]) -> None:
        """Note how a number is worked out that sizes or tensors decide as the model runs.

        `argument` gives a node's argument. What cannot be worked out is an error once it is read.
        """
        for made in node.outputs:
            if not isinstance(made, SymRef):
                continue
            if self._symbols.number(self._body.symbols[made.name]) is not None:
                continue
            try:
                args = [scalar(argument(value, node), node) for value in given(node)]
                self._found[made.name] = number(node.target, args)
            except UnsupportedError as error:
                self._found[made.name] = error.located(node.where)
            except KeyError:
                self._found[made.name] = UnsupportedError(
                    f"cannot convert {node.target}: expressions of sizes do not have it",
                    where=node.where,
                    mend=FIX,
                )

    def read(self, name: str) -> ExprArg:
        """A number, or how it is worked out as the model runs. Raises UnsupportedError."""
        expression = self._body.symbols[name]
        value = self._symbols.number(expression)
        if value is not None:
            return value
        found = self._found.get(name) or unknown(str(expression))
        if isinstance(found, UnsupportedError):
            raise found
        return found


def given(node: Node) -> list[Value]:
    """What a call takes, in order; PyTorch's operators have a schema that tells."""
    op = schema(node.target)
    if op is None or op.is_python:
        return [value for _, value in node.inputs]
    return list(bind(node, op).values())


def scalar(argument: Arg, node: Node) -> ExprArg:
    """An argument of a function of numbers."""
    if isinstance(argument, tuple):
        raise UnsupportedError(f"cannot convert {node.target} of {argument!r}")
    return argument


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
