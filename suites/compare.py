"""Whether what a converted model returns is what the model returned.

Structure, dtype, shape and the places of NaNs must be the same. How far values may be apart is a
rule, and there are three: `exact` for the pnnx target, `arithmetic` where a conversion declares
that it changed the order of floating-point operations, `ncnn` for the ncnn target. A case can
replace them with a tolerance of its own, and a reason.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Iterator
from typing import Any

import torch

from suites.case import Tolerance

Rule = Callable[[torch.Tensor], Tolerance]
"""What may be between the values of one eager output and of its converted counterpart."""

HALVES = (torch.float16, torch.bfloat16)


class Mismatch(Exception):  # noqa: N818 (it is a finding, and no error of the program)
    """Eager and converted differ. The text says which output, how far, where, and what each is."""


def exact(expected: torch.Tensor) -> Tolerance:
    """The same bits: the generated module calls the same kernels on the same numbers."""
    return Tolerance(0.0, 0.0, "the same kernels on the same numbers")


def arithmetic(expected: torch.Tensor) -> Tolerance:
    """1024 epsilons of each value's dtype, and 64 of the largest value; fewer of 16 bits.

    Folding a batch-norm into a convolution rounds every weight once more, so that a sum of n
    products is off by about sqrt(n) epsilons of its terms: 64 for the 4608 terms of a 3×3
    convolution over 512 channels. A value that is small because its terms cancel has the error of
    its large terms.

    8 epsilons of both for fp16 and bf16, whose sums PyTorch's kernels make in single precision: it
    is the results of a few operators that round. 1024 of theirs are as much as the value.
    """
    if not _is_inexact(expected.dtype):
        return exact(expected)
    epsilon = torch.finfo(expected.dtype).eps
    if expected.dtype in HALVES:
        return Tolerance(8 * epsilon, 8 * epsilon * _largest(expected), "rounded elsewhere")
    return Tolerance(1024 * epsilon, 64 * epsilon * _largest(expected), "another order of rounding")


def ncnn(expected: torch.Tensor) -> Tolerance:
    """1e-3 of each value and 5e-4 of the largest: single precision through other algorithms.

    ncnn has its own kernels, Winograd convolutions and polynomials for exp and tanh among them. The
    convolutions of a resnet18 add up to 2e-4 of the largest value. What PyTorch computes in double
    precision ncnn computes in single precision too.

    Of fp16 and bf16 it is PyTorch that is coarser: it rounds the result of each operator, ncnn only
    the last. Of 79 small networks, in either, at least 74 differ by up to 1.1 epsilons of the
    largest value, and 77 by up to 4.3: 4 are allowed. The weights are the same numbers for both, as
    trials convert with fp16=0; that fp16=1 rounds each by 5e-4 of itself is allowed for by no rule.
    """
    if not _is_inexact(expected.dtype):
        return exact(expected)
    epsilon = torch.finfo(expected.dtype).eps
    if expected.dtype in HALVES:
        return Tolerance(epsilon, 4 * epsilon * _largest(expected), "eager rounds in 16 bits")
    return Tolerance(1e-3, 5e-4 * _largest(expected), "other kernels in fp32")


def rule_of(target: str, arithmetic_changed: bool, tolerance: Tolerance | None = None) -> Rule:
    """The rule for results on a target, unless they have a tolerance of their own."""
    if tolerance is not None:
        return lambda expected: tolerance
    if target == "ncnn":
        return ncnn
    return arithmetic if arithmetic_changed else exact


def compare(expected: Any, actual: Any, rule: Rule) -> None:
    """Raise Mismatch where `actual` is not `expected`, of any nest of tensors and plain values."""
    for name, left, right in _pairs(expected, actual, "output"):
        if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
            _compare(name, left.detach().cpu(), right.detach().cpu(), rule)
        elif type(left) is not type(right) or left != right:
            raise Mismatch(f"{name}: eager is {_told(left)}, converted is {_told(right)}")


def flat(nest: Any) -> list[Any]:
    """The leaves of a nest as ncnn returns them: one after another, no tensor without dims."""
    nest = _plain(nest)
    if isinstance(nest, torch.Tensor):
        return [nest.reshape(1) if nest.dim() == 0 else nest]
    if isinstance(nest, dict):
        nest = list(nest.values())
    if not isinstance(nest, tuple | list):
        return [nest]
    return [leaf for each in nest for leaf in flat(each)]


def _pairs(left: Any, right: Any, name: str) -> Iterator[tuple[str, Any, Any]]:
    """The leaves of two nests side by side. A named tuple is a tuple, a model's output a dict."""
    left = _plain(left, right) if isinstance(right, dict) else left
    for kind in (tuple, list, dict):
        if not (isinstance(left, kind) and isinstance(right, kind)):
            continue
        keys = list(left) if kind is dict else range(len(left))
        if keys != (list(right) if kind is dict else range(len(right))):
            raise Mismatch(f"{name}: eager is {_told(left)}, converted is {_told(right)}")
        for key in keys:
            yield from _pairs(left[key], right[key], f"{name}[{key!r}]")
        return
    yield name, left, right


