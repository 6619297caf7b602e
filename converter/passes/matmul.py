"""Make linear layers of products with stored matrices."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from converter.ir import Array, Attribute, Graph, LazyData
from converter.passes.base import Pass
from converter.passes.pattern import Match, PatternPass


class MatmulOfTransposed(PatternPass):
    """Before: `torch.t w -> a`, `torch.matmul x a -> y`. After: `F.linear x w -> y`.

    So torch computes F.linear, whatever dims x has.
    """

    pattern = """
        pnnx.Input   x      0 1 x
        pnnx.Input   w      0 1 w
        torch.t      t      1 1 w a
        torch.matmul matmul 2 1 x a out
        pnnx.Output  out    1 0 out
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        op = match["matmul"]
        op.type, op.params = "F.linear", {"bias": None}
        graph.set_inputs(op, [match.operands["x"], match.operands["w"]], ["input", "weight"])
        return True


class MatmulToLinear(Pass):
    """Before: `torch.matmul x w -> y` with a matrix w that the model stores and nothing else reads.

    After: `nn.Linear x -> y` with the transposed weight, whose product may be rounded otherwise.
    """

    changes_arithmetic: ClassVar[bool] = True

    def run(self, graph: Graph) -> int:
        changed = 0
        for op in graph.of_type("torch.matmul"):
            x, w = op.inputs
            stored = w.stored
            if stored is None or len(stored.shape) != 2 or len(w.consumers) > 1 or not x.shape:
                continue
            rows, columns = stored.shape
            weight = Attribute(stored.dtype, (columns, rows), LazyData(partial(transposed, stored)))
            op.type, op.attrs = "nn.Linear", {"weight": weight}
            op.params = {"bias": False, "in_features": rows, "out_features": columns}
            graph.set_inputs(op, [x])
            changed += 1
        return changed


def transposed(attribute: Attribute) -> Array:
    return attribute.array().T
