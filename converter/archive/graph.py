"""Turns the JSON of a graph into nodes with plain Python values, and checks every name in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from converter.archive import schema
from converter.archive.enums import LAYOUTS, MEMORY_FORMATS, dtype_name, require_strided
from converter.archive.expression import plain
from converter.archive.program import Body, Node, TensorType
from converter.archive.region import printable
from converter.archive.trace import module_stack, origin, source
from converter.archive.values import (
    CustomRef,
    Device,
    GraphRef,
    OperatorRef,
    ScalarType,
    SymRef,
    TensorRef,
    Value,
)
from converter.archive.zip import ZipFile
from converter.errors import ArchiveError, Where
from converter.ir import DTYPES, Dim, Shape, is_possible

DEPTH_LIMIT = 16
"""Of graphs in graphs, so that what walks them can recurse."""


def read_body(archive: ZipFile, graph: schema.Graph) -> Body:
    """Read a graph. Raises ArchiveError for a name that is read before it is made or made twice."""
    return _BodyReader(archive, graph, depth=0).read()


class _BodyReader:
    """Reads one graph, from its inputs over its nodes in order to its outputs.

    `tensors` and `symbols` grow with each value that an input or a node makes: a name that is not
    in them is not known yet.
    """

    def __init__(self, archive: ZipFile, graph: schema.Graph, depth: int) -> None:
        self.archive = archive
        self.graph = graph
        self.depth = depth
        self.tensors: dict[str, TensorType] = {}
        self.symbols: dict[str, str | bool | int | float] = {}
        self.strides: dict[str, Shape] = {}
        self.hints: dict[str, int] = {}
        self.where: Where | None = None
        self.place = ""

    def read(self) -> Body:
        inputs = tuple(self.input(argument) for argument in self.graph.inputs)
        nodes = tuple(self.node(node) for node in self.graph.nodes)
        self.place, self.where = "an output of the graph", None
        outputs = tuple(self.used(argument) for argument in self.graph.outputs)
        return Body(inputs, outputs, nodes, self.tensors, self.symbols, self.strides, self.hints)

    def input(self, argument: schema.Argument) -> Value:
        _, value = self.single(argument)
        self.place = f"the graph's input `{printable(str(getattr(value, 'name', '')))}`"
        return self.made(argument)

    def node(self, node: schema.Node) -> Node:
        modules = module_stack(node.metadata.nn_module_stack)
        self.where = source(node.metadata.stack_trace, modules)
        self.place = f"node `{printable(node.name or node.target)}`"
        inputs = tuple((named.name, self.used(named.arg)) for named in node.inputs)
        outputs = tuple(self.made(argument) for argument in node.outputs)
        where = self.where or first_line([value for _, value in inputs])
        keywords = frozenset(named.name for named in node.inputs if named.kind == schema.KEYWORD)
        target, name = printable(node.target), printable(node.name or "")
        before = origin(node.metadata.from_node)
        return Node(target, name, inputs, outputs, where, modules, keywords, before)

    def error(self, message: str) -> ArchiveError:
        return self.archive.error(f"{self.place} {message}")

    # --- values that are read

    def used(self, argument: schema.Argument) -> Value:
        """Read an argument: what it names must have been made."""
        kind, value = self.single(argument)
        read: Value = _USED[kind](self, value)
        return read

    def single(self, argument: schema.Argument) -> tuple[str, Any]:
        try:
            return schema.single(argument)
        except ValueError:
            raise self.error("has an argument of an unknown kind") from None

    def tensor(self, argument: schema.Name) -> TensorRef:
        if argument.name not in self.tensors:
            raise self.error(f"reads `{printable(argument.name)}`, which nothing has made before")
        return TensorRef(argument.name)

    def optional_tensor(self, argument: schema.OptionalTensor) -> TensorRef | None:
        return None if argument.as_tensor is None else self.tensor(argument.as_tensor)

    def symbol(self, argument: schema.SymArgument) -> Value:
        for constant in (argument.as_bool, argument.as_int):
            if constant is not None:
                return constant
        if argument.as_float is not None:
            return self.number(argument.as_float)
        if argument.as_name not in self.symbols:
            raise self.error(f"reads `{printable(str(argument.as_name))}`, which nothing has made")
        return SymRef(argument.as_name)

    def number(self, value: schema.Float) -> float:
        try:
            return float(value)
        except ValueError:
            raise self.error("has a number that is none") from None

    def complex(self, value: schema.Complex) -> complex:
        return complex(self.number(value.real), self.number(value.imag))

    def dtype(self, number: int) -> ScalarType:
        return ScalarType(dtype_name(number, self.place, self.where))

    def enumerated(self, number: int, names: Mapping[int, Value]) -> Value:
        if number not in names:
            raise self.error(f"has an unknown layout or memory format, number {number}")
        return names[number]

    def sub_graph(self, argument: schema.GraphArgument) -> GraphRef:
        if self.depth == DEPTH_LIMIT:
            raise self.error("holds graphs that are nested too deeply")
        inner = _BodyReader(self.archive, argument.graph, self.depth + 1)
        return GraphRef(argument.name, inner.read())

    # --- values that are made

    def made(self, argument: schema.Argument) -> Value:
        """Read a result: what it names is known from here on."""
        kind, value = self.single(argument)
        if kind == "as_tensor":
            return self.make_tensor(value)
        if kind == "as_tensors":
            return tuple(self.make_tensor(name) for name in value)
        if kind == "as_optional_tensor":
            return self.make_optional(value)
        if kind == "as_optional_tensors":
            return tuple(self.make_optional(each) for each in value)
        if kind in ("as_sym_int", "as_sym_float", "as_sym_bool"):
            return self.make_symbol(value)
        if kind in ("as_sym_ints", "as_sym_floats", "as_sym_bools"):
            return tuple(self.make_symbol(each) for each in value)
        return self.used(argument)

    def make_optional(self, argument: schema.OptionalTensor) -> TensorRef | None:
        return None if argument.as_tensor is None else self.make_tensor(argument.as_tensor)

    def make_tensor(self, argument: schema.Name) -> TensorRef:
        name = self.unique(argument.name)
        meta = self.graph.tensor_values.get(name)
        if meta is None:
            raise self.error(f"makes `{printable(name)}`, whose type is not given")
        require_strided(meta.layout, self.place, self.where)
        if len(meta.strides) != len(meta.sizes):
            raise self.error(f"has {len(meta.strides)} strides for {len(meta.sizes)} dims")
        type = TensorType(tuple(self.dim(size) for size in meta.sizes), self.dtype(meta.dtype))
        known = [size for size in type.shape if isinstance(size, int)]
        if not is_possible(known, DTYPES[type.dtype].itemsize):
            raise self.error(f"has a tensor of {known}, which no machine holds")
        self.tensors[name] = type
        self.strides[name] = tuple(self.dim(stride) for stride in meta.strides)
        return TensorRef(name)

    def make_symbol(self, argument: schema.SymArgument) -> Value:
        if argument.as_name is None:
            return self.symbol(argument)
        name = self.unique(argument.as_name)
        graph = self.graph
        given = (
            graph.sym_int_values.get(name)
            or graph.sym_float_values.get(name)
            or graph.sym_bool_values.get(name)
        )
        if given is None:
            raise self.error(f"makes `{printable(name)}`, whose value is not given")
        self.symbols[name] = self.expression(given)
        return SymRef(name)

    def unique(self, name: str) -> str:
        """Check a new name: an identifier, as torch.fx makes them, that is not taken."""
        if not (name.isidentifier() and name.isascii()):
            raise self.error(f"makes `{printable(name)}`, which is no name")
        if name in self.tensors or name in self.symbols:
            raise self.error(f"makes `{printable(name)}` a second time")
        return name

    def dim(self, size: schema.SymInt) -> Dim:
        dim = self.expression(size)
        if isinstance(dim, float) or (isinstance(dim, int) and dim < 0):
            raise self.error(f"has a tensor with a size or stride of {dim}")
        return dim

    def expression(
        self, value: schema.SymInt | schema.SymFloat | schema.SymBool
    ) -> str | bool | int | float:
        match value:
            case schema.SymInt(as_int=int(number)) | schema.SymBool(as_bool=bool(number)):
                return number
            case schema.SymFloat(as_float=float(number) | str(number)):
                return self.number(number)
        try:
            text = plain(value.as_expr.expr_str if value.as_expr else "")
        except ValueError as error:
            raise self.error(f"has a symbolic value that cannot be read: {error}") from None
        hint = value.as_expr.hint if value.as_expr else None
        if hint is not None and hint.as_int is not None and text.isidentifier():
            self.hints[text] = hint.as_int
        return text


def first_line(values: list[Value]) -> Where | None:
    """Where the graphs among values come from: some calls of graphs do not tell themselves."""
    graphs = (value.body for value in values if isinstance(value, GraphRef))
    return next((node.where for graph in graphs for node in graph.nodes if node.where), None)


_Read = Callable[[_BodyReader, Any], Any]


def _same(reader: _BodyReader, value: Any) -> Any:
    return value


def _each(read: _Read) -> _Read:
    """Make a reader of lists from a reader of their elements."""
    return lambda reader, values: tuple(read(reader, value) for value in values)


_SYMBOLS = _each(_BodyReader.symbol)

_USED: Mapping[str, _Read] = {
    "as_none": lambda reader, value: None,
    "as_bool": _same,
    "as_int": _same,
    "as_float": _BodyReader.number,
    "as_complex": _BodyReader.complex,
    "as_string": _same,
    "as_bools": _each(_same),
    "as_ints": _each(_same),
    "as_floats": _each(_BodyReader.number),
    "as_strings": _each(_same),
    "as_int_lists": _each(_each(_same)),
    "as_float_lists": _each(_each(_BodyReader.number)),
    "as_tensor": _BodyReader.tensor,
    "as_tensors": _each(_BodyReader.tensor),
    "as_nested_tensors": _each(_each(_BodyReader.tensor)),
    "as_optional_tensor": _BodyReader.optional_tensor,
    "as_optional_tensors": _each(_BodyReader.optional_tensor),
    "as_sym_int": _BodyReader.symbol,
    "as_sym_ints": _SYMBOLS,
    "as_sym_float": _BodyReader.symbol,
    "as_sym_floats": _SYMBOLS,
    "as_sym_bool": _BodyReader.symbol,
    "as_sym_bools": _SYMBOLS,
    "as_scalar_type": _BodyReader.dtype,
    "as_memory_format": lambda reader, value: reader.enumerated(value, MEMORY_FORMATS),
    "as_layout": lambda reader, value: reader.enumerated(value, LAYOUTS),
    "as_device": lambda reader, value: Device(value.type, value.index),
    "as_graph": _BodyReader.sub_graph,
    "as_custom_obj": lambda reader, value: CustomRef(value.name, value.class_fqn),
    "as_operator": lambda reader, value: OperatorRef(value),
    "as_string_to_argument": lambda reader, value: {k: reader.used(v) for k, v in value.items()},
}
"""How each kind of argument is read; the keys are those of schema.Argument."""
