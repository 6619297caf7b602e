"""Random models: a hypothesis strategy that composes lines of the operator table.

Every line is run as soon as it is drawn, so that shapes, dtypes and aliases are those of PyTorch,
and a line that PyTorch refuses costs microseconds.

All choices are made of one string of bytes, each line's of its own part of it: hypothesis draws it
evenly, and makes it smaller where a model fails. A part that begins with an even byte is no line.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from operator_table import TABLE
from placeholders import KINDS, SUBJECTS
from torch import nn

PLACEHOLDER = re.compile(r"\{(\w*)(?::(\w+))?\}")
LINES = 16
"""Half of them are left out, and what PyTorch refuses."""

PART = 48
"""Bytes for the choices of a line: a row has fewer placeholders."""

EITHER = (False, True)
T = TypeVar("T")

ELEMENTS = 4000
"""Larger tensors are not kept: they would make the model slow and show nothing more."""

LARGE = 1e4
"""Larger values are not kept: what overflows hides what differs."""

JUMPS = re.compile(r"//|%|>|floor|ceil|round|trunc|frac|sign|sgn|mod|remainder|threshold|shrink")
"""Functions of floats that jump. Others that do have results that are no floats."""

REFUSALS = (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError, ArithmeticError)
"""What PyTorch raises where a line does not fit its tensors."""

SOURCE = '''\
"""A random model; its inputs are `inputs()`."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1){members}

    def forward(self, {arguments}):
        {lines}
        return {result}


def inputs():
    torch.manual_seed(0)
    return ({inputs},)
