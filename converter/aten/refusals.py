"""Why some operators cannot be converted, and what to do instead."""

from __future__ import annotations

from converter.aten.call import Call
from converter.errors import UnsupportedError
from converter.pnnx.names import words

RANDOM = words(
    """
    bernoulli binomial cauchy exponential geometric log_normal multinomial normal
    normal_functional poisson randint_like random randperm uniform _fused_dropout
    """
)
MEMORY = words("as_strided_scatter resize resize_as set _reshape_alias")
PACKED = words("_pack_padded_sequence _pad_packed_sequence")


def refusal(call: Call) -> UnsupportedError:
    """Make the error for a call that has no lowering."""
    name = call.target.split(".")[1].removesuffix("_")
    if name in RANDOM:
        return call.refuse("it is random", "draw the values outside and pass them to the model")
    if name in MEMORY:
        return call.refuse("it depends on how tensors lie in memory", "use views or index instead")
    if name in PACKED:
        return call.refuse("packed sequences have no place in a graph", "pass the padded tensor")
    return call.refuse(
        "no conversion is known",
        "the TorchScript frontend may convert it: trace the model and use pnnx",
    )
