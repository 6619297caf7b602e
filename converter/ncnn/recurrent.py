"""Recurrent layers. Each layer of a module is one of ncnn's, of one direction or both.

ncnn takes a sequence (time, features) and, if it is given them, states (directions, hidden). The
gates of its LSTM are input, forget, output, cell, where PyTorch has cell before output. Biases of
the two matrices are summed, but for the new gate of GRU, whose two ncnn keeps apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from converter.ir import Array, Attribute, Operator
from converter.ncnn.blob import Blob
from converter.ncnn.graph import computed
from converter.ncnn.joining import concatenated
from converter.ncnn.layers import GRU, LSTM, RNN, Layer
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn
from converter.ncnn.shape import squeezed, unsqueezed
from converter.ncnn.slicing import split_at


@dataclass(frozen=True)
class Cell:
    """A kind of layer: the order of its gates, the number of its states, and how biases join.

    `bias` makes of PyTorch's two, each (gates, hidden), ncnn's (`bias_rows`, hidden).
    """

    layer: Layer
    gates: tuple[int, ...]
    states: int
    bias_rows: int
    bias: Callable[[Array, Array], Array]


def _lstm_bias(ih: Array, hh: Array) -> Array:
    return np.add(ih, hh)[[0, 1, 3, 2]]


def _gru_bias(ih: Array, hh: Array) -> Array:
    return np.concatenate([np.add(ih, hh)[:2], ih[2:], hh[2:]])


CELLS = {
    "nn.LSTM": Cell(LSTM, (0, 1, 3, 2), 2, 4, _lstm_bias),
    "nn.GRU": Cell(GRU, (0, 1, 2), 1, 4, _gru_bias),
    "nn.RNN": Cell(RNN, (0,), 1, 1, np.add),
}
STEPS = {f"{name}Cell": name for name in CELLS}
"""The modules of one step."""


def _sequences(op: Operator) -> int | None:
    """The batch axis of sequences: the first or second of three."""
    shape = op.inputs[0].shape
    if shape is None or len(shape) != 3:
        return None
    return 0 if op.params.get("batch_first") is True else 1


@ncnn(*CELLS, batch=_sequences)
def recurrent(op: Op) -> list[Blob]:
    """The sequence and, where they are given or read, the states after it."""
    op.expect("nonlinearity", "tanh")
    cell = CELLS[op.type]
    if op.count not in (1, 1 + cell.states):
        op.refuse(f"has {op.count} inputs, not 1 or {1 + cell.states}")
    count, directions = op.integer("num_layers", 1), 1 + op.flag("bidirectional")
    begins = [
        split_at(op, _states(op, op.blob(index)), 0, [directions] * count)
        for index in range(1, op.count)
    ]
    x = op.lay(op.blob(), _sequences(op.operator))
    ends: list[list[Blob]] = []
    for number in range(count):
        suffixes = [f"_l{number}", f"_l{number}_reverse"][:directions]
        x, *states = _layer(op, cell, suffixes, x, [begin[number] for begin in begins])
        ends.append(states)
    outputs = len(op.operator.outputs)
    return [x, *(concatenated(op, list(end), 0) for end in zip(*ends, strict=True))][:outputs]


def _states(op: Op, blob: Blob) -> Blob:
    """States (layers and directions, batch, hidden), or without a batch."""
    return op.lay(blob, 1 if blob.rank == 3 else None)


def _vectors(op: Operator) -> int | None:
    """The batch axis of single steps: the first of two."""
    shape = op.inputs[0].shape
    return 0 if shape is not None and len(shape) == 2 else None


@ncnn(*STEPS, batch=_vectors)
def step(op: Op) -> list[Blob]:
    """One step: a sequence of one, from the states that are given to those after it."""
    op.expect("nonlinearity", "tanh")
    cell = CELLS[STEPS[op.type]]
    if op.count != 1 + cell.states:
        op.refuse(f"has {op.count} inputs, not {1 + cell.states}", "give it its states")
    blobs = [unsqueezed(op, op.blob(index), 0) for index in range(op.count)]
    x, *states = [op.lay(blob, 1 if blob.rank == 3 else None) for blob in blobs]
    ends = _layer(op, cell, [""], x, states)[1:]
    return [squeezed(op, end, 0) for end in ends]


def _layer(op: Op, cell: Cell, suffixes: list[str], x: Blob, states: list[Blob]) -> list[Blob]:
    """One layer: the sequence, then the states if there are any to be returned.

    `suffixes` end the names of the weights of each direction.
    """
    directions = len(suffixes)
    hidden = op.integer("hidden_size")
    width = op.integer("proj_size", 0) or hidden
    weights = _weights(op, cell, suffixes)
    call = cell.layer(
        **weights,
        num_output=width,
        weight_data_size=weights["weight_xc"].size,
        direction=0 if directions == 1 else 2,
        **({"hidden_size": hidden} if cell.layer is LSTM else {}),
    )
    batch = () if x.batch is None else (x.shape[x.batch],)
    outputs = [((*x.shape[:-1], directions * width), x.batch)]
    if states or len(op.operator.outputs) > 1:
        state_batch = 1 if batch else None
        outputs += [
            ((directions, *batch, size), state_batch) for size in (width, hidden)[: cell.states]
        ]
    return op.emits(call, [x, *states], outputs)


def _weights(op: Op, cell: Cell, suffixes: list[str]) -> dict[str, Attribute]:
    """ncnn's weights, those of the reverse direction after the others."""
    gates = len(cell.gates)

    def joined(name: str, ordered: bool) -> Attribute:
        attrs = [op.attr(name + suffix) for suffix in suffixes]

        def make() -> Array:
            parts = [attr.array() for attr in attrs]
            if ordered:
                parts = [part.reshape(gates, -1)[list(cell.gates)] for part in parts]
            return np.concatenate([part.reshape(-1) for part in parts])

        return computed((sum(attr.size for attr in attrs),), make, attrs[0].dtype)

    weights = {"weight_xc": joined("weight_ih", True), "bias_c": _bias(op, cell, suffixes)}
    weights["weight_hc"] = joined("weight_hh", True)
    if cell.layer is LSTM and op.integer("proj_size", 0):
        weights["weight_hr"] = joined("weight_hr", False)
    return weights


def _bias(op: Op, cell: Cell, suffixes: list[str]) -> Attribute:
    hidden = op.integer("hidden_size")
    shape = (len(suffixes) * cell.bias_rows * hidden,)
    if not op.flag("bias", True):
        return Attribute.of(np.zeros(shape, np.float32))
    pairs = [(op.attr(f"bias_ih{suffix}"), op.attr(f"bias_hh{suffix}")) for suffix in suffixes]

    def make() -> Array:
        gates = (len(cell.gates), hidden)
        parts = [
            cell.bias(ih.array().reshape(gates), hh.array().reshape(gates)) for ih, hh in pairs
        ]
        return np.concatenate([part.reshape(-1) for part in parts])

    return computed(shape, make, pairs[0][0].dtype)
