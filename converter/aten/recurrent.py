"""Recurrent layers, as modules that read their weights until `passes/recurrent_weights.py`."""

from __future__ import annotations

from converter.aten.call import EVAL, Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers
from converter.ir import Operand, Operator, Param


@lowers("lstm.input")
def lstm(call: Call, emit: Emitter) -> None:
    weights = layered_weights(call)
    hidden_size = sizes(call, weights["weight_ih_l0"])[0] // 4
    projected = sizes(call, weights["weight_hr_l0"])[0] if "weight_hr_l0" in weights else 0
    recurrent("nn.LSTM", call, emit, weights, call.tensors("hx"), hidden_size, proj_size=projected)


@lowers("gru.input")
def gru(call: Call, emit: Emitter) -> None:
    weights = layered_weights(call)
    hidden_size = sizes(call, weights["weight_ih_l0"])[0] // 3
    recurrent("nn.GRU", call, emit, weights, [call.tensor("hx")], hidden_size)


@lowers("rnn_tanh.input", "rnn_relu.input")
def rnn(call: Call, emit: Emitter) -> None:
    weights = layered_weights(call)
    nonlinearity = call.target.split(".")[1].removeprefix("rnn_")
    recurrent(
        "nn.RNN",
        call,
        emit,
        weights,
        [call.tensor("hx")],
        sizes(call, weights["weight_ih_l0"])[0],
        nonlinearity=nonlinearity,
    )


def recurrent(
    type: str,
    call: Call,
    emit: Emitter,
    weights: dict[str, Operand],
    hidden: list[Operand],
    hidden_size: int,
    **params: Param,
) -> None:
    if call.flag("train") and call.number("dropout") != 0:
        raise call.refuse("it drops values at random in training mode", EVAL)
    op = emit.weighted(
        type,
        call.outputs,
        [call.tensor("input"), *([] if all(map(is_zero, hidden)) else hidden)],
        weights,
        input_size=sizes(call, weights["weight_ih_l0"])[1],
        hidden_size=hidden_size,
        num_layers=call.integer("num_layers"),
        bias=call.flag("has_biases"),
        batch_first=call.flag("batch_first"),
        bidirectional=call.flag("bidirectional"),
        **params,
    )
    name_after_module(op)


@lowers("lstm_cell.default", "gru_cell.default", "rnn_tanh_cell.default", "rnn_relu_cell.default")
def cell(call: Call, emit: Emitter) -> None:
    """One step, by the module that holds the weights."""
    name = call.target.split(".")[1].removesuffix("_cell")
    weights = {
        long: call.tensor(short)
        for long, short in CELL_WEIGHTS.items()
        if call.args[short] is not None
    }
    hidden = call.tensors("hx") if name == "lstm" else [call.tensor("hx")]
    op = emit.weighted(
        CELLS[name],
        call.outputs,
        [call.tensor("input"), *hidden],
        weights,
        input_size=sizes(call, weights["weight_ih"])[1],
        hidden_size=sizes(call, weights["weight_hh"])[1],
        bias="bias_ih" in weights,
    )
    if name.startswith("rnn"):
        op.params["nonlinearity"] = name.removeprefix("rnn_")
    name_after_module(op)


CELLS = {
    "gru": "nn.GRUCell",
    "lstm": "nn.LSTMCell",
    "rnn_relu": "nn.RNNCell",
    "rnn_tanh": "nn.RNNCell",
}
CELL_WEIGHTS = {"weight_ih": "w_ih", "weight_hh": "w_hh", "bias_ih": "b_ih", "bias_hh": "b_hh"}


def layered_weights(call: Call) -> dict[str, Operand]:
    """The weights by nn.LSTM's names: layer by layer, the reverse direction after the other."""
    directions = ("", "_reverse") if call.flag("bidirectional") else ("",)
    kinds = ["weight_ih", "weight_hh"]
    if call.flag("has_biases"):
        kinds += ["bias_ih", "bias_hh"]
    params = call.tensors("params")
    cells = call.integer("num_layers") * len(directions)
    if len(params) == cells * (len(kinds) + 1):
        kinds.append("weight_hr")
    if len(params) != cells * len(kinds):
        raise call.refuse(f"it has {len(params)} weights, not {cells * len(kinds)}")
    names = [
        f"{kind}_l{layer}{direction}"
        for layer in range(call.integer("num_layers"))
        for direction in directions
        for kind in kinds
    ]
    return dict(zip(names, params, strict=True))


def sizes(call: Call, weight: Operand) -> tuple[int, int]:
    """The sizes of a weight, a matrix."""
    match weight.shape:
        case (int(rows), int(columns)):
            return rows, columns
    raise call.refuse("a weight is no matrix of known sizes")


def name_after_module(op: Operator) -> None:
    """Call an operator as the user's module of its type, where one made it."""
    if op.module is not None and op.module[1].rpartition(".")[2] == op.type.removeprefix("nn."):
        op.name = op.module[0]


def is_zero(operand: Operand) -> bool:
    """Whether an initial state is the zeros that the module takes by itself."""
    if operand.producer is not None and operand.producer.type == "torch.zeros":
        return True
    return operand.stored is not None and operand.stored.is_full(0)
