"""The shapes that the caller gives: `inputshape=[1,3,224,224]f32,[1,10]i64`, or `.npy` files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from converter.archive.program import Program, Range, SymInput, TensorInput, UserInput
from converter.dims import symbols_of
from converter.errors import ConvertError, UnsupportedError, UsageError
from converter.guards import check_guards
from converter.ir import DTYPES, Shape, is_possible
from converter.npy import read_header
from converter.symbols import UNKNOWN_SIZE, Symbols

_ONE = r"\s*\[((?:\s*\d+\s*(?:,\s*\d+\s*)*)?)\](\w*)\s*"
_SHAPE = re.compile(_ONE, re.ASCII)
_SHAPES = re.compile(f"{_ONE}(?:,{_ONE})*", re.ASCII)


class InputShape(NamedTuple):
    """The dims of one input; `dtype` is pnnx's name, None where it was not given."""

    dims: tuple[int, ...]
    dtype: str | None = None

    def __str__(self) -> str:
        return f"[{','.join(map(str, self.dims))}]{self.dtype or ''}"


class Given(NamedTuple):
    """The shapes of all inputs, and the argument that gave them, for messages."""

    key: str
    shapes: tuple[InputShape, ...]


def parse_shapes(text: str, key: str = "inputshape") -> tuple[InputShape, ...]:
    """Read `[1,3,224,224],[1,10]i64`. Raises UsageError."""
    if not _SHAPES.fullmatch(text):
        raise UsageError(
            f"{key}={text} cannot be read", mend=f"write {key}=[1,3,224,224],[1,10]i64"
        )
    shapes: list[InputShape] = []
    for dims, dtype in _SHAPE.findall(text):
        if dtype and dtype not in DTYPES:
            raise UsageError(f"{key}: {dtype!r} is no dtype", mend=f"one of {' '.join(DTYPES)}")
        shapes.append(InputShape(tuple(map(int, filter(None, dims.split(",")))), dtype or None))
    return tuple(shapes)


def read_npy_shapes(paths: Sequence[str | Path], key: str = "input") -> tuple[InputShape, ...]:
    """Read the shapes of `.npy` files, not their values. Raises UsageError."""
    return tuple(InputShape(*read_header(path, key)) for path in paths)


def bind(
    program: Program,
    shapes: Given | None,
    others: Given | None = None,
) -> Symbols:
    """Give the program's symbols the values that the shapes of `inputshape=` imply.

    Those for which `inputshape2=` implies another value stay dynamic, and so do all where no shapes
    are given. Where only `inputshape2=` is, it is compared with the shapes of the export. Raises
    UsageError for shapes that do not fit the program, and for a dim whose value is outside of the
    range that the program was exported for.
    """
    sizes = examples(program)
    if shapes is None and others is None:
        return Symbols({}, sizes)
    values = solve(program, shapes or Given("inputshape", exported(program)))
    if shapes is not None:
        sizes |= values
    if others is None:
        return Symbols(values, sizes)
    second = solve(program, others)
    fixed = {symbol: size for symbol, size in values.items() if second.get(symbol) == size}
    return Symbols(fixed, sizes)


def exported(program: Program) -> tuple[InputShape, ...]:
    """The shapes of the inputs of the export. Raises UsageError where the file does not tell."""
    known = Symbols(program.body.hints)
    try:
        return tuple(
            InputShape(known.shape(given.type.shape))
            for given in program.inputs
            if isinstance(given, TensorInput)
        )
    except UnsupportedError:
        raise UsageError(
            "inputshape2= is given alone, and the file does not tell the shapes of the export",
            mend="give inputshape=[…] too",
        ) from None


def examples(program: Program) -> dict[str, int]:
    """Sizes to draw inputs with: 128 where the program allows that, else those of the export.

    Numbers that the caller passes are those of the export.
    """
    hints = program.body.hints
    sizes: dict[str, int] = {}
    for given in sorted(program.inputs, key=lambda given: isinstance(given, TensorInput)):
        dims = given.type.shape if isinstance(given, TensorInput) else number_of(given)
        for symbol in frozenset().union(*map(symbols_of, dims)):
            size = clipped(UNKNOWN_SIZE, program.ranges.get(symbol))
            exported = hints.get(symbol, size)
            sizes.setdefault(symbol, size if isinstance(given, TensorInput) else exported)
    try:
        check_guards(program, Symbols(sizes), "")
    except ConvertError:
        return {symbol: hints.get(symbol, size) for symbol, size in sizes.items()}
    return sizes