def _plain(nest: Any, kept: Container[str] = ()) -> Any:
    """A dataclass of eager's as the dict of its fields: generated code knows none of its classes.

    torch.export leaves fields out that are None, unless it is told to keep them.
    """
    if isinstance(nest, dict | type) or not dataclasses.is_dataclass(nest):
        return nest
    fields = {field.name: getattr(nest, field.name) for field in dataclasses.fields(nest)}
    return {name: value for name, value in fields.items() if value is not None or name in kept}


def _compare(name: str, expected: torch.Tensor, actual: torch.Tensor, rule: Rule) -> None:
    if (expected.dtype, expected.shape) != (actual.dtype, actual.shape):
        raise Mismatch(f"{name}: eager is {_told(expected)}, converted is {_told(actual)}")
    if torch.equal(expected, actual):
        return
    left, right = _wide(expected), _wide(actual)
    nans, others = left.isnan(), right.isnan()
    if not torch.equal(nans, others):
        counts = f"{int(nans.sum())} in eager, {int(others.sum())} in converted"
        place = _place(int((nans != others).flatten().int().argmax()), nans)
        raise Mismatch(
            f"{name}: other values are NaN: {counts}, first at {place}: eager "
            f"{expected[place].item():.9g}, converted {actual[place].item():.9g}; {_told(expected)}"
        )
    tolerance = rule(expected)
    # Compared as they are: integers beyond 2**53 are not themselves in double precision.
    beyond = (expected != actual) & ~nans
    distance = (left - right).abs().masked_fill(~beyond, 0)
    distance = distance.nan_to_num(nan=torch.inf, posinf=torch.inf)
    if tolerance.rtol or tolerance.atol:
        beyond &= distance > tolerance.atol + tolerance.rtol * left.abs().nan_to_num(posinf=0)
    if beyond.any():
        raise Mismatch(_difference(name, expected, actual, distance, beyond, tolerance))


def _difference(
    name: str,
    expected: torch.Tensor,
    actual: torch.Tensor,
    distance: torch.Tensor,
    beyond: torch.Tensor,
    tolerance: Tolerance,
) -> str:
    worst = int(distance.masked_fill(~beyond, -1).argmax())
    place = _place(worst, distance)
    relative = (distance / _wide(expected).abs())[beyond].max().item()
    return (
        f"{name}: {int(beyond.sum())} of {expected.numel()} values differ, at most by "
        f"{distance.flatten()[worst].item():.3g} (relative {relative:.3g}), at {place}: "
        f"eager {expected[place].item():.9g}, converted {actual[place].item():.9g}; "
        f"{_told(expected)}, allowed is {tolerance.rtol:.3g} of a value + {tolerance.atol:.3g}"
    )


def _place(flat: int, tensor: torch.Tensor) -> tuple[int, ...]:
    """The indices of an element that is counted row by row."""
    return tuple(int(at) for at in torch.unravel_index(torch.tensor(flat), tensor.shape))


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    """The values in double precision, so that differences are not rounded."""
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _is_inexact(dtype: torch.dtype) -> bool:
    return bool(dtype.is_floating_point or dtype.is_complex)


def _largest(tensor: torch.Tensor) -> float:
    """The largest finite magnitude."""
    wide = _wide(tensor).abs()
    finite = wide[wide.isfinite()]
    return finite.max().item() if finite.numel() else 0.0


def _told(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
    if isinstance(value, dict):
        return f"a dict of {len(value)} ({', '.join(map(str, value))})"[:200]
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    return f"{type(value).__name__} {value!r}"[:200]
