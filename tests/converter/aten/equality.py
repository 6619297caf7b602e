"""Check that expressions of tensors convert, and that the generated `_pnnx.py` computes the same.

    check("x.clamp(min=0)", "torch.add(x, y, alpha=2)", "conv(x)", x=..., y=..., conv=nn.Conv2d(…))

The expressions become one module, which is exported, converted and compared with eager: the same
structure, dtypes, shapes, NaNs, and the same bits. The same is done after `run_decompositions()`,
against the decomposed program, which rounds in its own way. Where something is wrong, the message
lists the expressions that fail.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

import converter
from converter.errors import UnsupportedError
from suites.compare import Rule, arithmetic, compare, exact

Form = Callable[[torch.export.ExportedProgram], torch.export.ExportedProgram]


@cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """The default ones: making this table takes longer than using it."""
    return dict(torch.export.default_decompositions().materialize())


FORMS: Mapping[str, Form] = {
    "as exported": lambda program: program,
    "decomposed": lambda program: program.run_decompositions(decompositions()),
}


class Program(nn.Module):
    """Computes expressions of its inputs, and of the modules and parameters that it holds."""

    def __init__(self, expressions: tuple[str, ...], given: Mapping[str, Any]) -> None:
        super().__init__()
        self.names = [name for name, value in given.items() if is_input(value)]
        self.others = {name: value for name, value in given.items() if not is_input(value)}
        self.held = [n for n, v in self.others.items() if isinstance(v, nn.Module | nn.Parameter)]
        for name in self.held:
            setattr(self, name, self.others[name])
        self.codes = [compile(text, text, "eval") for text in expressions]
        self.eval()

    def forward(self, *tensors: torch.Tensor) -> tuple[Any, ...]:
        scope = {"torch": torch, "F": F, "nn": nn, **self.others}
        scope |= {name: getattr(self, name) for name in self.held}
        scope |= dict(zip(self.names, tensors, strict=True))
        return tuple(plain(eval(code, scope)) for code in self.codes)


def is_input(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter)


def plain(result: Any) -> Any:
    """PyTorch's named tuples are tuples in an exported program."""
    return tuple(map(plain, result)) if isinstance(result, tuple) else result


class How(NamedTuple):
    """How expressions are checked: in which forms, at which optlevel, by which rule of the suites.

    At level 2 some passes round otherwise than the model.
    """

    forms: tuple[str, ...] = tuple(FORMS)
    optlevel: int = 1
    rule: Rule = exact


EXACT = How()

AS_EXPORTED = How(forms=("as exported",))
"""For programs that decompositions round otherwise, or leave as they are."""

ROUNDED = How(rule=arithmetic)
"""For modules that are recovered, and choose between PyTorch's kernels by themselves."""


def check(*expressions: str, how: How = EXACT, **given: Any) -> None:
    """Check expressions of the given tensors, modules and other values.

    Raises AssertionError that lists the expressions that fail, each with the form and the reason.
    """
    failures = failing(expressions, given, how)
    if failures:
        raise AssertionError("\n".join(failures))


def failing(expressions: tuple[str, ...], given: Mapping[str, Any], how: How) -> list[str]:
    """Find the expressions that fail, by halves."""
    reason = attempt(expressions, given, how)
    if reason is None:
        return []
    middle = len(expressions) // 2
    halves = (expressions[:middle], expressions[middle:]) if middle else ()
    found = [text for half in halves for text in failing(half, given, how)]
    return found or [f"{', '.join(expressions)}: {reason}"]


def attempt(expressions: tuple[str, ...], given: Mapping[str, Any], how: How) -> str | None:
    """Convert one program in each form and compare; return what is wrong, None if nothing is."""
    program = Program(expressions, given)
    inputs = tuple(given[name] for name in program.names)
    with torch.no_grad():
        exported = torch.export.export(program, copies(inputs))
        for form in how.forms:
            transformed = FORMS[form](exported)
            eager = program if transformed is exported else transformed.module()
            expected = eager(*copies(inputs))
            try:
                converted = convert(transformed, how.optlevel)
                compare(expected, converted(*copies(inputs)), how.rule)
            except Exception as error:  # noqa: BLE001 (each is a finding, listed by `check`)
                return f"{form}: {type(error).__name__}: {error}"
    return None


def convert(exported: torch.export.ExportedProgram, optlevel: int = 1) -> nn.Module:
    """Convert a program and load the module that was generated."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model.pt2")
        torch.export.save(exported, model)
        converter.convert(model, ncnn=False, optlevel=optlevel)
        return load(Path(folder, "model_pnnx.py"))


def load(path: Path) -> nn.Module:
    """Import a generated module and make its model."""
    spec = importlib.util.spec_from_file_location("generated", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model: nn.Module = module.Model().eval()
    return model


def refusal(expression: str, **given: Any) -> str:
    """Return the words with which an expression is refused. Raises AssertionError if it is not."""
    program = Program((expression,), given)
    inputs = tuple(given[name] for name in program.names)
    with torch.no_grad():
        exported = torch.export.export(program, copies(inputs))
        try:
            convert(exported)
        except UnsupportedError as error:
            return str(error)
    raise AssertionError(f"{expression} is converted")


def words(text: str) -> list[str]:
    """Split a table of names."""
    return text.split()


def copies(tensors: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Copies that a program may write to."""
    return tuple(tensor.clone() for tensor in tensors)
