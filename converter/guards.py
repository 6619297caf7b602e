"""The conditions on its inputs that a program was exported under, checked for the given shapes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from converter.archive.program import Program, SymInput, TensorInput, TreeSpec
from converter.arithmetic import evaluate
from converter.errors import UnsupportedError, UsageError

Sizes = Mapping[str, tuple[int, ...]]
"""The shapes of the inputs by the Python that guards call them: `L['x']`, `L['xs'][1]`."""


def check_guards(program: Program, sizes: Mapping[str, tuple[int, ...]], key: str) -> None:
    """Check every guard; `sizes` are the shapes of the inputs by their names in the graph.

    Guards are Python, such as `L['x'].size()[0] % 2 == 0`; they are parsed, never run. Those on
    numbers that the caller passes are left to the caller. Raises UsageError for one that does not
    hold, UnsupportedError for one that cannot be read.
    """
    sources, numbers = input_sources(program, sizes)
    for guard in program.guards:
        try:
            tree = ast.parse(guard, mode="eval")
            if any(ast.unparse(part) in numbers for part in ast.walk(tree)):
                continue
            holds = evaluate(_Sizes(sources).visit(tree).body, {})
        except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
            raise UnsupportedError(
                f"the program's condition `{guard[:120]}` cannot be checked",
                mend="export the model without dynamic shapes",
            ) from None
        if not holds:
            raise UsageError(
                f"{key}: the shapes violate `{guard[:120]}`, under which the model was exported",
                mend="give other shapes, or export it for these",
            )


def input_sources(program: Program, sizes: Sizes) -> tuple[Sizes, frozenset[str]]:
    """Name the inputs as guards do: by argument, and by number in programs of strict exports.

    Return the shapes of tensors by name, and the names of numbers.
    """
    inputs = iter(program.inputs)
    args, kwargs = program.in_spec.children
    named = [
        *zip(program.argument_names, args.children, strict=False),
        *((str(name), child) for name, child in zip(kwargs.keys, kwargs.children, strict=True)),
    ]
    paths = [path for name, child in named for path in leaves(f"L[{name!r}]", child)]
    tensors: dict[str, tuple[int, ...]] = {}
    numbers: set[str] = set()
    for place, (path, given) in enumerate(zip(paths, inputs, strict=False)):
        names = path, f"L['flat_args'][{place}]"
        if isinstance(given, TensorInput):
            tensors |= dict.fromkeys(names, sizes[given.name])
        elif isinstance(given, SymInput):
            numbers |= set(names)
    return tensors, frozenset(numbers)


def leaves(path: str, spec: TreeSpec) -> Iterator[str]:
    """Spell the way to each leaf of an argument."""
    if spec.is_leaf:
        yield path
    for place, child in enumerate(spec.children):
        key = spec.keys[place] if spec.keys else place
        yield from leaves(f"{path}[{key!r}]", child)


class _Sizes(ast.NodeTransformer):
    """Puts numbers in the place of `L['x'].size()[0]`. Raises ValueError for other inputs."""

    def __init__(self, sources: Sizes) -> None:
        self._sources = sources

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        match node:
            case ast.Subscript(
                ast.Call(ast.Attribute(source, "size"), [], []), ast.Constant(int(dim))
            ):
                sizes = self._sources.get(ast.unparse(source), ())
                if dim < len(sizes):
                    return ast.Constant(sizes[dim])
        raise ValueError(ast.unparse(node))
