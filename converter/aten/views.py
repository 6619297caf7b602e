"""In-place operators made functional.

Every tensor of the program is a view of a memory: all of it, or what a path of views (select,
slice, permute, …) shows of it. Operands never change. A write gives the memory another value; who
looks at the memory afterwards takes the same path through the new value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec.structs import replace

from converter.aten.call import Call
from converter.aten.conjugates import TRANSPOSING, is_complex
from converter.aten.emit import Emitter
from converter.aten.write_back import write_back
from converter.errors import UnsupportedError
from converter.ir import Operand

Lower = Callable[[Call], "list[Operand | None]"]
"""Lowers a call, and tells the operand of each result."""


DEPTH = 64
"""Views of views that are written through, or read after a write: each is gone through anew."""


class Memory(msgspec.Struct, eq=False):
    """What several tensors may share: its present value and how often it was written.

    `doubts` are memories that may be the same one. `keeper` names the stored tensor, or the
    input, that it is. `lost`: what it holds by now is not known.
    """

    value: Operand
    keeper: str = ""
    version: int = 0
    lost: bool = False
    names: list[str] = msgspec.field(default_factory=list)
    doubts: list[Memory] = msgspec.field(default_factory=list)


class Step(msgspec.Struct, frozen=True):
    """One view: the result number `index` of a call that views its argument `arg`."""

    call: Call
    arg: str
    index: int


class View(msgspec.Struct, eq=False):
    """A tensor of the program. `value` holds while the memory's version is `version`."""

    memory: Memory
    path: tuple[Step, ...]
    value: Operand
    version: int


class Tensors:
    """The tensors of a program by name, and what each of them is at present."""

    def __init__(self, last_use: Mapping[str, int], lower: Lower, emit: Emitter) -> None:
        self._last_use = last_use
        self._lower = lower
        self._emit = emit
        self._views: dict[str, View] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._views

    def define(self, name: str, value: Operand, keeper: str = "") -> None:
        """Name a tensor that shares its memory with no other."""
        memory = Memory(value, keeper, names=[name])
        self._views[name] = View(memory, (), value, memory.version)

    def view(self, name: str, source: str, step: Step, value: Operand) -> None:
        """Name what `step` shows of `source`, which is `value` at present."""
        seen = self._views[source]
        memory = seen.memory
        memory.names.append(name)
        self._views[name] = View(memory, (*seen.path, step), value, memory.version)

    def same(self, name: str, other: str) -> None:
        """Give `other` one more name."""
        view = self._views[name] = self._views[other]
        view.memory.names.append(name)

    def doubt(self, name: str, source: str) -> None:
        """Note that `name`, defined already, may share memory with `source`, or may not."""
        one, other = self._views[name].memory, self._views[source].memory
        one.doubts.append(other)
        other.doubts.append(one)

    def read(self, name: str) -> Operand:
        """Return the present value of a tensor. Raises UnsupportedError if it is not known."""
        view = self._views[name]
        if view.memory.lost:
            raise UnsupportedError(
                f"{name} is read, which a normalization updated before",
                mend="give the normalization a clone() of it",
            )
        if view.version != view.memory.version:
            if len(view.path) > DEPTH:
                raise too_deep(name)
            view.value = self._follow(view.memory.value, view.path)
            view.version = view.memory.version
        return view.value

    def write(self, name: str, value: Operand) -> None:
        """Let a tensor hold `value`, and with it every tensor that shares its memory.

        Raises UnsupportedError for a view that nothing can be written through.
        """
        view = self._views[name]
        if value is view.value and view.version == view.memory.version:
            return
        if len(view.path) > DEPTH:
            raise too_deep(name)
        wholes = [view.memory.value]
        for step in view.path[:-1]:
            wholes.append(self._follow(wholes[-1], (step,)))
        part = value
        for step, whole in zip(reversed(view.path), reversed(wholes), strict=False):
            part = write_back(self._emit, step.call, step.index, whole, part)
        view.memory.value = part
        view.memory.version += 1
        view.value, view.version = value, view.memory.version

    def lose(self, name: str) -> None:
        """Let a tensor, and what shares its memory, hold what is not known: no more reads of it."""
        self._views[name].memory.lost = True

    def is_lost(self, name: str) -> bool:
        return name in self._views and self._views[name].memory.lost

    def keeper(self, name: str) -> str:
        """Return the stored tensor, or the input, whose memory this is; empty for none."""
        return self._views[name].memory.keeper

    def is_shared(self, name: str) -> bool:
        """Whether a tensor is, or has, a view of another, or is the model's own or an input."""
        memory = self._views[name].memory
        views = (self._views[other] for other in memory.names)
        return bool(memory.keeper or memory.doubts) or any(view.path for view in views)

    def is_marked(self, name: str) -> bool:
        """Whether a tensor is marked as a conjugate, or as a negative, of what is in the memory."""
        conjugate = negative = False
        for step in self._views[name].path:
            view = step.call.target.split(".")[1]
            if view in ("_conj", "conj", *TRANSPOSING):
                conjugate ^= is_complex(step.call.tensor(step.arg))
            elif view == "_neg_view":
                negative = not negative
            elif view in ("imag", "real"):
                conjugate, negative = False, negative ^ (conjugate and view == "imag")
        return conjugate or negative

    def is_written(self, name: str) -> bool:
        """Whether a tensor's memory was written to since it was named."""
        return name in self._views and self._views[name].memory.version > 0

    def doubtful(self, name: str, index: int) -> str:
        """Return a name that is read after node `index` and may share memory; empty for none.

        What may share memory with the same tensor may share it with each other.
        """
        own = self._views[name].memory
        found = {id(own): own}
        todo = [own]
        for memory in todo:
            more = {id(other): other for other in memory.doubts if id(other) not in found}
            found |= more
            todo += more.values()
        for memory in todo[1:]:
            for other in memory.names:
                if self._last_use.get(other, -1) > index:
                    return other
        return ""

    def _follow(self, value: Operand, path: tuple[Step, ...]) -> Operand:
        for step in path:
            outputs = [self._emit.copy(output) for output in step.call.outputs]
            call = replace(step.call, args={**step.call.args, step.arg: value}, outputs=outputs)
            result = self._lower(call)[step.index]
            assert result is not None
            value = result
        return value


def too_deep(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"{name} is a view of a view of … more than {DEPTH} deep, and is written in place",
        mend="write to a clone() instead",
    )
