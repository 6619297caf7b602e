"""Sizes that are known as the network runs, as ncnn's layers express them: `*(0w,2),0h`.

    expression = 0w | 12 | +(expression,expression) | …

`0w` is the width of the layer's first input, `1n` the batch of its second; sizes are ints, and `//`
cuts off, as C's division does (docs/developer-guide/expression.md of ncnn).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

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
            case ast.BinOp(left, operator, right) if type(operator) in SIGNS:
                return f"{SIGNS[type(operator)]}({self._tree(left)},{self._tree(right)})"
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
        raise ValueError(f"the size {ast.unparse(node)}//{divisor} may be rounded up in ncnn")


def is_natural(node: ast.expr) -> bool:
    """Whether an expression of sizes is known not to be negative."""
    match node:
        case ast.Constant(int(value)):
            return value >= 0
        case ast.Name():
            return True
        case ast.BinOp(left, ast.Add() | ast.Mult() | ast.FloorDiv() | ast.Mod(), right):
            return is_natural(left) and is_natural(right)
        case ast.Call(ast.Name("Max"), arguments, []):
            return any(map(is_natural, arguments))
        case ast.Call(ast.Name("Min"), arguments, []):
            return all(map(is_natural, arguments))
    return False
