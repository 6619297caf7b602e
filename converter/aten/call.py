"""One ATen call of the program, with its arguments bound, as a lowering sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from converter.aten.expr import Expr
from converter.errors import UnsupportedError, Where
from converter.ir import Operand, Param, Shape
from converter.symbols import UNBACKED

Arg = Param | Operand | Expr | tuple["Arg", ...]
"""A bound argument: a tensor, a constant, a number that is worked out as the model runs, or a tuple
of those."""

FIX = "fix the dims with inputshape=[…]"
EVAL = "call model.eval() before the export"

T = TypeVar("T")


class Call(msgspec.Struct):
    """A call of `target` (`aten.conv2d.default`), its arguments by schema name with defaults.

    `strides` are those of its tensor arguments in the export, in elements. `origin` is the call of
    which a decomposition left this one.
    """

    target: str
    name: str
    args: dict[str, Arg]
    outputs: list[Operand]
    where: Where | None = None
    module: tuple[str, str] | None = None
    strides: Mapping[str, Shape] = msgspec.field(default_factory=dict)
    origin: str | None = None

    @property
    def output(self) -> Operand:
        """The only output."""
        (operand,) = self.outputs
        return operand

    def tensor(self, arg: str) -> Operand:
        """A tensor argument. Raises UnsupportedError if it is something else."""
        value = self.args[arg]
        if not isinstance(value, Operand):
            raise self.refuse(f"{arg} is {value!r}, not a tensor")
        return value

    def tensor_or_none(self, arg: str) -> Operand | None:
        return None if self.args[arg] is None else self.tensor(arg)

    def tensors(self, arg: str) -> list[Operand]:
        """A list of tensors. Raises UnsupportedError if one is missing."""
        values = self.args[arg]
        assert isinstance(values, tuple)
        for value in values:
            if not isinstance(value, Operand):
                raise self.refuse(f"{arg} holds {value!r}, not a tensor")
        return [value for value in values if isinstance(value, Operand)]

    def param(self, arg: str) -> Param:
        """A constant argument. Raises UnsupportedError if it is a tensor or holds one."""
        return self.constant(arg, self.args[arg])

    def constant(self, arg: str, value: Arg) -> Param:
        if isinstance(value, Operand):
            raise self.refuse(f"{arg} is a tensor, where a constant is needed")
        if isinstance(value, Expr):
            raise self.refuse(f"{arg} depends on sizes that are not fixed", FIX)
        if isinstance(value, tuple):
            return tuple(self.constant(arg, item) for item in value)
        return value

    def integer(self, arg: str) -> int:
        return self.typed(arg, int)

    def size(self, arg: str) -> int | Expr:
        """An int, or how it is worked out as the model runs."""
        value = self.args[arg]
        return value if isinstance(value, Expr) else self.integer(arg)

    def flag(self, arg: str) -> bool:
        return self.typed(arg, bool)

    def string(self, arg: str) -> str:
        return self.typed(arg, str)

    def number(self, arg: str) -> int | float:
        value = self.param(arg)
        if isinstance(value, int | float):
            return value
        raise self.refuse(f"{arg} is {value!r}, not a number")

    def number_or_complex(self, arg: str) -> int | float | complex:
        value = self.param(arg)
        if isinstance(value, int | float | complex):
            return value
        raise self.refuse(f"{arg} is {value!r}, not a number")

    def integers(self, arg: str) -> tuple[int, ...]:
        """A list of ints; one int counts as a list of one."""
        value = self.param(arg)
        items = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(item, int) for item in items):
            raise self.refuse(f"{arg} is {value!r}, not a list of ints")
        return tuple(item for item in items if isinstance(item, int))

    def sizes(self, operand: Operand) -> tuple[int, ...]:
        """The shape of a tensor. Raises UnsupportedError if a dim of it is dynamic."""
        sizes = operand.shape
        dynamic = [size for size in sizes or () if isinstance(size, str)]
        if sizes is None or any(map(UNBACKED.search, dynamic)):
            raise self.refuse("a shape depends on the values of tensors")
        if dynamic:
            raise self.refuse(f"it needs a shape without dynamic dims, {dynamic[0]} is one", FIX)
        return tuple(size for size in sizes if isinstance(size, int))

    def rank(self, operand: Operand) -> int:
        if operand.shape is None:
            raise self.refuse("a shape is not known")
        return len(operand.shape)

    def typed(self, arg: str, kind: type[T]) -> T:
        value = self.param(arg)
        if not isinstance(value, kind):
            raise self.refuse(f"{arg} is {value!r}, not {kind.__name__}")
        return value

    def refuse(self, why: str, mend: str = "") -> UnsupportedError:
        """Make the error that refuses this call; raise it."""
        return UnsupportedError(f"cannot convert {self.target}: {why}", where=self.where, mend=mend)
