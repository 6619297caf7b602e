"""Fourier transforms, to whose sizes decompositions cut and fill their input before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from converter.ir import Graph, Operator, Param
from converter.passes.base import Pass
from converter.passes.terms import static_shape

CORES = {
    "torch.fft.fft": ("fft", "ifft"),
    "torch.fft.fftn": ("fft",),
    "torch.fft.ifftn": ("ifft",),
    "torch.fft.rfftn": ("rfft", "ihfft"),
    "torch.fft.irfftn": ("irfft", "hfft"),
}
"""What is left of a transform, by the transforms of which it is."""

COMPLEX = {"f32": "c64", "f64": "c128"}
SWAPPED: dict[Param, Param] = {"forward": "backward", "backward": "forward", "ortho": "ortho"}
"""The `norm` of a transform that is the conjugate of the opposite one."""


class Transforms(Pass):
    """Before: `Tensor.slice x -> a dim=1 start=0 end=8`, `torch.fft.rfftn a -> y dim=(1)`.

    After: `torch.fft.rfft x -> y n=8 dim=1`, or whichever transform it was of one, two or all dims.
    """

    def run(self, graph: Graph) -> int:
        return sum(restore(graph, op) for op in graph.of_type(*CORES))


class Prepared(NamedTuple):
    """What is done before a transform, innermost first, and to which dims."""

    ops: list[Operator]
    sized: set[int]
    conjugated: bool


def restore(graph: Graph, op: Operator) -> bool:
    if op.origin is None or not op.origin.startswith("fft_"):
        return False
    name = op.origin.removeprefix("fft_")
    kind = name.rstrip("2n")
    dims = transformed(op)
    before = prepared(op, dims) if dims else None
    if kind not in CORES[op.type] or before is None or (name == kind and len(dims) != 1):
        return False
    last, conjugate = op, conjugated_after(op)
    if kind == "ihfft" or (kind, op.type) == ("ifft", "torch.fft.fft"):
        if conjugate is None or name != kind:
            return False
        last = conjugate
    if before.conjugated != (kind == "hfft") or (kind == "hfft" and name != kind):
        return False
    swaps = kind in ("hfft", "ihfft") or last is not op
    norm = SWAPPED[op.params["norm"]] if swaps else op.params["norm"]
    sizes = sized(op, dims, before.sized)
    said = {"n": sizes and sizes[0], "dim": dims[0]} if name == kind else {"s": sizes, "dim": dims}
    source = (before.ops[-1] if before.ops else op).inputs[0]
    last.type, last.params = f"torch.fft.{name}", {**said, "norm": norm}
    graph.set_inputs(last, [source], ["input"])
    return True


def transformed(op: Operator) -> tuple[int, ...]:
    """The dims of a transform, counted from the front; none where they are not known."""
    given, shape = op.params["dim"], static_shape(op.inputs[0])
    dims = given if isinstance(given, tuple) else (given,)
    return tuple(dim % len(shape) for dim in dims if isinstance(dim, int)) if shape else ()


def prepared(op: Operator, dims: tuple[int, ...]) -> Prepared | None:
    """What the same call does before a transform; None where that is something else."""
    ops: list[Operator] = []
    sized: list[int] = []
    conjugated = False
    for one in chain(op):
        if one.type == "torch.conj":
            conjugated = not conjugated
        elif one.type == "Tensor.to":
            if COMPLEX.get(str(one.inputs[0].dtype)) != one.outputs[0].dtype:
                return None
        else:
            ends = [dim for dim, _ in ends_changed(one)]
            if len(ends) != 1 or ends[0] not in dims:
                return None
            sized += ends
        ops.append(one)
    return Prepared(ops, set(sized), conjugated) if len(set(sized)) == len(sized) else None


def chain(op: Operator) -> Iterator[Operator]:
    before = op.inputs[0].producer
    types = ("F.pad", "Tensor.slice", "Tensor.to", "torch.conj")
    if before is not None and before.origin == op.origin and before.type in types:
        yield before
        yield from chain(before)


def ends_changed(op: Operator) -> Iterator[tuple[int, int]]:
    """The dims that are cut or filled with zeros at their ends, and the sizes that they get."""
    before, after = static_shape(op.inputs[0]), static_shape(op.outputs[0])
    if before is None or after is None:
        return
    changed = [dim for dim, size in enumerate(before) if size != after[dim]]
    if op.type == "Tensor.slice":
        fits = op.params.get("start") == 0 and op.params.get("step") == 1
    else:
        pad = op.params["pad"]
        fits = isinstance(pad, tuple) and not any(pad[0::2]) and not op.params["value"]
        fits = fits and op.params["mode"] == "constant"
    if fits:
        yield from ((dim, after[dim]) for dim in changed)


def conjugated_after(op: Operator) -> Operator | None:
    readers = op.outputs[0].consumers
    after = readers[0] if len(readers) == 1 else None
    types = ("torch.conj", "torch.conj_physical")
    fits = after is not None and after.type in types and after.origin == op.origin
    return after if fits else None


def sized(op: Operator, dims: tuple[int, ...], changed: set[int]) -> tuple[int, ...] | None:
    """The sizes that were asked for; None where they are those that a transform takes by itself."""
    shape = static_shape(op.inputs[0]) or ()
    sizes = tuple(shape[dim] for dim in dims)
    if op.type == "torch.fft.irfftn":
        given, natural = op.params["s"], (*sizes[:-1], 2 * (sizes[-1] - 1))
        assert isinstance(given, tuple)
        asked = tuple(size for size in given if isinstance(size, int))
        return None if asked == natural and not changed else asked
    return sizes if changed else None
