"""Random damage to a sound file: a clear refusal or a sound program, and never anything else."""

from __future__ import annotations

import copy
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from archives import Archive, meta, payload, tensor, write_zip
from hypothesis import given, settings
from hypothesis import strategies as st

from converter.archive import read_program
from converter.errors import ArchiveError, UnsupportedError


def rich() -> Archive:
    """A small program with most of what the format has."""
    archive = Archive()
    expression = {"as_expr": {"expr_str": "Mul(Integer(2), Symbol('s0'))"}}
    archive.graph["tensor_values"]["x"]["sizes"][0] = expression
    archive.graph["tensor_values"]["c"] = meta(2, 2, strides=(1, 2))
    archive.graph["inputs"].insert(1, tensor("c"))
    archive.signature["input_specs"].insert(
        1, {"tensor_constant": {"arg": {"name": "c"}, "tensor_constant_name": "c"}}
    )
    archive.constants["c"] = payload("tensor_0", meta(2, 2, strides=(1, 2)))
    archive.files["data/constants/tensor_0"] = bytes(range(16))
    archive.graph["sym_int_values"] = {"n": expression}
    inner = Archive().graph
    archive.graph["nodes"].append(
        {
            "target": "torch.ops.higher_order.cond",
            "inputs": [
                {"name": "", "arg": {"as_graph": {"name": "g", "graph": inner}}},
                {"name": "", "arg": {"as_optional_tensors": [tensor("x"), {"as_none": True}]}},
                {"name": "f", "arg": {"as_floats": [1.5, "Infinity"]}},
                {"name": "d", "arg": {"as_device": {"type": "cpu", "index": None}}},
            ],
            "outputs": [{"as_sym_int": {"as_name": "n"}}],
            "metadata": {"stack_trace": 'File "a.py", line 1, in f\n    x'},
        }
    )
    archive.program["range_constraints"] = {"s0": {"min_val": 2, "max_val": None}}
    return archive


MEMORY = 40 << 20
"""Bytes that no small file may make the reader allocate."""


def try_to_read(path: Path) -> bool:
    """Read a file and all its weights; tell whether it was accepted. Other exceptions escape."""
    refusal = ""
    try:
        with read_program(path) as program:
            for stored in program.stored.values():
                array = stored.attribute.array()
                assert array.shape == stored.attribute.shape
                content = b"".join(map(bytes, stored.attribute.data.chunks(13)))
                assert content == array.tobytes()
    except (ArchiveError, UnsupportedError) as error:
        refusal = str(error)
    assert "\n" not in refusal
    return not refusal


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = rich().write(tmp_path_factory.mktemp("whole") / "m.pt2", zipfile.ZIP_DEFLATED)
    assert try_to_read(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / "m.pt2"


@settings(max_examples=150, deadline=2000)
@given(st.data())
def test_damaged_bytes(whole: bytes, scratch: Path, data: st.DataObject) -> None:
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4), "changes")):
        position = data.draw(st.integers(0, len(content) - 1), "position")
        content[position] = data.draw(st.integers(0, 255), "byte")
    scratch.write_bytes(content[: data.draw(st.just(len(content)) | st.integers(0, len(content)))])
    try_to_read(scratch)


def places(value: Any) -> list[tuple[Any, Any]]:
    """List every place in a JSON value, as its container and key."""
    children = value.items() if isinstance(value, dict) else enumerate(value)
    found: list[tuple[Any, Any]] = []
    if isinstance(value, dict | list):
        for key, child in children:
            found.append((value, key))
            if isinstance(child, dict | list):
                found += places(child)
    return found


ODD: list[Any] = [
    None,
    True,
    -1,
    2,
    2**31,
    2**63 - 1,
    2**63,
    2**200,
    -(2**63),
    1.5,
    1e308,
    "",
    "x",
    "add",
    "NaN",
    "\x00\ud7ff",
    "\ud800",
    "s0",
    "9" * 5000,
    [],
    {},
    [[]],
    {"as_int": 1},
    {"as_tensor": {"name": "x"}},
    {"as_expr": {"expr_str": "2**2**2**9999"}},
    {"as_expr": {"expr_str": "__import__('os').abort()"}},
    {"as_expr": {"expr_str": "(" * 90 + ")" * 90}},
]


@settings(max_examples=400, deadline=2000)
@given(st.data())
def test_damaged_json(scratch: Path, data: st.DataObject) -> None:
    archive = rich()
    for part in (archive.program, archive.weights, archive.constants):
        for _ in range(data.draw(st.integers(0, 2), "changes")):
            container, key = data.draw(st.sampled_from(places(part)), "place")
            if data.draw(st.booleans(), "remove"):
                del container[key]
            else:
                container[key] = copy.deepcopy(data.draw(st.sampled_from(ODD), "value"))
            if not places(part):
                break
    archive.write(scratch)
    tracemalloc.start()
    try:
        try_to_read(scratch)
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()


@settings(max_examples=100, deadline=2000)
@given(st.sampled_from(["in_spec", "out_spec"]), st.data())
def test_damaged_trees(scratch: Path, which: str, data: st.DataObject) -> None:
    archive = rich()
    spec = json.loads(archive.call[which])
    container, key = data.draw(st.sampled_from(places(spec)), "place")
    container[key] = copy.deepcopy(data.draw(st.sampled_from(ODD), "value"))
    archive.call[which] = json.dumps(spec)
    archive.write(scratch)
    try_to_read(scratch)


def test_repeated_weights_are_not_allocated(tmp_path: Path) -> None:
    archive = Archive()
    archive.graph["tensor_values"]["p_w"] = meta(1 << 35)
    archive.weights["w"] = payload("weight_0", meta(1 << 35, strides=(0,)))
    assert not try_to_read(archive.write(tmp_path / "m.pt2"))


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    entries = Archive().entries()
    entries["net/models/model.json"] = b'{"a":"' + b" " * (100 << 20) + b'"}'
    path = write_zip(tmp_path / "m.pt2", entries, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 1 << 20
    tracemalloc.start()
    try:
        assert not try_to_read(path)
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()
