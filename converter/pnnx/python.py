"""Write `_pnnx.py`: the graph as a PyTorch module, and functions that export and try it.

The module needs torch alone (and torchvision where the graph has an operator of its own, which
torch lacks) and loads its `.pnnx.bin` from its own folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TextIO

from converter.errors import UnsupportedError
from converter.ir import Graph, Operand, Operator, Param
from converter.pnnx import modules
from converter.pnnx.expression import Code, Kind
from converter.pnnx.literal import literal
from converter.pnnx.names import operator_names
from converter.pnnx.scope import Scope, is_kept, member_names
from converter.pnnx.statements import write_statement
from converter.symbols import drawn_shape

_FILE = """\
{head}{imports}

{kept}
class Model(nn.Module):
    def __init__(self):
        super().__init__()
{modules}{loads}{loaders}
    def forward(self{arguments}):
{forward}


def _model():
    return Model().eval()


def _inputs():
    torch.manual_seed(0)
    return ({inputs})


@torch.no_grad()
def export_torchscript():
    net = _model()
    torch.jit.trace(net, _inputs()).save({torchscript})


@torch.no_grad()
def export_exported_program():
    net = _model()
    program = torch.export.export(net, _inputs(){dynamic})
    torch.export.save(program, {program})


@torch.no_grad()
def export_onnx():
    net = _model()
    torch.onnx.export(
        net,
        _inputs(),
        {onnx},
        input_names={input_names},
        output_names={output_names}{dynamic},
    )


@torch.no_grad()
def export_pnnx():
    import pnnx

    net = _model()
    pnnx.export(net, {torchscript}, _inputs())


def export_ncnn():
    export_pnnx()


@torch.no_grad()
def test_inference():
    net = _model()
    return net(*_inputs())


if __name__ == "__main__":
    print(test_inference())
"""

_LOADERS = """
    def load_pnnx_bin_as_parameter(self, archive, key, shape, dtype, requires_grad=True):
        tensor = self.load_pnnx_bin_as_tensor(archive, key, shape, dtype)
        has_grad = tensor.is_floating_point() or tensor.is_complex()
        return nn.Parameter(tensor, requires_grad and has_grad)

    def load_pnnx_bin_as_tensor(self, archive, key, shape, dtype):
        tensor = torch.empty(shape, dtype=getattr(torch, dtype))
        data = memoryview(tensor.reshape(-1).view(torch.uint8).numpy())
        if archive.getinfo(key).file_size != len(data):
            raise ValueError(f"{archive.filename}: {key} does not have {len(data)} bytes")
        with archive.open(key) as entry:
            entry.readinto(data)
        return tensor
"""

AUTO = "torch.export.Dim.AUTO"
"""A dim, or a number, for which torch.export finds out what the model does with it."""

_KEPT = '''
class Kept(nn.Module):
    """Stands in the place of a module of the model, and holds its tensors by their names there.

    Give the Model an attribute that is the module itself; load_state_dict takes the tensors.
    """

    def __init__(self, name):
        super().__init__()
        self.name = name

    def hold(self, key, tensor):
        *path, last = key.split(".")
        module = self
        for part in path:
            if part not in module._modules:
                module.add_module(part, nn.Module())
            module = module._modules[part]
        module.register_buffer(last, tensor)

    def forward(self, *inputs):
        raise NotImplementedError(f"put a {self.name} in the place of this")

'''

_TORCH_DTYPES: Mapping[str, str] = {
    "f32": "torch.float",
    "f64": "torch.double",
    "f16": "torch.half",
    "bf16": "torch.bfloat16",
    "i8": "torch.int8",
    "i16": "torch.short",
    "i32": "torch.int",
    "i64": "torch.long",
    "u8": "torch.uint8",
    "bool": "torch.bool",
    "c64": "torch.complex64",
    "c128": "torch.complex128",
}


def write_python(
    graph: Graph, stream: TextIO, bin_name: str, stem: str, head: Sequence[str] = ()
) -> None:
    """Write the module.

    `bin_name` is the `.pnnx.bin`'s name, in the module's folder; `stem` the module's own name
    without `.py` (`m_pnnx`), by which its exports are called; `head` are lines of a comment at its
    beginning. Raises UnsupportedError for an
    operator that PyTorch does not have or an argument that it cannot take.
    """
    members = member_names(graph)
    scope = Scope(graph, members)
    inputs = [op.outputs[0] for op in graph.of_type("pnnx.Input")]
    outputs = [operand for op in graph.of_type("pnnx.Output") for operand in op.inputs]
    for operand in inputs:
        if number_input(operand) is not None:
            scope.codes[operand] = Code(scope[operand], Kind.number)
    for op in graph.operators:
        if op.type not in ("pnnx.Input", "pnnx.Output"):
            write_statement(op, scope)
    scope.lines.append(f"return {', '.join(scope[operand] for operand in outputs)}")
    loads = list(_loads(graph, scope, members))
    drawn = list(_drawn(graph, inputs))
    stream.write(
        _FILE.format(
            head="".join(f"# {line}\n" for line in head) + "\n" * bool(head),
            imports="\n".join(_imports(graph, scope.lines)),
            kept=_KEPT if any(map(is_kept, graph.operators)) else "",
            modules=_block(_makes(scope, members)),
            loads=_loading(loads, bin_name),
            loaders=_LOADERS if loads else "",
            arguments="".join(f", {scope[operand]}" for operand in inputs),
            forward=_block(scope.lines).removeprefix("\n"),
            inputs="".join(f"\n        {draw}," for draw in drawn) + "\n    " * bool(drawn),
            dynamic=_dynamic(inputs),
            torchscript=literal(f"{stem}.py.pt"),
            program=literal(f"{stem}.py.pt2"),
            onnx=literal(f"{stem}.py.onnx"),
            input_names=[f"in{index}" for index in range(len(inputs))],
            output_names=[f"out{index}" for index in range(_count(outputs))],
        )
    )


def _imports(graph: Graph, lines: Iterable[str]) -> Iterator[str]:
    if any("math." in line for line in lines):
        yield "import math"
    if any(op.attrs for op in graph.operators):
        yield "import os"
        yield "import zipfile"
        yield ""
    yield "import torch"
    yield "import torch.nn as nn"
    yield "import torch.nn.functional as F"
    if any(op.type.startswith("torchvision.") and not is_kept(op) for op in graph.operators):
        yield "import torchvision"


def _block(lines: Iterable[str]) -> str:
    """Lines of a method's body."""
    return "\n".join(["", *(f"        {line}" if line else "" for line in lines)])


