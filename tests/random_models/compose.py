"""Random models: a hypothesis strategy that composes lines of the operator table.

Every line is run as soon as it is drawn, so that shapes, dtypes and aliases are those of PyTorch,
and a line that PyTorch refuses costs microseconds and is drawn again.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from operator_table import TABLE
from placeholders import KINDS, SUBJECTS
from torch import nn

PLACEHOLDER = re.compile(r"\{(\w*)(?::(\w+))?\}")
LINES = 12
ELEMENTS = 4000
"""Larger tensors are not kept: they would make the model slow and show nothing more."""

LARGE = 1e4
"""Larger values are not kept: what overflows hides what differs."""

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
    """The text of a model: `inputs` and `members` by name, `lines` of forward and its result."""

    inputs: Mapping[str, str]
    members: Mapping[str, str]
    lines: Sequence[str]
    result: str

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

    def __init__(self, draw: st.DrawFn, inputs: Mapping[str, str]) -> None:
        self.draw = draw
        self.inputs = inputs
        self.members: dict[str, str] = {}
        self.lines: list[str] = []
        self.tensors: dict[str, torch.Tensor] = {}
        self.read: set[str] = set()
        self.held = nn.Module()
        self.scope: dict[str, Any] = {"torch": torch, "F": F, "nn": nn, "self": self.held}
        torch.manual_seed(0)
        for name, text in inputs.items():
            self.keep(name, eval(text, self.scope))

    def keep(self, name: str, tensor: torch.Tensor) -> None:
        self.scope[name] = self.tensors[name] = tensor

    def choose(self, fits: Callable[[torch.Tensor], bool]) -> str | None:
        """A name of a tensor that fits, one of the latest as often as any; None where none does."""
        names = [name for name, tensor in self.tensors.items() if fits(tensor)]
        if not names:
            return None
        names.reverse()
        latest = names[:3] if self.draw(st.booleans()) else names
        return self.draw(st.sampled_from(latest))

    def member(self, made: str) -> str:
        """A tensor or module of the model that is made so, shared with other lines now and then."""
        alike = [name for name, text in self.members.items() if text == made]
        if alike and self.draw(st.booleans()):
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
            family: [row for row in rows if subject(row)[1] in known]
            for family, rows in table.items()
        }
        family = self.draw(st.sampled_from([name for name, rows in families.items() if rows]))
        line = self.fill(self.draw(st.sampled_from(families[family])))
        self.run(line)

    def fill(self, row: str) -> str:
        """A row with its placeholders drawn."""
        made, arrow, arguments = row.rpartition(" <- ")
        name, kind = subject(row)
        found = self.choose(SUBJECTS[kind])
        assert found is not None
        self.subject = self.tensors[found]
        bound = {name: found}

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
        """Run a line and keep its results, unless PyTorch refuses it."""
        try:
            code = compile(line, "line", "eval")
        except SyntaxError:
            code = compile(line, "line", "exec")
        try:
            result = eval(code, self.scope)
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
            return
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
    """The name and the kind of the first tensor of a row."""
    return next(found for found in PLACEHOLDER.findall(row) if found[1] in SUBJECTS)


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
    st.tuples(st.just(1), st.sampled_from([3, 2, 4, 8]), st.integers(4, 9), st.integers(4, 9)),
    st.tuples(st.integers(1, 3), st.sampled_from([3, 2, 4]), st.integers(1, 6), st.integers(1, 6)),
    st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 6)),
    st.tuples(st.integers(1, 4), st.integers(1, 8)),
    st.tuples(st.integers(1, 10)),
    st.just(()),
    st.tuples(st.just(1), st.just(2), st.integers(2, 4), st.integers(2, 4), st.integers(2, 4)),
)
VALUES = (
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


@st.composite
def inputs(draw: st.DrawFn) -> dict[str, str]:
    """One to three inputs; the later ones often broadcast with the first."""
    first = draw(st.one_of(*SHAPES))
    shapes = [first]
    for _ in range(draw(st.integers(0, 2))):
        if draw(st.booleans()):
            cut = draw(st.integers(0, len(first)))
            shapes.append(tuple(1 if draw(st.booleans()) else size for size in first[cut:]))
        else:
            shapes.append(draw(st.sampled_from([first, *map(draw, SHAPES)])))
    return {
        f"x{at}": draw(st.sampled_from(VALUES)).format(shape=shape)
        for at, shape in enumerate(shapes)
    }


@st.composite
def ncnn_inputs(draw: st.DrawFn) -> dict[str, str]:
    """One or two inputs as ncnn knows them: images, sequences and vectors, in batches of one."""
    size = st.integers(1, 9)
    first = draw(
        st.one_of(
            st.tuples(st.just(1), st.sampled_from([3, 2, 4, 8]), size, size),
            st.tuples(st.just(1), size, size),
            st.tuples(st.just(1), size),
        )
    )
    shapes = [first, first] if draw(st.booleans()) else [first]
    return {f"x{at}": f"torch.randn({shape})" for at, shape in enumerate(shapes)}


NCNN_FAMILIES = (
    *("arithmetic", "functions", "activations", "reductions", "shape", "indexing", "joining"),
    *("linear", "convolution", "normalization", "pooling", "attention", "recurrent", "writes"),
)


@st.composite
def random_models(draw: st.DrawFn, target: str = "pnnx") -> RandomModel:
    """A model of up to LINES lines. Its results are what no line reads, and some others.

    Models for ncnn take images and vectors of floats, one at a time.
    """
    ncnn = target == "ncnn"
    table = {family: TABLE[family] for family in NCNN_FAMILIES} if ncnn else TABLE
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        composer = Composer(draw, draw(ncnn_inputs() if ncnn else inputs()))
        wanted = draw(st.integers(1, LINES))
        for _ in range(2 * wanted):
            if len(composer.lines) < wanted:
                composer.add(table)
    return finished(composer)


def finished(composer: Composer) -> RandomModel:
    lines = composer.lines
    names = [name for name in composer.tensors if name not in composer.inputs]
    text = "\n".join(lines)
    unread = [name for name in names if len(re.findall(rf"\b{name}\b", text)) == 1]
    also = composer.draw(st.lists(st.sampled_from(names), max_size=2)) if names else []
    results = list(dict.fromkeys([*unread, *also])) or [next(iter(composer.inputs))]
    used = {
        name: made
        for name, made in composer.members.items()
        if re.search(rf"\bself\.{name}\b", text)
    }
    result = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return RandomModel(composer.inputs, used, lines or ["pass"], result)
