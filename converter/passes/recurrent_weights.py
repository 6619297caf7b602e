"""Give recurrent layers the weights that they read."""

from __future__ import annotations

from converter.errors import UnsupportedError
from converter.ir import Graph, Operator
from converter.passes.base import Pass

LAYERS = ("nn.LSTM", "nn.GRU", "nn.RNN", "nn.LSTMCell", "nn.GRUCell", "nn.RNNCell")
STORE = "store it: torch.nn.utils.remove_weight_norm or parametrize.remove_parametrizations"
"""What to do before the export."""


class RecurrentWeights(Pass):
    """Before: `pnnx.Attribute -> w`, `nn.LSTM x weight_ih_l0=w -> y`. After: `nn.LSTM x -> y`.

    It comes after those that fold a norm into a weight. Raises UnsupportedError for a weight that
    is computed all the same: there is no function that could be called with it.
    """

    def run(self, graph: Graph) -> int:
        return sum(hold(graph, op) for op in graph.of_type(*LAYERS))


def hold(graph: Graph, op: Operator) -> bool:
    read = dict(zip(op.input_names, op.inputs, strict=bool(op.input_names)))
    weights = {name: operand for name, operand in read.items() if name}
    for name, operand in weights.items():
        if operand.stored is None:
            raise UnsupportedError(
                f"cannot convert {op.type}: {name} is computed, not stored",
                where=op.where,
                mend=STORE,
            )
        op.attrs[name] = operand.stored
    graph.set_inputs(op, op.inputs[: len(op.inputs) - len(weights)])
    return bool(weights)
