"""Activations: `torch.nn.functional`'s element-wise functions, and softmax."""

from __future__ import annotations

from converter.aten.call import EVAL, Call
from converter.aten.dtype import cast
from converter.aten.emit import Emitter
from converter.aten.registry import lowers, same

for plain in (
    "hardsigmoid",
    "hardswish",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "tanh",
):
    same(f"{plain}.default", f"F.{plain}")

same("celu.default", "F.celu")
same("glu.default", "F.glu")
same("hardshrink.default", "F.hardshrink")
same("hardtanh.default", "F.hardtanh")
same("leaky_relu.default", "F.leaky_relu")
same("log_sigmoid.default", "F.logsigmoid")
same("softplus.default", "F.softplus")
same("softshrink.default", "F.softshrink")
same("threshold.default", "F.threshold")


@lowers("elu.default")
def elu(call: Call, emit: Emitter) -> None:
    if call.number("scale") == 1 and call.number("input_scale") == 1:
        emit.op("F.elu", call.output, input=call.tensor("self"), alpha=call.args["alpha"])
    elif is_selu(call):
        emit.op("F.selu", call.output, input=call.tensor("self"))
    else:
        raise call.refuse("scale and input_scale are not those of elu or selu")


def is_selu(call: Call) -> bool:
    """Decomposed, selu is an elu with these constants (Klambauer et al., 2017)."""
    return (
        call.number("alpha") == 1.6732632423543772
        and call.number("scale") == 1.0507009873554805
        and call.number("input_scale") == 1
    )


@lowers("gelu.default")
def gelu(call: Call, emit: Emitter) -> None:
    approximate = call.string("approximate")
    named = {} if approximate == "none" else {"approximate": approximate}
    emit.op("F.gelu", call.output, input=call.tensor("self"), **named)


@lowers("rrelu.default", "rrelu_with_noise_functional.default", "rrelu_with_noise.default")
def rrelu(call: Call, emit: Emitter) -> None:
    if call.flag("training"):
        raise call.refuse("it draws random slopes in training mode", EVAL)
    for noise in call.outputs[1:]:
        emit.unread(noise)
    emit.op(
        "F.rrelu",
        call.outputs[0],
        input=call.tensor("self"),
        lower=call.args["lower"],
        upper=call.args["upper"],
    )


@lowers("softmax.int", "_softmax.default", "special_softmax.default")
def softmax(call: Call, emit: Emitter) -> None:
    normalized(call, emit, "F.softmax")


@lowers("log_softmax.int", "_log_softmax.default", "special_log_softmax.default")
def log_softmax(call: Call, emit: Emitter) -> None:
    normalized(call, emit, "F.log_softmax")


def normalized(call: Call, emit: Emitter, type: str) -> None:
    """A softmax; `dtype=` converts its input first, which pnnx's operator does not say."""
    source = call.tensor("self")
    dtype = call.args.get("dtype")
    if call.args.get("half_to_float"):
        dtype = "f32"
    if dtype is not None and dtype != source.dtype:
        source = cast(emit, source, str(dtype))
    emit.op(type, call.output, input=source, dim=call.integer("dim"))
