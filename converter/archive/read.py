"""Reads a `.pt2` file into a Program. The sample inputs in it are a pickle and are not read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypeVar

import msgspec

from converter.archive import schema
from converter.archive.contents import LEGACY, Place, find_contents
from converter.archive.graph import read_body
from converter.archive.program import OutputKind, Program, Range, TreeSpec
from converter.archive.region import DAMAGED, Region, printable
from converter.archive.signature import SignatureReader
from converter.archive.stored import Stored
from converter.archive.tree import read_tree
from converter.archive.zip import ZipFile
from converter.errors import ArchiveError

JSON_LIMIT = 256 << 20
"""Bytes of a JSON file that are read. A program of 10,000 nodes has about 20 MB."""

BARE = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|-?(?:Infinity|NaN)', re.DOTALL)
"""A string, or one of the numbers that JSON lacks."""

T = TypeVar("T")


def read_program(path: Path | str) -> Program:
    """Read a `.pt2` file, but not its weights: those are read from the open file on demand.

    Raises ArchiveError for a file that is not a sound exported program, UnsupportedError for one
    that holds what pnnx has no place for (a dtype, a custom class).
    """
    file = ZipFile(Region.of(Path(path)))
    try:
        return _read(file, Path(path))
    except RecursionError:
        file.close()
        raise file.error("is nested too deeply", DAMAGED) from None
    except BaseException:
        file.close()
        raise


def _read(file: ZipFile, path: Path) -> Program:
    contents = find_contents(file)
    program = _program(file, contents.program)
    module = program.graph_module
    call = next((entry.signature for entry in module.module_call_graph if not entry.fqn), None)
    if call is None:
        raise file.error("does not tell how its arguments nest", DAMAGED)
    body = read_body(file, module.graph)
    weights, constants = _stored(file, contents.weights), _stored(file, contents.constants)
    signature = SignatureReader(file, body, weights, constants)
    inputs, stored = signature.inputs(module.signature.input_specs)
    outputs = signature.outputs(module.signature.output_specs)
    out_spec = _tree(file, call.out_spec, module)
    results = [one for one in outputs if one.kind in (OutputKind.user, OutputKind.loss)]
    if len(results) != out_spec.leaves:
        raise file.error("its results do not fit the tree of them", DAMAGED)
    in_spec = _tree(file, call.in_spec, module)
    args_kwargs = in_spec.children
    if len(args_kwargs) != 2 or len(args_kwargs[1].keys) != len(args_kwargs[1].children):
        raise file.error("its tree of arguments is not of args and kwargs", DAMAGED)
    if len(inputs) != in_spec.leaves:
        raise file.error("its inputs do not fit the tree of them", DAMAGED)
    return Program(
        file,
        path=path,
        body=body,
        inputs=inputs,
        stored=stored,
        outputs=outputs,
        in_spec=in_spec,
        out_spec=out_spec,
        argument_names=tuple(call.forward_arg_names or ()),
        ranges={
            symbol: Range(given.min_val, given.max_val)
            for symbol, given in program.range_constraints.items()
        },
        guards=tuple(program.guards_code),
        torch_version=program.torch_version,
        notes=_notes(program),
    )


def _program(file: ZipFile, name: str) -> schema.ExportedProgram:
    """Decode the program. Where that fails for its version, the version is the reason given."""
    json = file.read(name, JSON_LIMIT)
    if name.endswith(LEGACY):
        json = quoted(json)
    try:
        program = _parsed(file, name, json, schema.ExportedProgram)
    except ArchiveError:
        _check_version(file, _parsed(file, name, json, schema.Versions))
        raise
    _check_version(file, program)
    return program


def quoted(json: bytes) -> bytes:
    """Write the numbers that JSON lacks as later torch does: until 2.6 they stood there bare."""
    if b"Infinity" not in json and b"NaN" not in json:
        return json
    return BARE.sub(lambda found: found[0] if found[0][:1] == b'"' else b'"%b"' % found[0], json)


def _check_version(file: ZipFile, program: schema.ExportedProgram | schema.Versions) -> None:
    """Refuse a schema whose major version is another one: its fields may mean something else."""
    version = program.schema_version
    if version.major not in schema.MAJORS:
        known = ".".join(map(str, schema.NEWEST))
        raise file.error(
            f"has schema version {version} (torch {printable(program.torch_version) or 'unknown'}),"
            f" not {known}",
            "save it again with torch >= 2.9"
            if version.major < schema.MAJORS[0]
            else "update pnnx-parity",
        )


def _notes(program: schema.ExportedProgram) -> tuple[str, ...]:
    """Tell of a newer minor version, which may add what is not known here, and changes nothing."""
    version = program.schema_version
    if (version.major, version.minor) <= schema.NEWEST:
        return ()
    known = ".".join(map(str, schema.NEWEST))
    return (
        f"the file has schema version {version} (torch {printable(program.torch_version)}), newer"
        f" than {known}: what that adds is not read",
    )


def _stored(file: ZipFile, place: Place) -> Stored:
    if place.pickled:
        from converter.archive.pickled import read_pickled

        return read_pickled(file, place.pickled)
    config = _decoded(file, place.config, schema.PayloadConfig).config
    return Stored(file, place.folder, place.folder, config)


def _decoded(file: ZipFile, name: str, type: type[T]) -> T:
    return _parsed(file, name, file.read(name, JSON_LIMIT), type)


def _parsed(file: ZipFile, name: str, text: bytes, type: type[T]) -> T:
    try:
        return msgspec.json.decode(text, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise file.error(
            f"`{printable(name)}` is damaged: {printable(str(error))}", DAMAGED
        ) from None


def _tree(file: ZipFile, text: str, module: schema.GraphModule) -> TreeSpec:
    try:
        return read_tree(text, module.treespec_namedtuple_fields)
    except ValueError as error:
        raise file.error(f"its tree of arguments is damaged: {printable(str(error))}") from None
