"""Sizes that are known as the network runs, as ncnn's layers express them: `*(0w,2),0h`.

    expression = 0w | 12 | +(expression,expression) | …

`0w` is the width of the layer's first input, `1n` the batch of its second; sizes are ints, and `//`
cuts off, as C's division does (docs/developer-guide/expression.md of ncnn).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from converter.dims import product, simplify, symbols_of
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


def telling(dims: Sequence[Dim], blobs: Sequence[Blob], others: Sequence[Blob]) -> list[Blob]:
    """What a layer has to read to know sizes: its own blobs, and those of others that tell more."""
    unknown = frozenset[str]().union(*map(symbols_of, dims))
    read = list(blobs)
    for blob in (*blobs, *others):
        told = unknown & set(blob.shape)
        if told and blob not in read:
            read.append(blob)
        unknown -= told
    return read


def expressions(dims: Sequence[Dim], blobs: Sequence[Blob]) -> str:
    """Write sizes for a layer that reads these blobs. Raises ValueError where they do not tell."""
    sizes: dict[Dim, str] = {}
    for index, blob in enumerate(blobs):
        for name, dim in zip(NAMES[len(blob.dims)], blob.dims, strict=True):
            sizes.setdefault(dim, f"{index}{name}")
        if blob.batch is not None:
            sizes.setdefault(blob.count, f"{index}n")
    return ",".join(_write(dim, sizes) for dim in dims)


def _write(dim: Dim, sizes: Mapping[Dim, str]) -> str:
    if isinstance(dim, int):
        return str(dim)
    return sizes[dim] if dim in sizes else _tree(ast.parse(dim, mode="eval").body, sizes)


def _tree(node: ast.expr, sizes: Mapping[Dim, str]) -> str:
    match node:
        case ast.Constant(int(value)):
            return str(value)
        case ast.Name(name) if name in sizes:
            return sizes[name]
        case ast.UnaryOp(ast.USub(), operand):
            return f"neg({_tree(operand, sizes)})"
        case ast.BinOp(left, ast.Add(), right):
            return f"+({_tree(left, sizes)},{_tree(right, sizes)})"
        case ast.BinOp(left, ast.Sub(), right):
            return f"-({_tree(left, sizes)},{_tree(right, sizes)})"
        case ast.BinOp(left, ast.Mult(), right):
            return f"*({_tree(left, sizes)},{_tree(right, sizes)})"
        case ast.BinOp(left, ast.FloorDiv(), ast.Constant(int(divisor))) if divisor > 0:
            return _floor_divided(left, divisor, sizes)
        case ast.BinOp(left, ast.Mod(), ast.Constant(int(divisor))) if divisor > 0 and is_natural(
            left
        ):
            return f"remainder({_tree(left, sizes)},{divisor})"
        case ast.Call(ast.Name("Max" | "Min" as name), [left, right], []):
            return f"{name.lower()}({_tree(left, sizes)},{_tree(right, sizes)})"
    raise ValueError(f"the size {ast.unparse(node)} is not told by what the layer reads")


def _floor_divided(node: ast.expr, divisor: int, sizes: Mapping[Dim, str]) -> str:
    """A division that rounds down, of what is not negative, or is not positive."""
    if is_natural(node):
        return f"//({_tree(node, sizes)},{divisor})"
    negated = ast.parse(str(product((-1, ast.unparse(node)))), mode="eval").body
    if is_natural(negated):
        return f"neg(//(+({_tree(negated, sizes)},{divisor - 1}),{divisor}))"
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