def _makes(scope: Scope, members: Iterable[Operator]) -> Iterator[str]:
    return (modules.make(op, scope.member(op)) for op in members if op.type != "pnnx.Attribute")


def _loads(graph: Graph, scope: Scope, members: Iterable[Operator]) -> Iterator[str]:
    names = operator_names(graph)
    for op in members:
        yield from modules.load(op, scope.member(op), names[op])


def _loading(loads: Iterable[str], bin_name: str) -> str:
    if not loads:
        return "\n"
    opened = [
        "",
        "folder = os.path.dirname(os.path.abspath(__file__))",
        f"with zipfile.ZipFile(os.path.join(folder, {literal(bin_name)})) as archive:",
    ]
    return _block([*opened, *(f"    {line}" for line in loads)]) + "\n"


def _drawn(graph: Graph, inputs: Iterable[Operand]) -> Iterator[str]:
    """Draw each input as pnnx does, and the suites; a number is written as it is."""
    for index, operand in enumerate(inputs):
        if (number := number_input(operand)) is not None:
            yield literal(number)
            continue
        if operand.shape is None or operand.dtype is None:
            raise UnsupportedError(
                f"the shape or the dtype of input {index} is not known",
                mend="give it with inputshape=",
            )
        sizes = literal(drawn_shape(operand.shape, graph.sizes))
        dtype = _TORCH_DTYPES[operand.dtype]
        if operand.dtype[0] in "fbc" and operand.dtype != "bool":
            yield f"torch.rand({sizes}, dtype={dtype})"
        else:
            high = 2 if operand.dtype == "bool" else 10  # PyTorch refuses 10 for booleans
            yield f"torch.randint({high}, {sizes}, dtype={dtype})"


def _dynamic(inputs: Sequence[Operand]) -> str:
    """The dims, and the numbers, that stay dynamic in an exported program."""
    texts = list(map(_dynamic_input, inputs))
    if not any(texts):
        return ""
    return f", dynamic_shapes=({', '.join(text or 'None' for text in texts)},)"


def _dynamic_input(operand: Operand) -> str:
    if number_input(operand) is not None:
        return AUTO
    dims = [axis for axis, dim in enumerate(operand.shape or ()) if not isinstance(dim, int)]
    return "{" + ", ".join(f"{axis}: {AUTO}" for axis in dims) + "}" if dims else ""


def number_input(operand: Operand) -> Param:
    """An example of an input that is a number; None for a tensor."""
    return None if operand.producer is None else operand.producer.params.get("number")


def _count(outputs: Iterable[Operand]) -> int:
    """Count the tensors that `forward` returns, in tuples, lists and dicts."""
    total = 0
    for operand in outputs:
        op = operand.producer
        if op is not None and op.type in ("prim::TupleConstruct", "prim::ListConstruct"):
            total += _count(op.inputs)
        elif op is not None and op.type == "prim::DictConstruct":
            total += _count(op.inputs[1::2])
        else:
            total += 1
    return total
