"""Remove layers that nothing reads.

    Input    in0 0 1 in0              Input    in0 0 1 in0
    ReLU     a   1 1 in0 x      →     ReLU     b   1 1 in0 out0
    ReLU     b   1 1 in0 out0

An input stays, read or not: the network is fed by its inputs' names.
"""

from __future__ import annotations

from converter.ncnn.graph import NcnnGraph


def remove_dead_layers(net: NcnnGraph) -> None:
    """Remove layers none of whose outputs is read or an output of the network."""
    kept = {port.operand for port in (*net.inputs, *net.outputs)}
    dead = []
    for layer in reversed(net.layers.operators):
        if any(operand in kept for operand in layer.outputs):
            kept.update(layer.inputs)
        else:
            dead.append(layer)
    net.layers.remove_all(dead)
