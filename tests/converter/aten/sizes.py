"""Convert a model whose dims are dynamic once, and compare it with eager at several sizes.

    check(Model(), [(2, 8), (4,)], [(3, 5), (4,)], [(1, 7), (4,)])

The first sizes are those of the export; dims in which others differ are dynamic. Where eager and
converted differ, the message names the sizes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import torch
from equality import decompositions, load
from torch import nn
from torch.export import Dim

import converter
from suites.compare import Rule, arithmetic, compare, exact

EXACT: Mapping[int, Rule] = {1: exact}
LEVELS: Mapping[int, Rule] = {0: exact, 1: exact, 2: arithmetic}
"""How exact each optlevel is."""

Sizes = Sequence[tuple[int, ...]]
"""The shape of each input, or a number for one that is none."""


def auto(shapes: Sequence[Sizes]) -> tuple[Any, ...]:
    """Ask torch.export for the dims in which the shapes differ."""
    dims = []
    for same in zip(*shapes, strict=True):
        if isinstance(same[0], int):
            dims.append(Dim.DYNAMIC)
            continue
        axes = [axis for axis in range(len(same[0])) if len({one[axis] for one in same}) > 1]
        dims.append(dict.fromkeys(axes, Dim.DYNAMIC))
    return tuple(dims)


def drawn(shapes: Sizes) -> tuple[Any, ...]:
    torch.manual_seed(0)
    return tuple(shape if isinstance(shape, int) else torch.rand(shape) for shape in shapes)


def export(
    model: nn.Module, shapes: Sequence[Sizes], folder: Path, *, decomposed: bool = False
) -> Path:
    """Save a program that is dynamic in the dims in which the shapes differ."""
    with torch.no_grad():
        program = torch.export.export(
            model.eval(), drawn(shapes[0]), dynamic_shapes=auto(shapes), strict=False
        )
    if decomposed:
        program = program.run_decompositions(decompositions())
    path = folder / "model.pt2"
    torch.export.save(program, path)
    return path


def text(shapes: Sizes) -> str:
    """The value of `inputshape=`."""
    tensors = [shape for shape in shapes if not isinstance(shape, int)]
    return ",".join(f"[{','.join(map(str, shape))}]" for shape in tensors)


def check(
    model: nn.Module,
    *shapes: Sizes,
    rules: Mapping[int, Rule] = EXACT,
    decomposed: bool = False,
) -> str:
    """Check that one conversion computes what eager does at each of the sizes, by the rule of each
    optlevel.

    The program is converted without any shapes, and with the first two. Return the `.pnnx.param`.
    """
    dims = {"inputshape": text(shapes[0]), "inputshape2": text(shapes[1])}
    with tempfile.TemporaryDirectory() as name:
        path = export(model, shapes, Path(name), decomposed=decomposed)
        for (level, rule), given in product(rules.items(), ({}, dims)):
            converter.convert(path, ncnn=False, optlevel=level, **given)
            converted = load(Path(name, "model_pnnx.py"))
            for one in shapes:
                with torch.no_grad():
                    expected, actual = model(*drawn(one)), converted(*drawn(one))
                try:
                    compare(expected, actual, rule)
                except Exception as error:
                    raise AssertionError(f"at {one}, {given}, {level}: {error}") from error
        return Path(name, "model.pnnx.param").read_text()
