"""What the placeholders of the operator table stand for: one function or table row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

import torch

T = TypeVar("T")


class Context(Protocol):
    """What drawing a placeholder may use: the tensor that the row is about, the model so far."""

    subject: torch.Tensor

    def pick(self, options: Sequence[T]) -> T: ...
    def choose(self, fits: Callable[[torch.Tensor], bool]) -> str | None: ...
    def member(self, made: str) -> str: ...


Fits = Callable[[torch.Tensor], bool]

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool")


def ranked(low: int, high: int, *also: Fits) -> Fits:
    """Floating tensors that have so many dims."""
    return lambda x: (
        x.is_floating_point() and low <= x.dim() <= high and all(fits(x) for fits in also)
    )


def is_single(x: torch.Tensor) -> bool:
    """Weights are in single precision, and operators on them need the same of their input."""
    return x.dtype == torch.float32


SUBJECTS: Mapping[str, Fits] = {
    "any": lambda x: True,
    "number": lambda x: x.dtype != torch.bool and not x.is_complex(),
    "float": lambda x: x.is_floating_point(),
    "int": lambda x: not (x.is_floating_point() or x.is_complex() or x.dtype == torch.bool),
    "bool": lambda x: x.dtype == torch.bool,
    "complex": lambda x: x.is_complex(),
    "single": ranked(1, 5, is_single),
    "vector": ranked(1, 1),
    "floats1": ranked(1, 1, is_single),
    "table": ranked(2, 2, is_single),
    "matrix": ranked(2, 4),
    "sequence": ranked(3, 3, is_single),
    "signal": ranked(3, 3, is_single),
    "image": ranked(4, 4, is_single),
    "volume": ranked(5, 5, is_single),
    "heads": ranked(3, 4, is_single),
    "indices": lambda x: (
        x.dtype == torch.int64 and 0 < x.numel() < 100 and bool(x.min() >= 0 and x.max() < 10)
    ),
    "writable": lambda x: x.is_floating_point() and not x.requires_grad,
}
"""Which tensors a row can be about."""

KINDS: dict[str, Callable[[Context], str]] = {}
"""How each other placeholder is drawn, by name."""


def kind(function: Callable[[Context], str]) -> Callable[[Context], str]:
    KINDS[function.__name__] = function
    return function


def one_of(**choices: str) -> None:
    """Kinds that are one of a few words."""
    for name, words in choices.items():
        KINDS[name] = lambda context, words=words: context.pick(words.split())


one_of(
    scalar="2 1 0.5 -1 0 3 1.5 -2.25 0.1",
    count="2 1 3",
    exponent="2 0.5 3 -1 1 0",
    fraction="0.5 0.25 0.1",
    low="-1 -0.5 0",
    high="1 0.5 6",
    width="4 1 3 6",
    kernel="3 1 2",
    pad="1 0",
    offset="0 1 -1",
    weightdim="0 1 -1 -2 None",
    flag="True False",
    rounding='"floor" "trunc" None',
    mode='"reflect" "replicate" "circular"',
    nonlinearity='"tanh" "relu"',
    bag='"mean" "sum" "max"',
    dtype=" ".join(f"torch.{name}" for name in DTYPES),
)


def integer(context: Context, low: int, high: int) -> int:
    return context.pick(range(low, high + 1))


def several(context: Context, options: Sequence[T]) -> list[T]:
    """One or more of them, each once, in any order."""
    left = list(options)
    count = integer(context, 1, len(left))
    return [left.pop(integer(context, 0, len(left) - 1)) for _ in range(count)]


def permuted(context: Context, count: int) -> str:
    left = list(range(count))
    return str([left.pop(integer(context, 0, len(left) - 1)) for _ in range(count)])


# --- dims


@kind
def dim(context: Context) -> str:
    rank = max(context.subject.dim(), 1)
    return str(integer(context, -rank, rank - 1))


@kind
def newdim(context: Context) -> str:
    rank = context.subject.dim()
    return str(integer(context, -rank - 1, rank))


@kind
def dims(context: Context) -> str:
    rank = max(context.subject.dim(), 1)
    first = context.pick([0, -rank])
    return str(tuple(dim + first for dim in several(context, range(rank))))


@kind
def order(context: Context) -> str:
    return permuted(context, context.subject.dim())


# --- sizes


@kind
def sizes(context: Context) -> str:
    """A factorization of the number of elements, one factor perhaps left to PyTorch."""
    rest, found = context.subject.numel(), []
    for _ in range(integer(context, 0, 3)):
        divisors = [n for n in range(1, rest + 1) if rest % n == 0]
        found.append(context.pick(divisors) if divisors else 0)
        rest //= found[-1] or 1
    found.append(rest)
    if integer(context, 0, 1):
        found[integer(context, 0, len(found) - 1)] = -1
    return str(tuple(found))


@kind
def expanded(context: Context) -> str:
    shape = [integer(context, 1, 3) if size == 1 else size for size in context.subject.shape]
    return str((*([2] * integer(context, 0, 1)), *shape))


@kind
def repeats(context: Context) -> str:
    rank = context.subject.dim() + integer(context, 0, 1)
    return str(tuple(integer(context, 1, 2) for _ in range(rank)))


@kind
def padding(context: Context) -> str:
    dims = integer(context, 1, max(min(context.subject.dim(), 3), 1))
    return str(tuple(integer(context, -1, 2) for _ in range(2 * dims)))


# --- indices


@kind
def index(context: Context) -> str:
    """Of any dim: -1 and 0 always exist."""
    return str(integer(context, -1, 1))


@kind
def subscript(context: Context) -> str:
    """Indices, slices, None and an ellipsis."""
    words = ["0", "-1", "1", ":", "1:", ":-1", "::2", "-2:", "None", "...", "1:2", ":1", "2:1"]
    count = integer(context, 1, max(context.subject.dim(), 1))
    return ", ".join(context.pick(words) for _ in range(count))


@kind
def integers(context: Context) -> str:
    """A stored tensor of indices."""
    words = ["[0, 0]", "[0]", "[-1, 0]", "[[0], [-1]]", "[1, 0, 1]"]
    return context.member(f"torch.tensor({context.pick(words)})")


# --- other tensors


@kind
def like(context: Context) -> str:
    """A tensor that broadcasts with the subject, whatever its dtype."""
    shape = context.subject.shape

    def fits(x: torch.Tensor) -> bool:
        pairs = zip(reversed(shape), reversed(x.shape), strict=False)
        return not x.is_complex() and all(a == b or 1 in (a, b) for a, b in pairs)

    return context.choose(fits) or context.member(f"torch.randn({tuple(shape[-1:])})")


@kind
def same(context: Context) -> str:
    """A tensor of the subject's shape and dtype, which may be the subject itself."""
    subject = context.subject
    found = context.choose(lambda x: (x.shape, x.dtype) == (subject.shape, subject.dtype))
    assert found is not None
    return found


