"""From a `.pt2` file to pnnx's and ncnn's files."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO, TypeVar

import numpy as np

from converter.archive.program import Program
from converter.archive.read import read_program
from converter.aten.kept import Kept
from converter.aten.lower import lower
from converter.errors import ConvertError, UsageError, foreseen
from converter.files import Outputs
from converter.ir import Graph
from converter.passes.base import Pass
from converter.passes.evaluated_shapes import check_shapes
from converter.passes.pipeline import run_passes
from converter.shapes import Given, InputShape, bind, parse_shapes, read_npy_shapes
from converter.statistics import Statistics, statistics
from converter.totals import check_total

Shapes = str | Sequence[Sequence[int]] | None
"""`"[1,3,224,224],[1,10]i64"`, or a list of shapes."""

Files = str | Sequence[Path | str]
Words = str | Sequence[str]
"""`"a,b"`, or a list."""

T = TypeVar("T")


@dataclass(frozen=True)
class Converted:
    """What a conversion wrote.

    `arithmetic_changed`: a pass took part after which results may differ from eager in their last
    bits. `ncnn_refusal`: why there are no ncnn files, None where there are or none were asked for;
    `removed`: older ones that would have been taken for those.
    `statistics`: the operations and the memory that the model takes, as pnnx counts them. `notes`:
    what the model does besides computing its results, and what was written of it does not.
    """

    files: tuple[Path, ...]
    passes: tuple[str, ...] = ()
    arithmetic_changed: bool = False
    ncnn_refusal: ConvertError | None = field(default=None, compare=False)
    statistics: Statistics | None = None
    notes: tuple[str, ...] = ()
    removed: tuple[Path, ...] = ()


@np.errstate(all="ignore")
def load(
    path: Path | str,
    *,
    inputshape: Shapes = None,
    inputshape2: Shapes = None,
    input: Files = (),
    input2: Files = (),
    moduleop: Words = (),
    customop: Words = (),
    optlevel: int = 2,
) -> Graph:
    """Read a `.pt2` file as a graph of PyTorch-level operators, as `.pnnx.param` would hold it.

    Weights are read from the file when they are asked for: it stays open as long as the graph.
    Raises ConvertError (ArchiveError, UnsupportedError, UsageError, UnforeseenError).
    """
    shapes = _shapes(inputshape, input, "")
    others = _shapes(inputshape2, input2, "2")
    kept = Kept.of(_listed(moduleop), _listed(customop))
    program = _read(path)
    try:
        return _graph(program, shapes, others, kept, optlevel)[0]
    except BaseException:
        program.close()
        raise


@np.errstate(all="ignore")  # what overflows is infinite, as in PyTorch
def convert(
    path: Path | str,
    *,
    pnnxparam: Path | str | None = None,
    pnnxbin: Path | str | None = None,
    pnnxpy: Path | str | None = None,
    ncnnparam: Path | str | None = None,
    ncnnbin: Path | str | None = None,
    ncnnpy: Path | str | None = None,
    fp16: bool = True,
    optlevel: int = 2,
    inputshape: Shapes = None,
    inputshape2: Shapes = None,
    input: Files = (),
    input2: Files = (),
    moduleop: Words = (),
    customop: Words = (),
    ncnn: bool = True,
) -> Converted:
    """Convert a `.pt2` file; outputs lie beside it under pnnx's names unless they are given.

    `fp16` stores ncnn's weights in half precision, as pnnx does. `ncnn=False` writes pnnx's files
    only. Where ncnn cannot express the model its files are not written and `ncnn_refusal` says why.
    `moduleop` names the classes of modules that become one operator each (`models.common.Focus`),
    `customop` the operators that are no PyTorch's own and are called all the same
    (`namespace.name`).

    Raises ArchiveError, UnsupportedError, UsageError or UnforeseenError; no file is left behind
    then.
    """
    path = Path(path)
    shapes = _shapes(inputshape, input, "")
    others = _shapes(inputshape2, input2, "2")
    kept = Kept.of(_listed(moduleop), _listed(customop))
    with _read(path) as program, Outputs(path) as outputs:
        names = _Names(path)
        pnnx_names = names.three("pnnx", pnnxparam, pnnxbin, pnnxpy)
        ncnn_names = names.three("ncnn", ncnnparam, ncnnbin, ncnnpy) if ncnn else ()
        pnnx_files = [outputs.path(name) for name in pnnx_names]
        ncnn_files = [outputs.path(name) for name in ncnn_names]
        graph, changed = _graph(program, shapes, others, kept, optlevel)
        with foreseen("write pnnx's files"):
            check_total(graph, path, "pnnx")
            counted = statistics(graph)
            _write_pnnx(graph, counted, pnnx_files, pnnx_names)
        refusal = None
        if ncnn:
            try:
                with foreseen("write ncnn's files"):
                    _write_ncnn(graph, path, ncnn_files, ncnn_names, fp16)
            except ConvertError as error:  # pnnx's files are right nevertheless
                refusal = error
                for name in ncnn_names:
                    outputs.drop(name)
        files, removed = outputs.commit()
    return Converted(
        files,
        tuple(one.name for one in changed),
        any(one.changes_arithmetic for one in changed),
        refusal,
        counted,
        tuple(graph.notes),
        removed,
    )


class _Names:
    """Where pnnx puts its files: beside the model, named after it."""

    def __init__(self, model: Path) -> None:
        self._model = model.with_suffix("") if model.suffix == ".pt2" else model

    def three(
        self, kind: str, param: Path | str | None, bin: Path | str | None, python: Path | str | None
    ) -> tuple[Path, Path, Path]:
        """The graph, the weights and the Python module of a kind; names that are given count."""
        name = self._model.name
        module = re.sub(r"\W", "_", name)  # an identifier
        return (
            Path(param or self._model.with_name(f"{name}.{kind}.param")),
            Path(bin or self._model.with_name(f"{name}.{kind}.bin")),
            Path(python or self._model.with_name(f"{module}_{kind}.py")),
        )


def _read(path: Path | str) -> Program:
    with foreseen("read the file"):
        return read_program(path)


def _graph(
    program: Program,
    shapes: Given | None,
    others: Given | None,
    kept: Kept,
    optlevel: int,
) -> tuple[Graph, list[Pass]]:
    """Lower and optimize a program; return its graph and the passes that changed something."""
    if optlevel not in (0, 1, 2):
        raise UsageError(f"optlevel={optlevel} is not 0, 1 or 2")
    with foreseen("convert the program"):
        graph = lower(program, bind(program, shapes, others), kept)
        graph.check()
        check_total(graph, program.path, "pnnx")
        check_shapes(graph)
    with foreseen("optimize the graph"):
        return graph, run_passes(graph, optlevel)


def _shapes(given: Shapes, files: Files, which: str) -> Given | None:
    """What `inputshape=` or `input=` gives, or the second of these."""
    key, file_key = f"inputshape{which}", f"input{which}"
    if given is None:
        paths = _listed(files)
        return Given(file_key, read_npy_shapes(paths, file_key)) if paths else None
    if files:
        raise UsageError(f"both {key} and {file_key} are given", mend="give one of them")
    if isinstance(given, str):
        return Given(key, parse_shapes(given, key))
    return Given(key, tuple(InputShape(tuple(dims)) for dims in given))


def _listed(given: str | Sequence[T]) -> Sequence[T | str]:
    """A text lists its words as the command line does."""
    return given.split(",") if isinstance(given, str) else given


def _write_pnnx(
    graph: Graph, counted: Statistics, files: Sequence[Path], names: Sequence[Path]
) -> None:
    """Write the three files, which will be called by these names."""
    from converter.pnnx.bin import write_bin
    from converter.pnnx.param import write_param
    from converter.pnnx.python import write_python

    param, bin, python = files
    _, bin_name, python_name = names
    _write_text(param, lambda stream: write_param(graph, stream))
    write_bin(graph, bin)
    head = ["pnnx model stat", *counted.lines()]
    _write_text(
        python,
        lambda stream: write_python(graph, stream, bin_name.name, python_name.stem, head),
    )


def _write_ncnn(
    graph: Graph, model: Path, files: Sequence[Path], names: Sequence[Path], fp16: bool
) -> None:
    from converter import ncnn

    param, bin, python = files
    param_name, bin_name, _ = names
    lowered = ncnn.lower(graph)
    check_total(lowered.layers, model, "ncnn")
    _write_text(param, lambda stream: ncnn.write_param(lowered, stream))
    with bin.open("wb") as stream:
        ncnn.write_bin(lowered, stream, fp16)
    _write_text(
        python,
        lambda stream: ncnn.write_python(lowered, stream, param_name.name, bin_name.name),
    )


def _write_text(path: Path, write: Callable[[TextIO], Any]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        write(stream)
