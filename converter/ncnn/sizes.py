"""Sizes that are known as the network runs, as ncnn's layers express them: `*(0w,2),0h`.

    expression = 0w | 12 | +(expression,expression) | …

`0w` is the width of the layer's first input, `1n` the batch of its second; sizes are ints, and `//`
cuts off, as C's division does (docs/developer-guide/expression.md of ncnn).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence

from converter.dims import product, simplify
from converter.ir import Dim, Operand, Shape
from converter.ncnn.blob import Blob
from converter.passes.formula import Function, Items, Place, Tree

NAMES = {
    1: ("w",),
    2: ("h", "w"),
    3: ("c", "h", "w"),
    4: ("c", "d", "h", "w"),
}
"""What ncnn calls the dimensions of a blob of each rank, outermost first."""

INFIX = {"add": "+", "sub": "-", "mul": "*", "floor_divide": "//", "remainder": "%"}
SIGNS: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
CALLS = {"max": "Max", "maximum": "Max", "min": "Min", "minimum": "Min"}


def number_of(tree: Tree, inputs: Sequence[Operand]) -> Dim:
    """What a `pnnx.Expression` of sizes is, by symbols. Raises ValueError for what is no int."""
    match tree:
        case int() if not isinstance(tree, bool):
            return tree
        case Function("size", (Place(place), int(dim))):
            shape = inputs[place].shape
            if shape is not None and shape[dim] != "?":
                return shape[dim]
        case Function("int", (inner,)):
            return number_of(inner, inputs)
        case Function("neg", (inner,)):
            return product((-1, number_of(inner, inputs)))
        case Function(name, (left, right)) if name in INFIX:
            one, other = number_of(left, inputs), number_of(right, inputs)
            return simplify(f"({one}){INFIX[name]}({other})", {})
        case Function(name, (left, right)) if name in CALLS:
            one, other = number_of(left, inputs), number_of(right, inputs)
            return simplify(f"{CALLS[name]}({one},{other})", {})
    raise ValueError("depends on more than sizes")


def numbers_of(tree: Tree, inputs: Sequence[Operand]) -> Shape:
    """The same of a list; one number is a list of one."""
    items = tree.items if isinstance(tree, Items) else (tree,)
    return tuple(number_of(item, inputs) for item in items)


class Sizes:
    """Writes sizes for a layer that reads a blob; `read` grows by others where only they tell."""

    def __init__(self, blob: Blob, others: Sequence[Blob]) -> None:
        self.read = [blob]
        self._places: dict[Dim, tuple[Blob, str]] = {}
        for one in (blob, *others):
            if one.values is not None:  # a constant, which may have more dims than layers read
                continue
            for name, dim in zip(NAMES[len(one.dims)], one.dims, strict=True):
                self._places.setdefault(dim, (one, name))
            if one.batch is not None:
                self._places.setdefault(one.count, (one, "n"))

    def write(self, dims: Sequence[Dim]) -> str:
        """Write a list of sizes. Raises ValueError for one that no blob tells."""
        return ",".join(map(self._write, dims))

    def _write(self, dim: Dim) -> str:
        if isinstance(dim, int):
            return str(dim)
        if dim in self._places:
            return self._place(dim)
        return self._tree(ast.parse(dim, mode="eval").body)

    def _place(self, dim: Dim) -> str:
        blob, name = self._places[dim]
        if blob not in self.read:
            self.read.append(blob)
        return f"{self.read.index(blob)}{name}"

    def _tree(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(int(value)):
                return str(value)
            case ast.Name(name) if name in self._places:
                return self._place(name)
            case ast.UnaryOp(ast.USub(), operand):
                return f"neg({self._tree(operand)})"
            case ast.BinOp(left, sign, right) if type(sign) in SIGNS:
                return f"{SIGNS[type(sign)]}({self._tree(left)},{self._tree(right)})"
            case ast.BinOp(left, ast.FloorDiv(), ast.Constant(int(divisor))) if divisor > 0:
                return self._floor_divided(left, divisor)
            case ast.BinOp(left, ast.Mod(), ast.Constant(int(divisor))) if (
                divisor > 0 and is_natural(left)
            ):
                return f"remainder({self._tree(left)},{divisor})"
            case ast.Call(ast.Name("Max" | "Min" as name), [left, right], []):
                return f"{name.lower()}({self._tree(left)},{self._tree(right)})"
        raise ValueError(f"the size {ast.unparse(node)} is not told by what the layer reads")

    def _floor_divided(self, node: ast.expr, divisor: int) -> str:
        """A division that rounds down, of what is not negative, or is not positive."""
        if is_natural(node):
            return f"//({self._tree(node)},{divisor})"
        negated = ast.parse(str(product((-1, ast.unparse(node)))), mode="eval").body
        if is_natural(negated):
            return f"neg(//(+({self._tree(negated)},{divisor - 1}),{divisor}))"
        raise ValueError(f"the size ({ast.unparse(node)})//{divisor} may be rounded up in ncnn")


def is_natural(node: ast.expr) -> bool:
    """Whether an expression of sizes is known not to be negative."""
    least = least_of(node)
    return least is not None and least >= 0


def least_of(node: ast.expr) -> int | None:
    """The least that an expression can be, where that is told: ncnn has no empty blobs."""
    match node:
        case ast.Constant(int(value)):
            return value
        case ast.Name():
            return 1
        case ast.BinOp(left, ast.Sub(), ast.Constant(int(right))):
            least = least_of(left)
            return None if least is None else least - right
        case ast.BinOp(left, ast.Mod(), right):
            return 0 if is_natural(left) and is_natural(right) else None
        case ast.BinOp(left, sign, right) if type(sign) in INCREASING:
            pair = least_of(left), least_of(right)
            if pair[0] is None or pair[1] is None or min(pair[0], pair[1]) < 0:
                return None
            return INCREASING[type(sign)](pair[0], pair[1])
        case ast.BinOp(left, ast.FloorDiv(), ast.Constant(int(divisor))) if divisor > 0:
            least = least_of(left)
            return None if least is None else least // divisor
        case ast.Call(ast.Name("Max" | "Min" as name), arguments, []):
            bounds = [least_of(argument) for argument in arguments]
            told = [bound for bound in bounds if bound is not None]
            if name == "Max":
                return max(told, default=None)
            return min(told) if len(told) == len(bounds) else None
    return None


INCREASING: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Mult: operator.mul,
}
"""What is least where both of its natural operands are."""
