"""The schemas of ATen operators: argument names, types, defaults, and what is mutated or aliased."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from converter.archive.values import Value


class Missing(Enum):
    """The default of an argument that has none."""

    missing = "missing"


MISSING = Missing.missing


@dataclass(frozen=True, slots=True)
class Type:
    """`SymInt[2]?` is base `int`, a list of size 2, optional. `Tensor?[]` has optional elements.

    `base` is one of Tensor, Scalar, int, float, bool, complex, str, ScalarType, MemoryFormat, Layout,
    Device, Generator, Storage; SymInt, SymFloat and SymBool count as int, float and bool.
    `alias` is the alias set (`a` of `Tensor(a!)`), empty for none.
    """

    base: str
    is_list: bool = False
    size: int | None = None
    optional: bool = False
    optional_elements: bool = False
    alias: str = ""
    mutated: bool = False


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    type: Type
    default: Value | Missing = MISSING
    kwarg_only: bool = False


@dataclass(frozen=True, slots=True)
class OpSchema:
    """The signature of one overload. `namespace` is `aten`, `prims`, `torchvision`, or the module of
    a Python function on symbolic numbers (`_operator`, `math`, `torch`)."""

    namespace: str
    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Type, ...]

    @property
    def mutates(self) -> bool:
        """Whether the operator writes to an argument (in-place and `out=` overloads)."""
        return any(argument.type.mutated for argument in self.arguments)

    @property
    def is_python(self) -> bool:
        """Whether it is a Python function on symbolic numbers, not a torch operator."""
        return self.namespace in ("_operator", "math", "torch")


def schema(target: str) -> OpSchema | None:
    """Look up a node's target (`torch.ops.aten.conv2d.default`, `_operator.mul`); None if unknown."""
    raise NotImplementedError
