"""Join neighbours that only move elements: permutations with each other, changes of shape too."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from converter.ir import Graph, Operator, Param
from converter.passes.base import Pass


class MergeAdjacent(Pass):
    """Join operators of these types that read one another, where nobody else reads in between."""

    types: ClassVar[tuple[str, ...]]

    def run(self, graph: Graph) -> int:
        gone: list[Operator] = []
        for op in graph.of_type(*self.types):
            before = op.inputs[0].producer
            if before is None or before.type not in self.types:
                continue
            if len(op.inputs[0].consumers) == 1 and self.join(before, op):
                graph.set_inputs(op, before.inputs[:1], before.input_names[:1])
                gone.append(before)
        graph.remove_all(gone)
        return len(gone)

    @abstractmethod
    def join(self, first: Operator, second: Operator) -> bool:
        """Let `second` do the work of both; False, with nothing changed, where it cannot."""


class MergePermutes(MergeAdjacent):
    """Before: `torch.transpose x -> a dim0=0 dim1=1`, `Tensor.permute a -> y dims=(0,2,1)`.

    After: `Tensor.permute x -> y dims=(1,2,0)`.
    """

    types = ("Tensor.permute", "torch.transpose")

    def join(self, first: Operator, second: Operator) -> bool:
        one, other = permutation(first), permutation(second)
        if one is None or other is None:
            return False
        second.type, second.params = "Tensor.permute", {"dims": tuple(one[dim] for dim in other)}
        return True


class MergeReshapes(MergeAdjacent):
    """Before: `torch.unsqueeze x -> a dim=0`, `Tensor.reshape a -> y shape=(6,4)`.

    After: `Tensor.reshape x -> y shape=(6,4)`.
    """

    types = ("Tensor.reshape", "torch.squeeze", "torch.unsqueeze")

    def join(self, first: Operator, second: Operator) -> bool:
        shape = second.outputs[0].shape
        if not shape or 0 in shape or sum(isinstance(size, str) for size in shape) > 1:
            return False
        sizes = tuple(-1 if isinstance(size, str) else size for size in shape)
        second.type, second.params = "Tensor.reshape", {"shape": sizes}
        return True


def permutation(op: Operator) -> list[int] | None:
    """Which dim of the input each dim of the result is; None where the rank is not known."""
    shape = op.inputs[0].shape
    if not shape:
        return None if shape is None else []
    if op.type == "Tensor.permute":
        dims = op.params["dims"]
        assert isinstance(dims, tuple)
        return [wrapped(dim, len(shape)) for dim in dims]
    order = list(range(len(shape)))
    dim0, dim1 = (wrapped(op.params[name], len(shape)) for name in ("dim0", "dim1"))
    order[dim0], order[dim1] = dim1, dim0
    return order


def wrapped(dim: Param, rank: int) -> int:
    """A dim counted from the first. What has no dims counts as if it had one."""
    assert isinstance(dim, int)
    return dim % max(rank, 1)
