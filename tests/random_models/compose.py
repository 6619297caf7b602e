"""Random models: a hypothesis strategy that composes lines of the operator table.

Every line is run as soon as it is drawn, so that shapes, dtypes and aliases are those of PyTorch,
and a line that PyTorch refuses costs microseconds. Where dims are dynamic it is run at both sizes.

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
from arguments import NCNN_SHAPES, NCNN_VALUES, SHAPES, VALUES, Arguments, arguments
from hypothesis import strategies as st
from nests import LEAVES, nested, spelled
from operator_table import NCNN_LACKS, TABLE
from placeholders import KINDS, SUBJECTS
from torch import nn
from torch.utils import _pytree as pytree

import converter.ncnn  # noqa: F401, registers RULES
from converter.ncnn.registry import RULES

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

REFUSALS = (
    *(RuntimeError, IndexError, ValueError, TypeError, NotImplementedError, ArithmeticError),
    AssertionError,
)
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
    return {inputs}


def others():
    torch.manual_seed(0)
    return {others}
'''


@dataclass(frozen=True)
class RandomModel:
    """The text of a model: `members` by name, `lines` of forward and its result."""

    arguments: Arguments
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
            arguments=", ".join(self.arguments.inputs),
            lines="\n        ".join(self.lines),
            result=self.result,
            inputs=spelled(tuple(self.arguments.inputs.values())),
            others=spelled(tuple(self.arguments.others.values())),
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
        self.members: dict[str, str] = {}
        self.lines: list[str] = []
        self.tensors: dict[str, torch.Tensor] = {}
        self.held = nn.Module()
        self.scopes: list[dict[str, Any]] = []

    def part(self, number: int) -> None:
        """Make the next choices of another part of the bytes."""
        self.place = number * PART

    def pick(self, options: Sequence[T]) -> T:
        """One of up to 256 options."""
        self.place += 1
        return options[self.choices[self.place - 1] % len(options)]

    def take(self, inputs: Mapping[str, Any]) -> None:
        """Run all lines with these inputs too. Its tensors are what the first are called with."""
        scope = {"torch": torch, "F": F, "nn": nn, "self": self.held}
        torch.manual_seed(0)
        scope |= {name: eval(spelled(nest), scope) for name, nest in inputs.items()}
        if not self.scopes:
            for name in inputs:
                leaves = pytree.tree_leaves_with_path(scope[name])
                self.tensors |= {name + pytree.keystr(path): leaf for path, leaf in leaves}
        self.scopes.append(scope)

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
        value = eval(made, self.scopes[0])
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
        results = [eval(code, scope) for scope in self.scopes]
        if results[0] is None:
            self.lines.append(line)
        elif all(map(fits, results)) and alike(results):
            self.lines.append(f"{self.name(results)} = {line}")

    def name(self, results: Sequence[Any]) -> str:
        """Names for the tensors of a line's results at each size, nested as they are."""
        if isinstance(results[0], torch.Tensor):
            name = f"v{len(self.tensors)}"
            self.tensors[name] = results[0]
            for scope, result in zip(self.scopes, results, strict=True):
                scope[name] = result
            return name
        if results[0] is None:
            return "_"
        names = ", ".join(map(self.name, zip(*results, strict=True)))
        return f"({names},)" if len(results[0]) == 1 else f"({names})"


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


def alike(results: Sequence[Any]) -> bool:
    """Whether what a line gives at each size differs in nothing but sizes."""
    told = [
        (structure, [(leaf.dtype, leaf.dim()) for leaf in leaves if leaf is not None])
        for leaves, structure in map(pytree.tree_flatten, results)
    ]
    return told.count(told[0]) == len(told)


NCNN_FAMILIES = (
    *("arithmetic", "functions", "activations", "reductions", "shape", "indexing", "joining"),
    *(
        "linear",
        "convolution",
        "normalization",
        "weight norm",
        "sizes",
        "pooling",
        "attention",
        "recurrent",
        "writes",
    ),
)


def random_models(target: str = "pnnx") -> st.SearchStrategy[RandomModel]:
    """Models of up to LINES lines. Their results are what no line reads, and some others.

    Models for ncnn take images, sequences and vectors of floats, in batches of one. Most of them do
    not call what ncnn lacks, lest hardly one be converted.
    """
    size = PART * (LINES + 2)
    return st.binary(min_size=size, max_size=size).map(
        composed_for_ncnn if target == "ncnn" else composed
    )


def composed_for_ncnn(choices: bytes) -> RandomModel:
    table = {family: TABLE[family] for family in NCNN_FAMILIES}
    if choices[-1] % 8 < 7:
        table = {family: tuple(filter(expressible, rows)) for family, rows in table.items()}
    return composed(choices, table, NCNN_SHAPES, NCNN_VALUES)


@cache
def lacking() -> set[str]:
    """What ncnn still lacks of the operator table."""
    got = {name for type in RULES for name in (type.partition(".")[2], type.rpartition(".")[2])}
    return set(NCNN_LACKS.split()) - got


def expressible(row: str) -> bool:
    """Whether ncnn may have what a row calls."""
    return not lacking().intersection(re.findall(r"(?:linalg\.)?\w+(?=\()", row))


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
        given = arguments(composer.pick, shapes, values)
        for inputs in filter(None, (given.inputs, given.others)):
            composer.take(inputs)
        for number in range(LINES):
            composer.part(number + 1)
            if composer.pick(EITHER):
                composer.add(table)
    composer.part(LINES + 1)
    return finished(composer, given)


def finished(composer: Composer, given: Arguments) -> RandomModel:
    lines, pick = composer.lines, composer.pick
    names = [name for name in composer.tensors if name.startswith("v")]
    text = "\n".join(lines)
    unread = [name for name in names if len(re.findall(rf"\b{name}\b", text)) == 1]
    also = [pick(names) for _ in range(pick([0, 1, 2]))] if names else []
    results = list(dict.fromkeys([*unread, *also])) or [next(iter(composer.tensors))]
    used = {
        name: made
        for name, made in composer.members.items()
        if re.search(rf"\bself\.{name}\b", text)
    }
    nest = results[0] if len(results) == 1 and pick(EITHER) else nested(pick, results[:LEAVES])
    return RandomModel(given, used, lines or ["pass"], spelled(nest))
