"""What a case is: the `@case` decorator, the specs of its inputs and the register of loaded cases.

This file imports no torch, and neither does `suites.registry`, which reads the decorators without
running them: what planning needs must therefore be literals (`DEFAULTS` names those arguments).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from suites.apis import proven
from suites.trial import DEVICES, TARGETS

DEFAULTS: dict[str, Any] = {
    "targets": ("pnnx",),
    "needs": (),
    "devices": DEVICES,
    "limit": 60.0,
    "proves": (),
}
"""The planned arguments of `@case` (literals in the source) and what they are when not given."""

WITH_NCNN = ("pnnx", "ncnn")
"""The targets of a case that gives `ncnn_inputs` and no targets."""

SUITE_NEEDS = {
    "torchaudio": ("torchaudio",),
    "transformers": ("transformers",),
}
"""What every case of a folder needs, without saying so."""


class Missing(Exception):  # noqa: N818 (it is no error: the trial is skipped)
    """Raised while a case is built: this environment lacks what it needs, say a model that this
    version of transformers does not have. The trial is skipped, with this text as its diagnostic.
    """


@dataclass(frozen=True)
class Input:
    """One input tensor. Integers are drawn from 0..9, floating and complex from [0, 1).

    The values follow from shape and dtype alone, as generated modules draw the same ones. They
    cannot draw booleans, so a case that wants a mask compares a float.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"

    def __post_init__(self) -> None:
        if self.dtype == "bool":
            raise ValueError("a generated module cannot draw booleans; compare a float input")


@dataclass(frozen=True)
class Tolerance:
    """What a case allows per element: atol + rtol * |eager|. The reason is required."""

    rtol: float
    atol: float
    reason: str

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError("a tolerance needs the reason why the shared rule does not fit")


@dataclass(frozen=True)
class Case:
    """A loaded case: the class to build and everything that its decorator said.

    `inputs` and `ncnn_inputs` have one nest for each argument of forward: an `Input`, or a tuple,
    list or dict of nests. `options` are converter arguments (`moduleop`, `input`); with
    `inputshape2`, which leaves dims dynamic, the pnnx target is compared at those sizes too.
    """

    name: str
    cls: type
    inputs: Sequence[Any]
    ncnn_inputs: Sequence[Any]
    targets: tuple[str, ...]
    needs: tuple[str, ...]
    devices: tuple[str, ...]
    limit: float
    proves: tuple[str, ...] = ()
    tolerance: Tolerance | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def inputs_for(self, target: str) -> Sequence[Any]:
        """The nests of specs that a trial to `target` draws its inputs from."""
        return self.ncnn_inputs if target == "ncnn" else self.inputs


CASES: dict[str, Case] = {}
"""The cases whose files have been imported, by name. `suites.registry.load` imports them."""

Class = TypeVar("Class", bound=type)


def case(
    *,
    inputs: Sequence[Any],
    ncnn_inputs: Sequence[Any] | None = None,
    targets: tuple[str, ...] | None = None,
    needs: tuple[str, ...] = DEFAULTS["needs"],
    devices: tuple[str, ...] = DEFAULTS["devices"],
    limit: float = DEFAULTS["limit"],
    proves: tuple[str, ...] = DEFAULTS["proves"],
    tolerance: Tolerance | None = None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """Register a module-level `nn.Module` class as the case that bears the class's name.

    `inputs`: for each argument of forward a shape (float32), an `Input`, or a tuple, list or dict
    of those; a tuple of ints is a shape. `ncnn_inputs`: the same for the
    ncnn target, where they differ; giving them makes it a target, which otherwise `targets` does.
    Arguments of forward that ncnn is spared come last, with None for their default. `needs`:
    requirement strings (`"torchvision"`, `"transformers>=5"`). `limit`: seconds that one trial may
    take. `proves`: the public APIs that it is about, where its name spells none (`suites.apis`).
    `tolerance`: where the shared rule of `suites.compare` does not fit. `options`: converter
    arguments of this case.
    """
    if ncnn_inputs is not None and "inputshape2" in (options or {}):
        raise ValueError("inputshape2 is of `inputs`: the ncnn target must have the same ones")
    if targets is None:
        targets = DEFAULTS["targets"] if ncnn_inputs is None else WITH_NCNN
    specs = [_spec(nest) for nest in inputs]
    ncnn_specs = specs if ncnn_inputs is None else [_spec(nest) for nest in ncnn_inputs]

    def register(cls: Class) -> Class:
        name = cls.__name__
        suite = cls.__module__.rpartition(".")[0].rpartition(".")[2]
        known = CASES.get(name)
        if known is not None and known.cls.__module__ != cls.__module__:
            raise ValueError(f"case {name} is in {known.cls.__module__} and in {cls.__module__}")
        CASES[name] = Case(
            name=name,
            cls=cls,
            inputs=specs,
            ncnn_inputs=ncnn_specs,
            targets=targets,
            needs=all_needs(suite, needs),
            devices=devices,
            limit=float(limit),
            proves=proven(name, suite, proves),
            tolerance=tolerance,
            options=dict(options or {}),
        )
        return cls

    return register


def all_needs(suite: str, needs: Sequence[str]) -> tuple[str, ...]:
    """What a case needs: its folder's needs, then its own."""
    return tuple(dict.fromkeys((*SUITE_NEEDS.get(suite, ()), *needs)))


def fault(planned: Mapping[str, Any]) -> str | None:
    """What is wrong with the planned arguments of one `@case`, if anything is."""
    for key, allowed in (("targets", TARGETS), ("devices", DEVICES)):
        value = planned[key]
        if not isinstance(value, tuple) or not value or not set(value) <= set(allowed):
            return f"{key}={value!r} must be a tuple out of {allowed}"
    for key, kind in (("needs", "requirement strings"), ("proves", "dotted names")):
        value = planned[key]
        if not isinstance(value, tuple) or not all(isinstance(each, str) for each in value):
            return f"{key}={value!r} must be a tuple of {kind}"
    limit = planned["limit"]
    if isinstance(limit, bool) or not isinstance(limit, int | float) or limit <= 0:
        return f"limit={limit!r} must be a positive number of seconds"
    return None


def _spec(nest: Any) -> Any:
    """A nest of shapes and Inputs as a nest of Inputs."""
    if isinstance(nest, Input):
        return nest
    if isinstance(nest, tuple) and all(isinstance(size, int) for size in nest):
        return Input(nest)
    if isinstance(nest, list | tuple):
        return type(nest)(_spec(each) for each in nest)
    if isinstance(nest, dict):
        return {key: _spec(each) for key, each in nest.items()}
    raise TypeError(f"{nest!r} is not a shape, an Input, or a tuple, list or dict of those")