def number_of(given: UserInput) -> Shape:
    return (given.expr,) if isinstance(given, SymInput) and isinstance(given.expr, str) else ()


def clipped(size: int, range: Range | None) -> int:
    low, high = range or (None, None)
    return max(size if high is None else min(size, high), 0 if low is None else low)


def solve(program: Program, asked: Given) -> dict[str, int]:
    """The values of symbols that shapes imply, checked. Raises UsageError."""
    key, shapes = asked
    symbols = Symbols()
    inputs = [given for given in program.inputs if isinstance(given, TensorInput)]
    if len(inputs) != len(shapes):
        raise UsageError(
            f"{key} has {len(shapes)} shapes, the model {len(inputs)} tensor inputs",
            mend=f"give one for each of {', '.join(given.name for given in inputs)}",
        )
    for given, shape in zip(inputs, shapes, strict=True):
        _bind_input(given, shape, symbols, key)
    for given, shape in zip(inputs, shapes, strict=True):
        _solve_input(given, shape, symbols)
    _check_ranges(program, symbols, key)
    _check_inputs(inputs, shapes, symbols, key)
    check_guards(program, symbols, key)
    return symbols.values


def _bind_input(given: TensorInput, shape: InputShape, symbols: Symbols, key: str) -> None:
    if len(given.type.shape) != len(shape.dims):
        raise UsageError(
            f"{key}: {shape} has {len(shape.dims)} dims, {given.name} {len(given.type.shape)}"
        )
    if shape.dtype not in (None, given.type.dtype):
        raise UsageError(
            f"{key}: {shape} is for {given.name}, whose dtype is {given.type.dtype}",
            mend="give that dtype, or export the model with the other",
        )
    if not is_possible(shape.dims, DTYPES[given.type.dtype].itemsize):
        raise UsageError(f"{key}: no machine holds {given.name} of {shape}")
    for dim, size in zip(given.type.shape, shape.dims, strict=True):
        if not isinstance(dim, str) or not dim.isidentifier():
            continue
        if symbols.values.setdefault(dim, size) != size:
            raise UsageError(
                f"{key}: the dim {dim} is {symbols.values[dim]} in one place and {size} in "
                f"{given.name}"
            )


def _solve_input(given: TensorInput, shape: InputShape, symbols: Symbols) -> None:
    """Find the symbol of a dim such as `2*s0+1`, which no input has as it is."""
    for dim, size in zip(given.type.shape, shape.dims, strict=True):
        unknown = symbols_of(dim) - symbols.values.keys()
        if len(unknown) != 1:
            continue
        (symbol,) = unknown
        at_zero, at_one = (Symbols({**symbols.values, symbol: value}).size(dim) for value in (0, 1))
        if at_one != at_zero:
            symbols.values[symbol] = (size - at_zero) // (at_one - at_zero)


def _check_ranges(program: Program, symbols: Symbols, key: str) -> None:
    for symbol, size in symbols.values.items():
        if symbol not in program.ranges:
            continue
        low, high = program.ranges[symbol]
        bounds = f"{'' if low is None else low}…{'' if high is None else high}"
        if (low is not None and size < low) or (high is not None and size > high):
            raise UsageError(
                f"{key}: the dim {symbol} is {size}, outside of {bounds} that the model was "
                "exported for"
            )


def _check_inputs(
    inputs: Sequence[TensorInput], shapes: Sequence[InputShape], symbols: Symbols, key: str
) -> None:
    for given, shape in zip(inputs, shapes, strict=True):
        wanted = symbols.shape(given.type.shape)
        if wanted != shape.dims:
            (dim, *_) = (at for at, size in enumerate(wanted) if size != shape.dims[at])
            raise UsageError(
                f"{key}: {shape} does not fit {given.name}, which was exported as "
                f"{InputShape(wanted)}",
                mend=f"give that shape, or export it with dynamic_shapes for dim {dim} of "
                f"{given.name}",
            )
