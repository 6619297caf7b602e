"""Write stored numbers and short lists of indices where they are used, as pnnx does."""

from __future__ import annotations

import math

from converter.ir import Attribute, Graph, Operand, Operator
from converter.passes.base import Pass
from converter.passes.formula import Function, Items, Place, Tree, parse, text
from converter.passes.noops import EXPRESSION

COMPARISONS = ("torch.eq", "torch.ge", "torch.gt", "torch.le", "torch.lt", "torch.ne")
ARGUMENTS = {
    **dict.fromkeys(COMPARISONS, ("other",)),
    "torch.clamp": ("min", "max"),
    "torch.where": ("input", "other"),
}
"""Functions that take numbers in the place of tensors without dims, by the arguments' names."""

LONGEST = 1024
"""Indices that a list may have."""


class InlineNumbers(Pass):
    """Before: `pnnx.Attribute -> s` without dims, `torch.gt x s -> y`.

    After: `torch.gt x -> y other=0.5`; likewise `add(@0,@1)` of x and s becomes `add(@0,0.5)`. A
    tensor without dims and a number of its kind count alike for the type of the result where a
    tensor with dims is of a kind as wide. The kernels are the same but for powers, which stay, as
    do functions that take tensors only.
    """

    def run(self, graph: Graph) -> int:
        arguments = sum(inline_arguments(graph, op) for op in graph.of_type(*ARGUMENTS))
        return arguments + sum(inline_places(graph, op) for op in graph.of_type(EXPRESSION))


def inline_arguments(graph: Graph, op: Operator) -> bool:
    names = ARGUMENTS[op.type]
    tensors = dict(zip(op.input_names, op.inputs, strict=True))
    counted = [operand for name, operand in tensors.items() if name != "condition"]
    numbers = {name: number(tensors[name], counted) for name in names if name in tensors}
    found = {name: value for name, value in numbers.items() if value is not None}
    if not found:
        return False
    op.params |= found
    left = [name for name in tensors if name not in found]
    graph.set_inputs(op, [tensors[name] for name in left], left)
    return True


def inline_places(graph: Graph, op: Operator) -> bool:
    formula = parse(op)
    numbers = [number(operand, op.inputs) for operand in op.inputs]
    if all(value is None for value in numbers) or wants_tensors(formula):
        return False
    left = [place for place, value in enumerate(numbers) if value is None]

    def replaced(tree: Tree) -> Tree:
        if isinstance(tree, Function):
            return Function(tree.name, tuple(map(replaced, tree.arguments)))
        if isinstance(tree, Items):
            return Items(tuple(map(replaced, tree.items)))
        if not isinstance(tree, Place):
            return tree
        value = numbers[tree.number]
        return Place(left.index(tree.number)) if value is None else value

    op.params["expr"] = text(replaced(formula))
    graph.set_inputs(op, [op.inputs[place] for place in left])
    return True


TENSORS_ONLY = frozenset({"atan2", "fmod", "logaddexp", "pow"})


def wants_tensors(tree: Tree) -> bool:
    if not isinstance(tree, Function):
        return False
    return tree.name in TENSORS_ONLY or any(map(wants_tensors, tree.arguments))


def number(operand: Operand, beside: list[Operand]) -> int | float | None:
    """The number that is stored without dims, where a tensor beside it gives the type."""
    stored = operand.stored
    if stored is None or stored.shape or stored.dtype not in ("f32", "f64", "i64"):
        return None
    wide = ("f16", "bf16", "f32", "f64") + (("i32", "i64") if stored.dtype == "i64" else ())
    value: int | float = stored.array().item()
    typed = any(one.shape and one.dtype in wide for one in beside)
    return value if typed and math.isfinite(value) else None


class InlineIndices(Pass):
    """Before: `pnnx.Attribute -> i`, `pnnx.Expression i -> l expr=[None,@0]`, `Tensor.index x l`.

    After: `Tensor.index x -> y expr=[None,[0,2]]`, if every index is a stored list.
    """

    def run(self, graph: Graph) -> int:
        return sum(inline_indices(graph, op) for op in graph.of_type("Tensor.index"))


def inline_indices(graph: Graph, op: Operator) -> bool:
    listed = op.input("expr").producer if op.has_input("expr") else None
    if listed is None or listed.type != EXPRESSION:
        return False
    stored = [operand.stored for operand in listed.inputs]
    lists = [as_list(attribute) for attribute in stored if is_short_list(attribute)]
    if len(lists) < len(stored):
        return False
    items = str(listed.params["expr"]).strip("[]").split(",")
    words = [lists[int(item[1:])] if item.startswith("@") else item for item in items]
    op.params["expr"] = f"[{','.join(words)}]"
    graph.set_inputs(op, [op.input("input")], ["input"])
    return True


def is_short_list(attribute: Attribute | None) -> bool:
    if attribute is None or attribute.dtype not in ("i64", "bool"):
        return False
    return len(attribute.shape) == 1 and 0 < attribute.size <= LONGEST


def as_list(attribute: Attribute | None) -> str:
    assert attribute is not None
    return f"[{','.join(map(str, attribute.array().tolist()))}]"