'''


@dataclass(frozen=True)
class RandomModel:
    """The text of a model: `inputs` and `members` by name, `lines` of forward and its result.

    `steady`: a last bit that differs makes no large difference, of single precision all along.
    """

    inputs: Mapping[str, str]
    members: Mapping[str, str]
    lines: Sequence[str]
    result: str
    steady: bool = False

    def source(self) -> str:
        """A module with everything that is needed to see the model fail."""
        made = (
            f"self.register_buffer({name!r}, {text})"
            if text.startswith("torch.") and not text.startswith("torch.nn.")
            else f"self.{name} = {text}"
            for name, text in self.members.items()
        )
        return SOURCE.format(
            members="".join(f"\n        {line}" for line in made),
            arguments=", ".join(self.inputs),
            lines="\n        ".join(self.lines),
            result=self.result,
            inputs=", ".join(self.inputs.values()),
        )

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """How hypothesis shows a model that fails: as the module itself."""
        printer.text(self.source())


class Composer:
    """A model so far: its text, and the tensors that its names hold."""

    subject: torch.Tensor

    def __init__(self, choices: bytes) -> None:
        self.choices = choices
        self.place = 0
        self.inputs: dict[str, str] = {}
        self.members: dict[str, str] = {}
        self.lines: list[str] = []
        self.tensors: dict[str, torch.Tensor] = {}
        self.held = nn.Module()
        self.scope: dict[str, Any] = {"torch": torch, "F": F, "nn": nn, "self": self.held}

    def part(self, number: int) -> None:
        """Make the next choices of another part of the bytes."""
        self.place = number * PART

    def pick(self, options: Sequence[T]) -> T:
        """One of up to 256 options."""
        self.place += 1
        return options[self.choices[self.place - 1] % len(options)]

    def keep(self, name: str, tensor: torch.Tensor) -> None:
        self.scope[name] = self.tensors[name] = tensor

    def choose(self, fits: Callable[[torch.Tensor], bool]) -> str | None:
        """A name of a tensor that fits, one of the latest as often as any; None where none does."""
        names = [name for name, tensor in self.tensors.items() if fits(tensor)]
        if not names:
            return None
        names.reverse()
        return self.pick(names[:3] if self.pick(EITHER) else names)

    def member(self, made: str) -> str:
        """A tensor or module of the model that is made so, shared with other lines now and then."""
        alike = [name for name, text in self.members.items() if text == made]
        if alike and self.pick(EITHER):
            return f"self.{alike[0]}"
        name = f"m{len(self.members)}"
        value = eval(made, self.scope)
        setattr(self.held, name, value.eval() if isinstance(value, nn.Module) else value)
        self.members[name] = made
        return f"self.{name}"

    def add(self, table: Mapping[str, Sequence[str]]) -> None:
        """Add a line of the table, unless PyTorch refuses it."""
        known = {kind for kind, fits in SUBJECTS.items() if any(map(fits, self.tensors.values()))}
        families = {
            family: [row for row in rows if subject(row)[1] in (*known, "")]
            for family, rows in table.items()
        }
        row = self.pick(self.pick([rows for rows in families.values() if rows]))
        try:
            self.run(self.fill(row))
        except REFUSALS:
            return  # what is left of it are members that nothing uses

    def fill(self, row: str) -> str:
        """A row with its placeholders drawn."""
        made, arrow, arguments = row.rpartition(" <- ")
        name, kind = subject(row)
        bound: dict[str, str] = {}
        if kind:
            found = self.choose(SUBJECTS[kind])
            assert found is not None
            self.subject = self.tensors[found]
            bound[name] = found

        def drawn(match: re.Match[str]) -> str:
            name, kind = match.groups()
            if name in bound and name:
                return bound[name]
            text = KINDS[kind](self)
            bound[name] = text
            return text

        call = PLACEHOLDER.sub(drawn, arguments)
        if not arrow:
            return call
        return f"{self.member(PLACEHOLDER.sub(drawn, made))}({call})"

    def run(self, line: str) -> None:
        """Run a line and keep its results, unless they are beyond bounds. Raises REFUSALS."""
        try:
            code = compile(line, "line", "eval")
        except SyntaxError:
            code = compile(line, "line", "exec")
        result = eval(code, self.scope)
        if result is None:
            self.lines.append(line)
        elif fits(result):
            self.lines.append(f"{self.name(result)} = {line}")

    def name(self, result: Any) -> str:
        """Names for the tensors of a result, nested as it is."""
        if isinstance(result, torch.Tensor):
            name = f"v{len(self.tensors)}"
            self.keep(name, result)
            return name
        if result is None:
            return "_"
        names = ", ".join(map(self.name, result))
        return f"({names},)" if len(result) == 1 else f"({names})"


@cache
def subject(row: str) -> tuple[str, str]:
    """The name and the kind of the first tensor of a row, empty where it has none."""
    return next((found for found in PLACEHOLDER.findall(row) if found[1] in SUBJECTS), ("", ""))


def fits(result: Any) -> bool:
    """Whether a result is of tensors that are neither large nor of large values."""
    if isinstance(result, tuple | list):
        return 0 < len(result) <= 8 and all(map(fits, result))
    if result is None:
        return True
    if not isinstance(result, torch.Tensor) or result.numel() > ELEMENTS:
        return False
    if not (result.is_floating_point() or result.is_complex()):
        return True
    return bool((result.abs() <= LARGE).float().mean() > 0.9) if result.numel() else True


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


def add_inputs(composer: Composer, shapes: Sequence[str], values: Sequence[str]) -> None:
    """One to three inputs; the later ones often broadcast with the first."""
    pick = composer.pick
    first = [int(size) for size in pick(shapes).split()]
    for at in range(pick([1, 2, 3])):
        shape = first
        if at and pick(EITHER):
            cut = pick(range(len(first) + 1))
            shape = [1 if pick(EITHER) else size for size in first[cut:]]
        elif at and pick(EITHER):
            shape = [int(size) for size in pick(shapes).split()]
        composer.inputs[f"x{at}"] = pick(values).format(shape=tuple(shape))
    torch.manual_seed(0)
    for name, text in composer.inputs.items():
        composer.keep(name, eval(text, composer.scope))


NCNN_FAMILIES = (
    *("arithmetic", "functions", "activations", "reductions", "shape", "indexing", "joining"),
    *("linear", "convolution", "normalization", "pooling", "attention", "recurrent", "writes"),
)


def random_models(target: str = "pnnx") -> st.SearchStrategy[RandomModel]:
    """Models of up to LINES lines. Their results are what no line reads, and some others.

    Models for ncnn take images, sequences and vectors of floats, in batches of one.
    """
    size = PART * (LINES + 2)
    return st.binary(min_size=size, max_size=size).map(
        composed_for_ncnn if target == "ncnn" else composed
    )


def composed_for_ncnn(choices: bytes) -> RandomModel:
    table = {family: TABLE[family] for family in NCNN_FAMILIES}
    return composed(choices, table, NCNN_SHAPES, ["torch.randn({shape})"])


def composed(
    choices: bytes,
    table: Mapping[str, Sequence[str]] = TABLE,
    shapes: Sequence[str] = SHAPES,
    values: Sequence[str] = VALUES,
) -> RandomModel:
    """The model of these bytes: a part for the inputs, one for each line, one for the results."""
    composer = Composer(choices)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        add_inputs(composer, shapes, values)
        for number in range(LINES):
            composer.part(number + 1)
            if composer.pick(EITHER):
                composer.add(table)
    composer.part(LINES + 1)
    return finished(composer)


def finished(composer: Composer) -> RandomModel:
    lines = composer.lines
    names = [name for name in composer.tensors if name not in composer.inputs]
    text = "\n".join(lines)
    unread = [name for name in names if len(re.findall(rf"\b{name}\b", text)) == 1]
    also = [composer.pick(names) for _ in range(composer.pick([0, 1, 2]))] if names else []
    results = list(dict.fromkeys([*unread, *also])) or [next(iter(composer.inputs))]
    used = {
        name: made
        for name, made in composer.members.items()
        if re.search(rf"\bself\.{name}\b", text)
    }
    result = results[0] if len(results) == 1 else f"({', '.join(results)})"
    steady = not JUMPS.search(text) and all(
        composer.tensors[name].dtype == torch.float32 for name in names
    )
    return RandomModel(composer.inputs, used, lines or ["pass"], result, steady)
