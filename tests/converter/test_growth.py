"""What a conversion takes grows in proportion to the program, whatever its operators form.

Counted are the calls of every function, which are the same on any machine and under any load. A
function that is called much more than twice as often for a program of twice the size walks a graph
as a tree, or goes through all operators for each.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

import pytest
from archives import Archive, meta
from programs import Program, Value, booleans

from converter import convert

SIZE = 20
SIDE = (4, 4, 4)
MORE, SLACK = 2.4, 300
"""How many times as often a function may be called where there is twice as much to do, and how
often it may be called before it counts: for tables that are made once.
"""

BINARY = (
    "add.Tensor",
    "mul.Tensor",
    "div.Tensor",
    "sub.Tensor",
    "maximum.default",
    "atan2.default",
)
UNARY: dict[str, dict[str, Value]] = {
    "relu.default": {},
    "sigmoid.default": {},
    "silu.default": {},
    "exp.default": {},
    "rsqrt.default": {},
    "pow.Tensor_Scalar": {"exponent": 2},
    "add.Tensor": {"other": 0.0},
    "mul.Tensor": {"other": 2.0},
    "clamp.default": {"min": 0.0},
    "softmax.int": {"dim": -1},
    "cumsum.default": {"dim": 0},
    "tril.default": {},
    "clone.default": {},
    "contiguous.default": {},
    "permute.default": {"dims": (1, 0, 2)},
    "transpose.int": {"dim0": 0, "dim1": 1},
    "reshape.default": {"shape": SIDE},
    "expand.default": {"size": SIDE},
    "slice.Tensor": {"dim": 0, "start": 0, "end": 4},
    "flip.default": {"dims": (0,)},
    "roll.default": {"shifts": (1,), "dims": (0,)},
    "pad.default": {"pad": (0, 0)},
    "masked_fill.Scalar": {"mask": "mask", "value": 1.0},
    "add_.Tensor": {"other": 1.0},
}

Step = Callable[[Program, str, str, str], str]
"""Adds an operator of two tensors, whose result has that name."""


def of_two(target: str) -> Step:
    return lambda program, one, other, name: program.call(
        target, name, meta(*SIDE), self=one, other=other
    )


def of_one(target: str, arguments: dict[str, Value]) -> Step:
    return lambda program, one, other, name: program.call(
        target, name, meta(*SIDE), self=one, **arguments
    )


def normalized(program: Program, one: str, other: str, name: str) -> str:
    return program.call("layer_norm.default", name, meta(*SIDE), input=one, normalized_shape=(4,))


def multiplied(program: Program, one: str, other: str, name: str) -> str:
    return program.call("bmm.default", name, meta(*SIDE), self=one, mat2=other)


def chosen(program: Program, one: str, other: str, name: str) -> str:
    return program.call("where.self", name, meta(*SIDE), condition="mask", self=one, other=other)


FAMILIES: list[Step] = [
    *map(of_two, BINARY),
    *(of_one(target, arguments) for target, arguments in UNARY.items()),
    normalized,
    multiplied,
    chosen,
]


def chain(program: Program, step: Step, source: str, name: str, size: int) -> list[str]:
    """Each works on what the one before it made."""
    made = source
    for place in range(size):
        made = step(program, made, source, f"{name}_{place}")
    return [made]


def diamonds(program: Program, step: Step, source: str, name: str, size: int) -> list[str]:
    """Each reads the one before it twice: a tree of them has 2 ** size leaves."""
    made = source
    for place in range(size):
        made = step(program, made, made, f"{name}_{place}")
    return [made]


def braid(program: Program, step: Step, source: str, name: str, size: int) -> list[str]:
    """Each reads the last two."""
    before, made = source, source
    for place in range(size):
        before, made = made, step(program, made, before, f"{name}_{place}")
    return [made]


def fan(program: Program, step: Step, source: str, name: str, size: int) -> list[str]:
    """All read one tensor and are returned."""
    return [step(program, source, source, f"{name}_{place}") for place in range(size)]


def sheaf(program: Program, step: Step, source: str, name: str, size: int) -> list[str]:
    """All read what is different of one tensor, and are joined."""
    made = []
    for place in range(size):
        other = program.call(
            "add.Tensor", f"{name}_{place}_in", meta(*SIDE), self=source, other=place + 1.0
        )
        made.append(step(program, other, source, f"{name}_{place}"))
    joined = program.call("cat.default", f"{name}_cat", meta(4 * size, 4, 4), tensors=made)
    return [joined]


def everything(shape: Callable[..., list[str]], stored: bool, size: int) -> Archive:
    """A program with a part of that shape for each operator, of an input or of a weight."""
    program = Program(x=meta(*SIDE))
    values = bytes(4 * 4 * 4 * 4)
    source = program.weight("w", meta(*SIDE), values) if stored else "x"
    program.call("gt.Scalar", "mask", booleans(*SIDE), self=source, other=0.5)
    results = [program.call("mean.dim", "mean", meta(4, 4, 1), self="x", dim=(-1,), keepdim=True)]
    for place, step in enumerate(FAMILIES):
        own = program.call("clone.default", f"part{place}", meta(*SIDE), self=source)
        results += shape(program, step, own, f"r{place}", size)
    return program.returning(*results)


class TooManyError(Exception):
    """It would take too long."""


def calls(model: Path, most: float) -> Counter[str]:
    """How often each function is called to convert a model. Raises TooManyError."""
    found: Counter[CodeType] = Counter()
    left = most

    def tell(frame: FrameType, event: str, argument: object) -> None:
        nonlocal left
        if event == "call":
            found[frame.f_code] += 1
            left -= 1
            if left < 0:
                sys.setprofile(None)
                raise TooManyError(found.most_common(1))

    sys.setprofile(tell)
    try:
        convert(model)
    finally:
        sys.setprofile(None)
    return Counter(
        {
            f"{code.co_filename}:{code.co_firstlineno} {code.co_qualname}": count
            for code, count in found.items()
        }
    )


@pytest.mark.parametrize("stored", [False, True], ids=["input", "weight"])
@pytest.mark.parametrize("shape", [chain, diamonds, braid, fan, sheaf])
def test_calls_grow_in_proportion(
    shape: Callable[..., list[str]], stored: bool, tmp_path: Path
) -> None:
    one = everything(shape, stored, SIZE).write(tmp_path / "one.pt2")
    two = everything(shape, stored, 2 * SIZE).write(tmp_path / "two.pt2")
    before = calls(one, 5_000_000)
    after = calls(two, MORE * before.total())
    grown = {
        name: (before[name], count)
        for name, count in after.items()
        if count > MORE * before[name] + SLACK
    }
    assert not grown
