"""The conditions on its inputs that a program was exported under, checked for the given shapes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from converter.archive.program import Program, SymInput, TensorInput, TreeSpec
from converter.archive.tree import DEPTH_LIMIT
from converter.arithmetic import UnknownSymbolError, evaluate
from converter.errors import UnsupportedError, UsageError
from converter.symbols import UNREADABLE, Symbols

Source = tuple[int, ...] | bool | int | float | None
"""An input: the shape of a tensor, a number, or None for one that is not known yet."""


def check_guards(program: Program, symbols: Symbols, key: str) -> None:
    """Check every guard for the sizes that symbols have.

    Guards are Python, such as `L['x'].size()[0] % 2 == 0`; they are parsed, never run. Those on
    numbers that the caller passes when the model runs are left to the caller. Raises UsageError for
    one that does not hold, UnsupportedError for one that cannot be read.
    """
    sources = dict(input_sources(program, symbols))
    open_numbers = {path for path, value in sources.items() if value is None}
    for guard in program.guards:
        try:
            tree = ast.parse(guard, mode="eval")
            if any(spelled(part) in open_numbers for part in ast.walk(tree)):
                continue
            holds = evaluate(_Sizes(sources).visit(tree).body, {})
        except (*UNREADABLE, UnknownSymbolError):
            raise UnsupportedError(
                f"the program's condition `{guard[:120]}` cannot be checked",
                mend="export the model without dynamic shapes",
            ) from None
        if not holds:
            raise UsageError(
                f"{key}: the shapes violate `{guard[:120]}`, under which the model was exported",
                mend="give other shapes, or export it for these",
            )


def input_sources(program: Program, symbols: Symbols) -> Iterator[tuple[str, Source]]:
    """Name the inputs as guards do: by argument, and by number in programs of strict exports."""
    inputs = iter(program.inputs)
    args, kwargs = program.in_spec.children
    named = [
        *zip(program.argument_names, args.children, strict=False),
        *((str(name), child) for name, child in zip(kwargs.keys, kwargs.children, strict=True)),
    ]
    names = {name for name, _ in named}
    paths = [
        spellings
        for name, child in named
        for spellings in zip(*(leaves(root, child) for root in roots(name, names)), strict=True)
    ]
    for place, (spellings, given) in enumerate(zip(paths, inputs, strict=False)):
        source: Source
        if isinstance(given, TensorInput):
            source = symbols.shape(given.type.shape)
        elif isinstance(given, SymInput):
            source = symbols.number(given.expr)
        else:
            continue
        yield from ((path, source) for path in (*spellings, f"L['flat_args'][{place}]"))


def roots(name: str, names: set[str]) -> Iterator[str]:
    """Spell an argument; one that is called `xs_1` may be the second that `*xs` takes."""
    yield f"L[{name!r}]"
    variadic, _, place = name.rpartition("_")
    if variadic and place.isdecimal() and variadic not in names:
        yield f"L[{variadic!r}][{int(place)}]"


def leaves(path: str, spec: TreeSpec) -> Iterator[str]:
    """Spell the way to each leaf of an argument."""
    if spec.is_leaf:
        yield path
    for place, child in enumerate(spec.children):
        key = spec.keys[place] if spec.keys else place
        yield from leaves(f"{path}[{key!r}]", child)


def spelled(node: ast.AST) -> str:
    """Spell what may be an input, `L['x'][0]`, as `leaves` does; "" for anything else.

    No input nests deeper than trees of arguments: whoever asks for each part of a long condition
    walks a few steps from each.
    """
    keys: list[str] = []
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        keys.append(f"[{node.slice.value!r}]")
        node = node.value
        if len(keys) > 2 * DEPTH_LIMIT:
            return ""
    return "L" + "".join(reversed(keys)) if isinstance(node, ast.Name) and node.id == "L" else ""


class _Sizes(ast.NodeTransformer):
    """Puts numbers in the place of `L['x'].size()[0]` and `L['k']`, which is a number. Raises
    ValueError for other inputs.
    """

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        match node:
            case ast.Subscript(
                ast.Call(ast.Attribute(source, "size"), [], []), ast.Constant(int(dim))
            ):
                sizes = self._sources.get(spelled(source))
                if isinstance(sizes, tuple) and dim < len(sizes):
                    return ast.Constant(sizes[dim])
        number = self._sources.get(spelled(node))
        if isinstance(number, bool | int | float):
            return ast.Constant(number)
        raise ValueError("no input that is known")