@kind
def mask(context: Context) -> str:
    shape = context.subject.shape
    stored = f"torch.rand({tuple(shape)}) > 0.5"
    return context.choose(lambda x: x.dtype == torch.bool and x.shape == shape) or context.member(
        stored
    )


# --- sizes of weights, and weights


@kind
def channels(context: Context) -> str:
    return str(context.subject.shape[1])


@kind
def first(context: Context) -> str:
    return str(context.subject.shape[0])


@kind
def last(context: Context) -> str:
    """A norm of one value is nothing but rounding."""
    if context.subject.shape[-1] == 1:
        raise ValueError("one feature")
    return str(context.subject.shape[-1])


def weight(**shapes: Callable[[torch.Tensor], tuple[int, ...]]) -> None:
    """Kinds that are parameters of shapes that follow from the subject."""
    for name, shape in shapes.items():
        KINDS[name] = lambda context, shape=shape: context.member(
            f"nn.Parameter(torch.randn({shape(context.subject)}))"
        )


weight(
    rows=lambda x: (4, x.shape[-1]),
    rowbias=lambda x: (4,),
    rowof=lambda x: (x.shape[-1],),
    table10=lambda x: (10, 4),
    firsts=lambda x: (x.shape[0], 2, 3),
    state3=lambda x: (1, x.shape[1], 3),
    kernels=lambda x: (4, x.shape[1], 3, 3),
    kernels1=lambda x: (x.shape[1], x.shape[1], 1, 1),
)


@kind
def buffer(context: Context) -> str:
    shape = context.pick(["3", "2, 3", "1, 2, 1", "2, 3, 4, 4", "4, 1"])
    return context.member(f"torch.randn({shape})")


# --- parts of fusions


def modules(**texts: str) -> None:
    """Kinds that are modules of the model; `{C}` and `{F}` are the subject's channels, features."""
    for name, text in texts.items():
        KINDS[name] = lambda context, text=text: context.member(
            text.format(C=channels(context) if "{C}" in text else "", F=last(context))
        )


modules(
    conv4="nn.Conv2d({C}, 4, 3, padding=1)",
    norm4="nn.BatchNorm2d(4)",
    normc="nn.BatchNorm2d({C})",
    linear4="nn.Linear({F}, 4)",
    linear8="nn.Linear({F}, 8)",
)


@kind
def order4(context: Context) -> str:
    return permuted(context, 4)


@kind
def order6(context: Context) -> str:
    return permuted(context, 6)


@kind
def low4(context: Context) -> str:
    return str(integer(context, 1, 4))
