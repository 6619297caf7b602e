"""Recurrent layers: the gates of every step, in each direction of each layer."""

from __future__ import annotations

from math import prod

from converter.ir import Operator
from converter.statistics.sizes import dims, integers

GATES = {"nn.LSTM": 4, "nn.GRU": 3, "nn.RNN": 1}
ELEMENTWISE = {"nn.LSTM": 10, "nn.GRU": 8, "nn.RNN": 1}
"""Operations of an element of the state, after the products."""


def recurrent(op: Operator) -> int:
    """Count the operations of an nn.LSTM, nn.GRU or nn.RNN."""
    (width,) = integers(op, "hidden_size")
    (layers,) = integers(op, "num_layers")
    projected = sum(integers(op, "proj_size"))
    directions = 2 if op.params.get("bidirectional") else 1
    state = projected or width
    (given,) = integers(op, "input_size")
    total = 0
    for layer in range(layers):
        read = state * directions if layer else given
        gates = GATES[op.type] * width
        step = gates * 2 * (read + state) + ELEMENTWISE[op.type] * width
        step += 2 * gates if op.params.get("bias") else 0
        step += 2 * width * projected
        total += directions * step
    return total * prod(dims(op.inputs[0])[:-1])
