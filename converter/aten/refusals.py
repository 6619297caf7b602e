"""Why some operators cannot be converted, what to do instead, and whether TorchScript may do it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from converter.archive.program import Node
from converter.aten.call import EVAL, Call
from converter.errors import UnsupportedError
from converter.pnnx.names import words


class Reason(NamedTuple):
    """`torchscript`: torch.jit.trace records what it does as other operators, rightly."""

    why: str
    mend: str
    torchscript: bool = False


RANDOM = Reason("it is random", "draw the values outside and pass them to the model")
MEMORY = Reason("it depends on how tensors lie in memory", "use views or index instead")
PACKED = Reason("packed sequences have no place in a graph", "pass the padded tensor")
LOOP = Reason("graphs have no loops", "write it on whole tensors, or as a loop of fixed length")
TRAINING = Reason("it is random in training mode", EVAL)
NORM = Reason(
    "it changes the weights that it reads", "normalize them before the export, without max_norm"
)
LISTS = Reason("it works on lists of tensors", "call the operator on each tensor")
UNKNOWN = Reason("no conversion is known", "", torchscript=True)
HIGHER_ORDER = Reason("it runs a graph of its own", "call the operators of that graph in forward")
VMAP = Reason("graphs have no torch.vmap", "write it on whole tensors", torchscript=True)
DERIVATIVE = Reason("graphs have no derivatives", "write the derivative as a formula")
SILENT = Reason("the operator is not PyTorch's, and returns nothing", "let it return new tensors")

ATEN: Mapping[str, Reason] = {
    **dict.fromkeys(
        words(
            """
            bernoulli binomial cauchy exponential geometric log_normal multinomial normal
            normal_functional poisson randint_like random randperm uniform _fused_dropout
            """
        ),
        RANDOM,
    ),
    **dict.fromkeys(words("as_strided_scatter resize resize_as set _reshape_alias"), MEMORY),
    **dict.fromkeys(words("_pack_padded_sequence _pad_packed_sequence"), PACKED),
    "embedding_renorm": NORM,
    "_print": Reason("graphs do not print", "take it out of the model"),
}
"""Of PyTorch's operators, by name; the others have no conversion yet."""

HIGHER: Mapping[str, Reason] = {
    "cond": Reason("which branch runs depends on values", "compute both and use torch.where"),
    "while_loop": Reason("how often it runs depends on values", "write a loop of fixed length"),
    **dict.fromkeys(words("associative_scan map map_impl scan"), LOOP),
    **dict.fromkeys(
        words("flex_attention flex_attention_backward"),
        Reason("pnnx has no such attention", "use F.scaled_dot_product_attention with a mask"),
    ),
    "with_effects": Reason("it has a side effect", "make it a module of tensor operators only"),
    **dict.fromkeys(
        words("auto_functionalized auto_functionalized_v2"),
        Reason("a custom operator writes to its arguments", "let it return new tensors"),
    ),
}
"""Of operators that take graphs, by name. A trace of control flow is refused by PyTorch itself."""


def refusal(call: Call) -> UnsupportedError:
    """Make the error for a call that has no lowering."""
    name = call.target.split(".")[1].removesuffix("_")
    reason = LISTS if name.startswith("_foreach_") else ATEN.get(name, UNKNOWN)
    if reason is RANDOM and call.origin and "dropout" in call.origin:
        reason = TRAINING
    return UnsupportedError(
        f"cannot convert {call.target}: {reason.why}",
        where=call.where,
        mend=reason.mend,
        torchscript=reason.torchscript,
    )


def unknown_target(node: Node) -> UnsupportedError:
    """Make the error for a node whose target is no operator that is known here."""
    parts = node.target.split(".")
    if parts[:3] == ["torch", "ops", "higher_order"]:
        reason = HIGHER.get(parts[-1], HIGHER_ORDER)
    elif "predispatch" in parts:
        reason = DERIVATIVE if any(word in parts[-1] for word in ("dual", "grad", "jvp")) else VMAP
    elif parts[:2] == ["torch", "ops"] and not node.outputs:
        reason = SILENT
    elif parts[:2] == ["torch", "ops"]:
        name = ".".join(parts[2:4])
        reason = Reason("the operator is not PyTorch's", f"keep it with customop={name}")
    else:
        reason = Reason("it is no operator", "", torchscript=True)
    return UnsupportedError(
        f"cannot convert {node.target}: {reason.why}",
        where=node.where,
        mend=reason.mend,
        torchscript=reason.torchscript,
    )
