"""Sub-graphs that run once, in the place of the calls that wrap them.

torch.export makes one of what a model does under `torch.no_grad()` or `torch.autocast(…)`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from converter.archive.program import Body, Node
from converter.archive.values import GraphRef, SymRef, TensorRef, Value
from converter.errors import UnsupportedError

GRAD = "torch.ops.higher_order.wrap_with_set_grad_enabled"
"""(grad enabled, graph, the graph's inputs…). Gradients have no part in inference."""

AUTOCAST = "torch.ops.higher_order.wrap_with_autocast"
"""(device, dtype, enabled, cache enabled, graph, the graph's inputs…)."""

ALIAS = "torch.ops.aten.alias.default"


def inline(body: Body) -> Body:
    """Return the body with every wrapped graph opened; names are made unique.

    Raises UnsupportedError for autocast that is enabled: the dtypes that it chooses as the model
    runs are not in the program.
    """
    if not any(node.target in (GRAD, AUTOCAST) for node in body.nodes):
        return body
    return _Inliner(body).run()


class _Inliner:
    """Collects the nodes of a body and of the graphs that it wraps, and what types they make."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.nodes: list[Node] = []
        self.tensors = dict(body.tensors)
        self.symbols = dict(body.symbols)
        self.strides = dict(body.strides)

    def run(self) -> Body:
        for node in self.body.nodes:
            self.add(node)
        return replace(
            self.body,
            nodes=tuple(self.nodes),
            tensors=self.tensors,
            symbols=self.symbols,
            strides=self.strides,
        )

    def add(self, node: Node) -> None:
        """Add a node whose names are final, or in its place what it wraps."""
        if node.target not in (GRAD, AUTOCAST):
            self.nodes.append(node)
            return
        graph, arguments = wrapped(node)
        names = {
            given.name: value
            for given, value in zip(graph.inputs, arguments, strict=True)
            if isinstance(given, TensorRef | SymRef)
        }
        results = list(zip(opened(graph.outputs), opened(node.outputs), strict=True))
        for returned, result in results:
            names.setdefault(returned.name, result)
        for inner in graph.nodes:
            for made in opened(inner.outputs):
                if made.name not in names:
                    names[made.name] = self.fresh(made, graph)
            inputs = tuple((argument, renamed(value, names)) for argument, value in inner.inputs)
            outputs = tuple(renamed(value, names) for value in inner.outputs)
            self.add(replace(inner, inputs=inputs, outputs=outputs))
        for returned, result in results:
            value = names[returned.name]
            # An input that is returned as it came, or a tensor that is returned twice.
            if value != result and isinstance(result, TensorRef):
                inputs = (("self", value),)
                self.nodes.append(replace(node, target=ALIAS, inputs=inputs, outputs=(result,)))

    def fresh(self, made: TensorRef | SymRef, graph: Body) -> TensorRef | SymRef:
        """Give what a graph makes a name that nothing has."""
        name, serial = made.name, 1
        while name in self.tensors or name in self.symbols:
            name, serial = f"{made.name}_in_{serial}", serial + 1
        if isinstance(made, SymRef):
            self.symbols[name] = graph.symbols[made.name]
            return SymRef(name)
        self.tensors[name] = graph.tensors[made.name]
        self.strides[name] = graph.strides[made.name]
        return TensorRef(name)


def wrapped(node: Node) -> tuple[Body, Sequence[Value]]:
    """Return the graph that a node wraps, and what it passes to it."""
    match [value for _, value in node.inputs]:
        case [bool(), GraphRef(body=graph), *arguments]:
            enabled = False
        case [_, _, bool(enabled), _, GraphRef(body=graph), *arguments]:
            pass
        case _:
            raise damaged(node)
    if enabled:
        raise UnsupportedError(
            "torch.autocast chooses dtypes as the model runs: they are not in the program",
            where=node.where,
            mend="convert the model with .to(dtype) and export it without autocast",
        )
    given, made = opened(graph.outputs), opened(node.outputs)
    if len(graph.inputs) != len(arguments) or len(given) != len(made):
        raise damaged(node)
    return graph, arguments


def damaged(node: Node) -> UnsupportedError:
    return UnsupportedError(
        f"cannot convert {node.target}: it does not fit the graph that it wraps",
        where=node.where,
        mend="export the model again",
    )


def opened(values: tuple[Value, ...]) -> list[TensorRef | SymRef]:
    """Return the tensors and symbols among results, lists opened."""
    found: list[TensorRef | SymRef] = []
    for value in values:
        if isinstance(value, TensorRef | SymRef):
            found.append(value)
        elif isinstance(value, tuple):
            found += opened(value)
    return found


def renamed(value: Value, names: dict[str, Value]) -> Value:
    match value:
        case TensorRef(name=name) | SymRef(name=name):
            return names[name]
        case tuple():
            return tuple(renamed(item, names) for item in value)
        case _:
            return value
