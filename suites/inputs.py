"""The input tensors of a case, as generated modules' `test_inference()` draws them too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

from converter.shapes import parse_shapes
from suites.case import Case, Input

INTEGER_BOUND = 10
"""Integers are drawn below this: part of the file format, so indexed tables need this many rows."""


def second_inputs(case: Case) -> list[Input] | None:
    """The specs of inputs in which dynamic dims have other sizes: those of `inputshape2`."""
    if "inputshape2" not in case.options:
        return None
    shapes = parse_shapes(case.options["inputshape2"], "inputshape2")
    return [
        Input(shape.dims, given.dtype) for shape, given in zip(shapes, case.inputs, strict=True)
    ]


def draw(nests: Sequence[Any], device: str = "cpu") -> tuple[Any, ...]:
    """Tensors for each argument of forward, in order, after `torch.manual_seed(0)`.

    Draw anew for every use, as a forward may write to its inputs: the numbers, and the state in
    which the generator is left, are the same each time. They do not depend on the device.
    """
    torch.manual_seed(0)
    return tuple(_draw(nest, device) for nest in nests)


def _draw(nest: Any, device: str) -> Any:
    if isinstance(nest, list | tuple):
        return type(nest)(_draw(each, device) for each in nest)
    if isinstance(nest, dict):
        return {key: _draw(each, device) for key, each in nest.items()}
    return _tensor(nest).to(device)


def _tensor(spec: Input) -> torch.Tensor:
    dtype = getattr(torch, spec.dtype)
    if dtype.is_floating_point or dtype.is_complex:
        return torch.rand(spec.shape, dtype=dtype)
    return torch.randint(INTEGER_BOUND, spec.shape, dtype=dtype)


def save(files: Sequence[str], inputs: tuple[Any, ...]) -> None:
    """Save the tensors of the inputs, nests opened, as `.npy` files in the working directory."""
    for file, tensor in zip(files, tree_leaves(inputs), strict=True):
        np.save(file, tensor.cpu().numpy())
