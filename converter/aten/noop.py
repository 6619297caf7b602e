"""Operators that do nothing in inference."""

from __future__ import annotations

from converter.aten.call import EVAL, Call
from converter.aten.emit import Emitter
from converter.aten.registry import alias, lowers
from converter.errors import UnsupportedError

alias("alias.default", "detach.default", "detach_.default")
alias(
    "lift_fresh.default", "lift_fresh_copy.default", "resolve_conj.default", "resolve_neg.default"
)


def random(call: Call) -> UnsupportedError:
    return call.refuse("it is random in training mode", f"{EVAL}, and pass training=self.training")


@lowers(
    "alpha_dropout.default",
    "dropout.default",
    "feature_alpha_dropout.default",
    "feature_dropout.default",
)
def dropout(call: Call, emit: Emitter) -> None:
    if call.args["train"] and call.number("p") != 0:
        raise random(call)
    emit.alias(call.output, call.tensor("input"))


@lowers("native_dropout.default")
def native_dropout(call: Call, emit: Emitter) -> None:
    output, mask = call.outputs
    if call.args["train"] is not False and call.number("p") != 0:
        raise random(call)
    emit.alias(output, call.tensor("input"))
    emit.unread(mask)
