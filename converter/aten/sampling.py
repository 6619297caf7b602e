"""Tensors of random values, drawn anew in each run from PyTorch's generator, as the model's are."""

from __future__ import annotations

from converter.aten.call import Call
from converter.aten.dtype import torch_dtype
from converter.aten.emit import Emitter
from converter.aten.registry import lowers


@lowers("rand.default", "randn.default")
def drawn(call: Call, emit: Emitter) -> None:
    emit.op(function(call), call.output, size=call.args["size"], dtype=dtype(call))


@lowers("rand_like.default", "randn_like.default")
def drawn_like(call: Call, emit: Emitter) -> None:
    given = None if call.args["dtype"] is None else dtype(call)
    emit.op(function(call), call.output, input=call.tensor("self"), dtype=given)


@lowers("randint.default", "randint.low")
def drawn_integers(call: Call, emit: Emitter) -> None:
    emit.op(
        function(call),
        call.output,
        low=call.args.get("low", 0),
        high=call.integer("high"),
        size=call.args["size"],
        dtype=dtype(call),
    )


def function(call: Call) -> str:
    """`torch.rand` of `aten.rand.default`."""
    return f"torch.{call.target.split('.')[1]}"


def dtype(call: Call) -> str:
    return torch_dtype(call.output.dtype)
