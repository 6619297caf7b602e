"""What a random model's forward takes: tensors, nested or not, of one or two sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nests import Pick, nested
from torch.utils import _pytree as pytree

EITHER = (False, True)

SHAPES = (
    *("1 3 5 6", "1 4 8 8", "1 8 7 4", "2 3 4 5", "3 2 6 6", "1 2 9 3", "2 4 1 1", "1 16 2 2"),
    *("2 3 4", "1 5 8", "3 1 6", "2 6 2", "4 4 4", "1 1 3"),
    *("2 3", "1 8", "4 4", "3 6", "5 1"),
    *("1", "4", "6", "10", "", "0 3", "2 0 3", "1 2 3 4 4", "2 1 2 3 5"),
)
NCNN_SHAPES = (
    *("1 3 5 6", "1 4 8 8", "1 8 7 4", "1 2 9 3", "1 16 2 2"),
    *("1 5 8", "1 4 4", "1 8", "1 3"),
)
VALUES = (
    "torch.randn({shape})",
    "torch.randn({shape})",
    "torch.randn({shape})",
    "torch.randn({shape})",
    "torch.rand({shape})",
    "torch.randint(0, 10, {shape})",
    "torch.randint(-9, 10, {shape}, dtype=torch.int32)",
    "torch.randint(0, 200, {shape}, dtype=torch.uint8)",
    "torch.randn({shape}, dtype=torch.float64)",
    "torch.randn({shape}, dtype=torch.float16)",
    "torch.randn({shape}, dtype=torch.bfloat16)",
    "torch.randn({shape}, dtype=torch.complex64)",
    "torch.rand({shape}) > 0.5",
)
NCNN_VALUES = ("torch.randn({shape})",)

SIZES = ("fixed", "dynamic")
"""What becomes of dims that are exported as dynamic when the program is converted."""

NESTED_FROM = (None, None, 0, 1)
"""The first of the tensors that come in one nest, if any do."""


@dataclass(frozen=True)
class Arguments:
    """Nests of texts of tensors, by argument.

    `others` has other sizes in the dims that are exported as dynamic, and is empty where none are.
    `sizes`: whether those are fixed by the conversion or stay dynamic, one of SIZES.
    """

    inputs: Mapping[str, Any]
    others: Mapping[str, Any]
    sizes: str = ""


def arguments(pick: Pick, shapes: Sequence[str], values: Sequence[str]) -> Arguments:
    """One to three tensors; the later ones often broadcast with the first.

    All dims of one size are dynamic now and then: whatever broadcasts goes on to do so.
    """
    drawn = shapes_of(pick, shapes)
    texts = [pick(values) for _ in drawn]
    sizes = sorted({size for shape in drawn for size in shape if size > 1})
    nests = grouped(pick, list(range(len(drawn))))

    def made(shapes: Sequence[Sequence[int]]) -> dict[str, Any]:
        leaves = [
            text.format(shape=tuple(shape)) for text, shape in zip(texts, shapes, strict=True)
        ]
        return {
            f"x{at}": pytree.tree_map(leaves.__getitem__, nest) for at, nest in enumerate(nests)
        }

    if not (sizes and pick(EITHER)):
        return Arguments(made(drawn), {})
    size = pick(sizes)
    other = pick([size + 1, size + 2, 2 * size])
    resized = [[other if each == size else each for each in shape] for shape in drawn]
    return Arguments(made(drawn), made(resized), pick(SIZES))


def shapes_of(pick: Pick, shapes: Sequence[str]) -> list[list[int]]:
    first = [int(size) for size in pick(shapes).split()]
    drawn = [first]
    for _ in range(pick([0, 1, 2])):
        shape = first
        if pick(EITHER):
            cut = pick(range(len(first) + 1))
            shape = [1 if pick(EITHER) else size for size in first[cut:]]
        elif pick(EITHER):
            shape = [int(size) for size in pick(shapes).split()]
        drawn.append(shape)
    return drawn


def grouped(pick: Pick, tensors: list[int]) -> list[Any]:
    """The arguments of forward: one for each tensor, or the last of them in a nest."""
    start = pick(NESTED_FROM)
    if start is None or start == len(tensors):
        return tensors
    return [*tensors[:start], nested(pick, tensors[start:])]
