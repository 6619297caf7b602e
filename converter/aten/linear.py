"""Matrix products."""

from __future__ import annotations

from converter.aten.call import Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers, same

same("addmm.default", "torch.addmm")
same("baddbmm.default", "torch.baddbmm")
same("bilinear.default", "F.bilinear")
same("bmm.default", "torch.bmm")
same("cross.default", "torch.cross")
same("dot.default", "torch.dot")
same("linalg_cross.default", "torch.linalg.cross")
same("linear.default", "F.linear")
same("matmul.default", "torch.matmul")
same("mm.default", "torch.mm")
same("mv.default", "torch.mv")
same("_weight_norm.default", "torch._weight_norm")
same("outer.default", "torch.outer")


@lowers("einsum.default")
def einsum(call: Call, emit: Emitter) -> None:
    # `path` chooses an order of contraction, not a result.
    emit.positional(
        "torch.einsum", call.output, call.tensors("tensors"), equation=call.string("equation")
    )
