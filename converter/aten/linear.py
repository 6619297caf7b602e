"""Matrix products."""

from __future__ import annotations

from converter.aten.call import Call
from converter.aten.emit import Emitter
from converter.aten.registry import joins, lowers, overloads, same

PLAIN = (
    "_weight_norm addbmm addmm addmv addr baddbmm bmm cross dot inner kron matmul mm mv outer "
    "trace vdot"
)
for target in overloads(PLAIN):
    same(target, f"torch.{target.split('.')[0]}")

same("_weight_norm_interface.default", "torch._weight_norm", unread=1)
same("bilinear.default", "F.bilinear")
same("linear.default", "F.linear")
joins("chain_matmul.default", "torch.chain_matmul")


@lowers("tensordot.default")
def tensordot(call: Call, emit: Emitter) -> None:
    emit.op(
        "torch.tensordot",
        call.output,
        a=call.tensor("self"),
        b=call.tensor("other"),
        dims=(call.integers("dims_self"), call.integers("dims_other")),
    )


BILINEAR = {"expand1": (1, 3), "expand2": (0,), "expand3": (1, 2), "sumdim": (2, 3)}
"""How F.bilinear calls _trilinear."""


@lowers("_trilinear.default")
def trilinear(call: Call, emit: Emitter) -> None:
    if any(call.integers(name) != dims for name, dims in BILINEAR.items()):
        raise call.refuse("it is no F.bilinear")
    emit.op(
        "F.bilinear",
        call.output,
        input1=call.tensor("i1"),
        input2=call.tensor("i3"),
        weight=call.tensor("i2"),
        bias=None,
    )


@lowers("einsum.default")
def einsum(call: Call, emit: Emitter) -> None:
    # `path` chooses an order of contraction, not a result.
    emit.positional(
        "torch.einsum", call.output, call.tensors("tensors"), equation=call.string("equation")
    )
