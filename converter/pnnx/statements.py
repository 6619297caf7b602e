"""The statement of each kind of operator in a generated `forward`.

Most operators are called by their own name: the first input by position, everything else by name,
as `torch.topk(v_0, dim=1, k=2)` or `v_0.permute(dims=(0, 2, 1))`. `STATEMENTS` lists the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from converter.ir import Operator
from converter.pnnx import modules, spectrogram, subscript
from converter.pnnx.callables import CALLABLES, is_module, results
from converter.pnnx.expression import Code, Kind, translate
from converter.pnnx.literal import literal
from converter.pnnx.names import words
from converter.pnnx.scope import Scope, arguments, is_kept, is_member, param, refuse

Statement = Callable[[Operator, Scope], None]


def write_statement(op: Operator, scope: Scope) -> None:
    """Append an operator's lines to `scope`.

    Raises UnsupportedError if the operator is not known or its arguments do not fit.
    """
    statement = STATEMENTS.get(op.type)
    if op.attrs and not (is_member(op) or op.type == "pnnx.Attribute"):
        raise refuse(op, "it is no module, but holds a tensor")
    if is_kept(op):
        kept(op, scope)
    elif statement is not None:
        statement(op, scope)
    elif op.type.startswith("pnnx.custom_op."):
        custom(op, scope)
    elif op.type not in CALLABLES:
        raise refuse(op, "it is no operator of PyTorch's Python interface")
    elif is_module(op.type):
        modules.call(op, scope)
    elif op.type.startswith("Tensor."):
        method(op, scope)
    else:
        function(op, scope)


def call(callee: str, positional: list[str], named: Mapping[str, str]) -> str:
    texts = [*positional, *(f"{name}={text}" for name, text in named.items())]
    return f"{callee}({', '.join(texts)})"


def split_arguments(op: Operator, scope: Scope) -> tuple[list[str], dict[str, str]]:
    """Split the arguments into those by position and those by name; the first is by position."""
    positional: list[str] = []
    named: dict[str, str] = {}
    for place, (name, text) in enumerate(arguments(op, scope)):
        if not name or (place == 0 and op.inputs and name in ("input", "self")):
            if named:
                raise refuse(op, "an argument without a name follows one with a name")
            positional.append(text)
        else:
            named[name] = text
    return positional, named


# --- called by their own name


def function(op: Operator, scope: Scope, callee: str = "") -> None:
    positional, named = split_arguments(op, scope)
    scope.assign(op, call(callee or op.type, positional, named), results(op))


def method(op: Operator, scope: Scope) -> None:
    positional, named = split_arguments(op, scope)
    if not positional:
        raise refuse(op, "it has no tensor to be called on")
    name = op.type.removeprefix("Tensor.")
    scope.assign(op, call(f"{positional[0]}.{name}", positional[1:], named), results(op))


def custom(op: Operator, scope: Scope) -> None:
    """`pnnx.custom_op.ns.name` with `arg_0`, `arg_1`… is `torch.ops.ns.name(...)`."""
    parts = op.type.split(".")[2:]
    if len(parts) != 2 or not all(part.isidentifier() and part.isascii() for part in parts):
        raise refuse(op, "expected pnnx.custom_op.NAMESPACE.NAME")
    if parts[0] in _TORCH_NAMESPACES or parts[0].startswith("_"):
        raise refuse(op, f"the operators of {parts[0]} are not custom ones")
    named = dict(arguments(op, scope))
    positional: list[str] = []
    while (name := f"arg_{len(positional)}") in named:
        positional.append(named.pop(name))
    if any(name.removeprefix("arg_").isdigit() for name in named):
        raise refuse(op, "its arguments by position are not arg_0, arg_1 and so on")
    text = call(f"torch.ops.{'.'.join(parts)}", positional, named)
    scope.assign(op, text, max(1, len(op.outputs)))


def kept(op: Operator, scope: Scope) -> None:
    """A module of the user's, in whose place another stands (`python.KEPT`)."""
    inputs = ", ".join(scope[operand] for operand in op.inputs)
    scope.assign(op, f"{scope.member(op)}({inputs})", max(1, len(op.outputs)))


_TORCH_NAMESPACES = words(
    """
    aten c10d c10d_functional debugprims export fsdp higher_order image inductor mkl mkldnn
    mkldnn_prepacked onednn onnx prepacked prim prims profiler quantization quantized rngprims
    sparse static_runtime streams symm_mem torch torch_ipex video_reader xnnpack
    """
)


# --- pnnx's own and TorchScript's


def attribute(op: Operator, scope: Scope) -> None:
    if list(op.attrs) != ["data"]:
        raise refuse(op, "it does not hold one tensor, data")
    scope.assign(op, scope.member(op))


def expression(op: Operator, scope: Scope) -> None:
    text = param(op, "expr")
    if not isinstance(text, str):
        raise refuse(op, f"its expr is {text!r}")
    try:
        code = translate(text, [scope.code(operand) for operand in op.inputs], scope.hoist)
    except ValueError as e:
        raise refuse(op, f"{text[:60]!r}: {e}") from None
    if len(op.outputs) == 1:
        (output,) = op.outputs
        scope.codes[output] = Code(scope[output], code.kind, items=code.items)
        indexes = all(reader.type == "Tensor.index" for reader in output.consumers)
        if code.kind is Kind.list and indexes:
            return  # written where it is read
    scope.assign(op, code.text)


