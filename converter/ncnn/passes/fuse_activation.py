"""Let convolutions and inner products compute the activation that follows them.

    Convolution  conv  1 1 in0 x num_output=8        Convolution  conv  1 1 in0 out0 num_output=8
    ReLU         relu  1 1 x out0               →        activation_type=1

The numbers of activations are those of ncnn's fused activation, with their parameters.
"""

from __future__ import annotations

from converter.ir import Operand, Operator, Param
from converter.ncnn.graph import NcnnGraph, Port
from converter.ncnn.layers import layer_of

RELU, LEAKY_RELU, CLIP, SIGMOID, MISH, HARD_SWISH = range(1, 7)


def fuse_activation(net: NcnnGraph) -> None:
    """Fuse where the activation is the only reader."""
    layers = net.layers
    ports: dict[Operand, list[Port]] = {}
    for port in net.outputs:
        ports.setdefault(port.operand, []).append(port)
    for layer in layers.operators:
        if "activation_type" not in layer_of(layer).slots:
            continue
        (blob,) = layer.outputs
        if len(blob.consumers) != 1 or ports.get(blob):
            continue
        (reader,) = blob.consumers
        fused = activation(reader)
        if fused is None:
            continue
        layer.params["activation_type"] = fused[0]
        if fused[1]:
            layer.params["activation_params"] = fused[1]
        (after,) = reader.outputs
        layers.replace_uses(after, blob)
        layers.remove(reader)
        ports[blob] = ports.pop(after, [])
        for port in ports[blob]:
            port.operand = blob


def activation(layer: Operator) -> tuple[int, tuple[Param, ...]] | None:
    """The number and parameters of an activation that can be fused, or None."""
    params = layer.params
    match layer.type:
        case "ReLU":
            slope = params.get("slope", 0.0)
            return (LEAKY_RELU, (slope,)) if slope else (RELU, ())
        case "Clip":
            return CLIP, (params["min"], params["max"])
        case "Sigmoid":
            return SIGMOID, ()
        case "Mish":
            return MISH, ()
        case "HardSwish":
            return HARD_SWISH, (params["alpha"], params["beta"])
    return None
