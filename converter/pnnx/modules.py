"""Operators that are modules: made and filled in the constructor, called in `forward`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from converter.ir import DTYPES, Attribute, Operator, Param
from converter.pnnx.callables import results
from converter.pnnx.literal import literal
from converter.pnnx.scope import Scope, arguments, is_argument, is_kept, refuse

_BUFFERS = frozenset({"running_mean", "running_var", "num_batches_tracked"})


# --- constructor


def make(op: Operator, member: str) -> str:
    """Write the line that makes a module: `self.fc = nn.Linear(bias=False, ...)`.

    Raises UnsupportedError for a param that cannot be an argument.
    """
    if is_kept(op):
        return f"{member} = Kept({literal(op.type)})"
    words = []
    for key in sorted(op.params):
        if not is_argument(key):
            raise refuse(op, f"{key!r} cannot be the name of an argument")
        value = op.params[key]
        adaptive = key == "output_size" and "Adaptive" in op.type
        words.append(f"{key}={output_size(value) if adaptive else literal(value)}")
    return f"{member} = {op.type}({', '.join(words)})"


def output_size(value: Param) -> str:
    """Spell an adaptive pool's output size; pnnx writes 0 where the input's size stays."""
    if isinstance(value, tuple):
        return literal(tuple(size or None for size in value))
    return literal(value or None)


def load(op: Operator, member: str, file_name: str) -> Iterator[str]:
    """Write the lines that load an operator's tensors. Raises UnsupportedError for a bad name."""
    for key in sorted(op.attrs):
        if is_kept(op):
            entry = f"archive, {literal(f'{file_name}.{key}')}, {_spec(op.attrs[key])}"
            yield f"{member}.hold({literal(key)}, self.load_pnnx_bin_as_tensor({entry}))"
            continue
        if not all(map(is_argument, key.split("."))):
            raise refuse(op, f"{key!r} cannot be the name of a tensor")
        target = member if op.type == "pnnx.Attribute" else f"{member}.{key}"
        kind = "tensor" if key in _BUFFERS else "parameter"
        entry = f"archive, {literal(f'{file_name}.{key}')}, {_spec(op.attrs[key])}"
        if kind == "parameter" and op.attrs[key].frozen:
            entry += ", requires_grad=False"
        yield f"{target} = self.load_pnnx_bin_as_{kind}({entry})"


def _spec(attr: Attribute) -> str:
    return f"{literal(attr.shape)}, {DTYPES[attr.dtype].name!r}"


# --- call


def call(op: Operator, scope: Scope) -> None:
    """Append the call of a module. Raises UnsupportedError for inputs that it does not take."""
    special = _CALLS.get(op.type)
    if special is not None:
        special(op, scope)
        return
    texts = ", ".join(scope[operand] for operand in op.inputs)
    scope.assign(op, f"{scope.member(op)}({texts})", results(op))


def _recurrent(op: Operator, scope: Scope) -> None:
    """One output is the sequence; the others are the last state."""
    inputs = [scope[operand] for operand in op.inputs]
    outputs = [scope[operand] for operand in op.outputs]
    states = 2 if op.type == "nn.LSTM" else 1
    if len(inputs) not in (1, 1 + states):
        raise refuse(op, f"it takes 1 or {1 + states} inputs, not {len(inputs)}")
    if len(outputs) not in (1, 1 + states):
        raise refuse(op, f"which of its results are the {len(outputs)} outputs is not told")
    state = _pair(outputs[1:]) or "_"
    given = ", ".join([inputs[0], *filter(None, [_pair(inputs[1:])])])
    scope.lines.append(f"{outputs[0]}, {state} = {scope.member(op)}({given})")


def _pair(names: list[str]) -> str:
    return f"({', '.join(names)})" if len(names) == 2 else "".join(names)


def _lstm_cell(op: Operator, scope: Scope) -> None:
    inputs = [scope[operand] for operand in op.inputs]
    if len(inputs) not in (1, 3):
        raise refuse(op, f"it takes 1 or 3 inputs, not {len(inputs)}")
    given = ", ".join([inputs[0], *filter(None, [_pair(inputs[1:])])])
    scope.assign(op, f"{scope.member(op)}({given})", 2)


def _attention(op: Operator, scope: Scope) -> None:
    """One input is query, key and value; two are the query, and key and value."""
    given = list(arguments(op, scope))[: len(op.inputs)]
    own = ("", "query", "key", "value", "input")
    positional = [text for name, text in given if name in own]
    named = [f"{name}={text}" for name, text in given if name not in own]
    if len(positional) == 1:
        positional *= 3
    elif len(positional) == 2:
        positional.append(positional[1])
    if len(positional) != 3:
        raise refuse(op, f"it takes 1 to 3 inputs, not {len(positional)}")
    words = [*positional, *named, f"need_weights={len(op.outputs) > 1}"]
    scope.assign(op, f"{scope.member(op)}({', '.join(words)})", 2)


_CALLS: Mapping[str, Callable[[Operator, Scope], None]] = {
    "nn.LSTM": _recurrent,
    "nn.GRU": _recurrent,
    "nn.RNN": _recurrent,
    "nn.LSTMCell": _lstm_cell,
    "nn.MultiheadAttention": _attention,
}