def construct(brackets: str, op: Operator, scope: Scope) -> None:
    items = [scope[operand] for operand in op.inputs]
    comma = "," if brackets == "()" and len(items) == 1 else ""
    scope.assign(op, f"{brackets[0]}{', '.join(items)}{comma}{brackets[1]}")
    scope.codes[op.outputs[0]] = Code(scope[op.outputs[0]], Kind.list)


def construct_dict(op: Operator, scope: Scope) -> None:
    items = [scope[operand] for operand in op.inputs]
    if len(items) % 2:
        raise refuse(op, "a key has no value")
    pairs = (f"{key}: {value}" for key, value in zip(items[::2], items[1::2], strict=True))
    scope.assign(op, f"{{{', '.join(pairs)}}}")
    scope.codes[op.outputs[0]] = Code(scope[op.outputs[0]], Kind.other)


def unpack(op: Operator, scope: Scope) -> None:
    if len(op.inputs) != 1:
        raise refuse(op, f"it has {len(op.inputs)} inputs, not 1")
    scope.assign(op, scope[op.inputs[0]], None)


# --- called in another way than their names tell


def packed(op: Operator, scope: Scope) -> None:
    """The tensors are one list."""
    positional, named = split_arguments(op, scope)
    if not positional:
        raise refuse(op, "it has no tensors")
    scope.assign(op, call(op.type, [f"[{', '.join(positional)}]"], named))


_OF_LISTS = tuple(
    f"torch.{name}"
    for name in words(
        "cat column_stack concat concatenate dstack hstack linalg.multi_dot row_stack stack vstack"
    )
)


def einsum(op: Operator, scope: Scope) -> None:
    operands = [scope[operand] for operand in op.inputs]
    scope.assign(op, call(op.type, [literal(param(op, "equation")), *operands], {}))


def where(op: Operator, scope: Scope) -> None:
    """Only by position are the two values accepted as numbers."""
    given = dict(arguments(op, scope))
    names = ["condition", "input" if "input" in given else "self", "other"]
    if set(names) != set(given):
        raise refuse(op, "it takes a condition and two values")
    scope.assign(op, call(op.type, [given[name] for name in names], {}))


def fill(op: Operator, scope: Scope) -> None:
    """Not in place: others may read the input."""
    function(op, scope, "torch.fill")


def sized(op: Operator, scope: Scope) -> None:
    """The sizes are one argument, by position: its name differs between versions of PyTorch."""
    positional, named = split_arguments(op, scope)
    for name in ("shape", "sizes", "size", "dims"):
        if name in named:
            positional.append(named.pop(name))
    name = op.type.removeprefix("Tensor.")
    if name == "view" and not named:
        name = "reshape"  # the same values, whatever the strides
    elif name == "view" and len(positional) == 1 and set(named) == {"dtype"}:
        scope.assign(op, f"{positional[0]}.contiguous().view({named['dtype']})")
        return
    if len(positional) != 2 or named:
        raise refuse(op, "expected a tensor and sizes")
    scope.assign(op, f"{positional[0]}.{name}({positional[1]})")


def view_as_complex(op: Operator, scope: Scope) -> None:
    """The two halves must lie beside each other, and graphs have no `contiguous`."""
    positional, named = split_arguments(op, scope)
    if len(positional) != 1 or named:
        raise refuse(op, "expected one tensor")
    scope.assign(op, f"torch.view_as_complex({positional[0]}.contiguous())")


def adaptive_pool(op: Operator, scope: Scope) -> None:
    positional, named = split_arguments(op, scope)
    if not op.has_input("output_size"):
        named["output_size"] = modules.output_size(param(op, "output_size"))
    scope.assign(op, call(op.type, positional, named), results(op))


def upsample(mode: str, op: Operator, scope: Scope) -> None:
    """PyTorch's three old names of F.interpolate."""
    positional, named = split_arguments(op, scope)
    named |= {"mode": ascii(mode)} if mode else {}
    named |= {"align_corners": "True"} if mode == "bilinear" else {}
    scope.assign(op, call("F.interpolate", positional, named))


STATEMENTS: Mapping[str, Statement] = {
    "pnnx.Attribute": attribute,
    "pnnx.Expression": expression,
    "pnnx.SliceIndexes": subscript.slice_indexes,
    "prim::TupleConstruct": partial(construct, "()"),
    "prim::ListConstruct": partial(construct, "[]"),
    "prim::DictConstruct": construct_dict,
    "prim::TupleUnpack": unpack,
    "prim::ListUnpack": unpack,
    "Tensor.slice": subscript.slice,
    "Tensor.slice_copy": subscript.slice_copy,
    "Tensor.index": subscript.index,
    "Tensor.index_put": subscript.index_put,
    "Tensor.fill": fill,
    "torch.view_as_complex": view_as_complex,
    "torch.where": where,
    "torch.einsum": einsum,
    "F.upsample": partial(upsample, ""),
    "F.upsample_nearest": partial(upsample, "nearest"),
    "F.upsample_bilinear": partial(upsample, "bilinear"),
    "torchaudio.functional.spectrogram": spectrogram.spectrogram,
    "torchaudio.functional.inverse_spectrogram": spectrogram.inverse_spectrogram,
    **{f"Tensor.{name}": sized for name in ("expand", "permute", "repeat", "reshape", "view")},
    **dict.fromkeys(_OF_LISTS, packed),
    **{
        f"F.adaptive_{kind}_pool{rank}d": adaptive_pool
        for kind in ("avg", "max")
        for rank in (1, 2, 3)
    },
}
"""The operators that are not called by their own name, or not with their arguments as they are."""
