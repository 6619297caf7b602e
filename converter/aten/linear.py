"""Matrix products."""

from __future__ import annotations

from converter.aten.call import Call
from converter.aten.emit import Emitter
from converter.aten.registry import joins, lowers, overloads, same

PLAIN = (
    "_weight_norm addbmm addmm addmv addr baddbmm bmm cross dot inner kron matmul mm mv outer "
    "tensordot trace vdot"
)
for target in overloads(PLAIN):
    same(target, f"torch.{target.split('.')[0]}")

same("bilinear.default", "F.bilinear")
same("linear.default", "F.linear")
joins("chain_matmul.default", "torch.chain_matmul")


@lowers("einsum.default")
def einsum(call: Call, emit: Emitter) -> None:
    # `path` chooses an order of contraction, not a result.
    emit.positional(
        "torch.einsum", call.output, call.tensors("tensors"), equation=call.string("equation")
    )
