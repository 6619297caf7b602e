"""Tensors that torch.save wrote: every layout of them, and pickles that are damaged or hostile."""

from __future__ import annotations

import collections
import io
import os
import pickle
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from archives import Archive, encoded, write_zip
from hypothesis import given, settings
from hypothesis import strategies as st
from test_hostile_archives import MEMORY, try_to_read
from torch._export.serde.serialize import _reconstruct_fake_tensor

from converter.archive import read_program
from converter.archive.pickled import read_pickled
from converter.archive.region import Region
from converter.archive.weights import stored_attribute
from converter.archive.zip import ZipFile
from converter.errors import ArchiveError, UnsupportedError
from converter.ir import DTYPES

REBUILD = torch._utils._rebuild_tensor_v2


class Call:
    """Is pickled as the call of a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.made = function, arguments

    def __reduce__(self) -> Any:
        return self.made


class Stored:
    """Is pickled as the reference to a storage."""

    def __init__(self, *identity: Any) -> None:
        self.identity = identity


FLOATS = Stored("storage", torch.FloatStorage, "0", "cpu", 3)


def tensor(*changes: tuple[int, Any]) -> Call:
    """Three floats; `changes` are (place, argument)."""
    arguments: list[Any] = [FLOATS, 0, (3,), (1,), False, collections.OrderedDict()]
    for place, argument in changes:
        arguments[place] = argument
    return Call(REBUILD, *arguments)


def pickled(value: Any, protocol: int = 2) -> bytes:
    class Pickler(pickle.Pickler):
        def persistent_id(self, one: Any) -> Any:
            return one.identity if isinstance(one, Stored) else None

    stream = io.BytesIO()
    Pickler(stream, protocol).dump(value)
    return stream.getvalue()


def saved(content: bytes, **others: bytes) -> bytes:
    """A file of torch.save's with this pickle and a storage of three floats."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("archive/data.pkl", content)
        file.writestr("archive/byteorder", others.get("byteorder", b"little"))
        file.writestr("archive/data/0", np.arange(3, dtype=np.float32).tobytes())
    return stream.getvalue()


def legacy(path: Path, weights: bytes, compression: int = zipfile.ZIP_STORED) -> Path:
    """A program as torch 2.7 wrote it: `x + w`."""
    entries = {
        "serialized_exported_program.json": encoded(Archive().program),
        "serialized_state_dict.pt": weights,
        "serialized_constants.pt": b"",
        "serialized_example_inputs.pt": b"not read",
        "version": b"8.7",
    }
    return write_zip(path, entries, compression)


def weight(path: Path) -> list[float]:
    with read_program(path) as program:
        values: list[float] = program.stored["p_w"].attribute.array().tolist()
        return values


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_reads_a_program_of_earlier_torch(tmp_path: Path, protocol: int, compression: int) -> None:
    content = pickled({"w": tensor()}, protocol)
    assert weight(legacy(tmp_path / "m.pt2", saved(content), compression)) == [0, 1, 2]


def test_reads_what_torch_saves(tmp_path: Path) -> None:
    """Of every dtype and layout, shared, as parameters and with attributes."""
    torch.manual_seed(0)
    base = torch.rand(6, 8)
    marked = torch.rand(3)
    marked.kept = True
    tensors: dict[str, Any] = {
        "turned": torch.rand(3, 4).t(),
        "sliced": base[1:5:2, 2:7:3],
        "row": base[4],
        "repeated": torch.rand(3, 1).expand(3, 40),
        "scalar": torch.tensor(2.5),
        "empty": torch.empty(0, 3),
        "marked": marked,
        "parameter": torch.nn.Parameter(torch.rand(2, 2)),
    }
    for dtype in (
        *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool),
        *(torch.float16, torch.bfloat16, torch.float64, torch.complex64, torch.complex128),
    ):
        tensors[str(dtype)] = (torch.rand(3, 2) * 9).to(dtype)
    for made in (tensors, collections.OrderedDict(tensors)):
        path = tmp_path / "m.zip"
        stream = io.BytesIO()
        torch.save(made, stream)
        write_zip(path, {"w.pt": stream.getvalue()})
        file = ZipFile(Region.of(path))
        found = read_pickled(file, "w.pt")
        assert list(found.tensors) == list(tensors)
        for name, expected in tensors.items():
            payload = found.tensors[name]
            attribute = stored_attribute(found.file, found.folder, name, payload)
            assert attribute.shape == tuple(expected.shape), name
            contiguous = expected.detach().clone(memory_format=torch.contiguous_format)
            raw = contiguous.reshape(-1).view(torch.uint8) if expected.numel() else contiguous
            assert attribute.array().tobytes() == raw.numpy().tobytes(), name
            assert attribute.array().dtype == DTYPES[attribute.dtype]
        assert found.tensors["parameter"].is_param
        assert found.tensors["row"].path_name == found.tensors["sliced"].path_name
        file.close()


def test_reads_the_state_of_a_module(tmp_path: Path) -> None:
    """Its dict has an attribute that tells of the versions of its modules."""
    module = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.BatchNorm1d(1))
    stream = io.BytesIO()
    torch.save(module.state_dict(), stream)
    file = ZipFile(Region.of(write_zip(tmp_path / "m.zip", {"w.pt": stream.getvalue()})))
    assert list(read_pickled(file, "w.pt").tensors) == list(module.state_dict())
    file.close()


@pytest.mark.parametrize("folder", ["", "m/"])
def test_earlier_programs_lie_in_a_folder_or_none(tmp_path: Path, folder: str) -> None:
    weights = saved(pickled({"w": tensor()}))
    with zipfile.ZipFile(legacy(tmp_path / "a.pt2", weights)) as file:
        entries = {folder + name: file.read(name) for name in file.namelist()}
    assert weight(write_zip(tmp_path / "m.pt2", entries)) == [0, 1, 2]


class Odd:
    pass


def newer(dtype: torch.dtype) -> Call:
    """A tensor of a dtype that has no class of storages."""
    storage = Stored("storage", torch.UntypedStorage, "0", "cpu", 12)
    hooks: Any = collections.OrderedDict()
    return Call(torch._utils._rebuild_tensor_v3, storage, 0, (3,), (1,), False, hooks, dtype)


FOREIGN: dict[str, tuple[Any, str]] = {
    "system": (Call(os.system, "true"), r"the class posix\.system"),
    "eval": (Call(eval, "1"), "eval"),
    "in a tensor": (tensor((5, Call(print, "x"))), "the class builtins.print|__builtin__.print"),
    "an object": (Odd(), "_reconstruct|Odd"),
    "a class": ({"w": Odd}, r"the class test_pickled\.Odd"),
    "a sparse tensor": (
        Call(torch._utils._rebuild_sparse_tensor, torch.sparse_coo, ()),
        "_rebuild_sparse_tensor",
    ),
    "uint16": ({"w": newer(torch.uint16)}, "`w` has the dtype uint16"),
    "float8": ({"w": newer(torch.float8_e4m3fn)}, "`w` has the dtype float8_e4m3fn"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_names_what_it_does_not_read(tmp_path: Path, name: str) -> None:
    value, text = FOREIGN[name]
    with pytest.raises(UnsupportedError, match=text):
        read_program(legacy(tmp_path / "m.pt2", saved(pickled(value))))


def storage(*changes: tuple[int, Any]) -> Call:
    identity: list[Any] = list(FLOATS.identity)
    for place, value in changes:
        identity[place] = value
    return tensor((0, Stored(*identity)))


WRONG: dict[str, tuple[Any, str]] = {
    "a list": ([tensor()], "does not hold tensors by name"),
    "no tensor": ({"w": 1}, "`w` is no tensor"),
    "no name": ({1: tensor()}, "does not hold tensors by name"),
    "a number of many digits": ({10**5000: tensor()}, "does not hold tensors by name"),
    "a size of many digits": ({"w": tensor((2, (10**5000,)))}, "with what it does not take"),
    "an offset of many digits": ({"w": tensor((1, 10**5000))}, "with what it does not take"),
    "another name": ({"v": tensor()}, "holds no values for `w`"),
    "a key": ({(1, 2): tensor()}, "neither text nor numbers"),
    "too many": ({"w": tensor((2, (4,)))}, "another type|reaches past the 12 bytes"),
    "an offset": ({"w": tensor((1, 1))}, "reaches past the 12 bytes"),
    "a negative offset": ({"w": tensor((1, -1))}, "offset that is none"),
    "an offset of another type": ({"w": tensor((1, "0"))}, "its pickle"),
    "a negative size": ({"w": tensor((2, (-3,)))}, "a size, stride or offset that is none"),
    "a huge size": ({"w": tensor((2, (2**62,)))}, "impossible shape"),
    "a size of another type": ({"w": tensor((2, (3.0,)))}, "its pickle"),
    "a long stride": ({"w": tensor((3, (2**62,)))}, "reaches past"),
    "strides": ({"w": tensor((3, (1, 1)))}, "stride or offset that is none"),
    "no storage": ({"w": tensor((0, None))}, "its pickle"),
    "another storage": ({"w": storage((2, "7"))}, "has no `archive/data/7`"),
    "a path": ({"w": storage((2, "../../x"))}, r"has no `archive/data/../../x`"),
    "a storage without a name": ({"w": storage((2, 0))}, "its pickle"),
    "a conjugate": (
        {"w": Call(REBUILD, *tensor().made[1], {"conj": True})},
        "with what it does not take",
    ),
    "arguments": ({"w": Call(REBUILD, 1)}, "its pickle"),
    "a fake tensor": (
        {"w": Call(_reconstruct_fake_tensor, b"{}", True)},
        "holds no values; export the model with real weights",
    ),
    "itself": (None, "does not hold tensors by name|is no tensor"),
}


@pytest.mark.parametrize("name", WRONG)
def test_refuses_a_wrong_pickle(tmp_path: Path, name: str) -> None:
    value, text = WRONG[name]
    if name == "itself":
        value = {}
        value["w"] = value
    with pytest.raises(ArchiveError, match=text) as caught:
        read_program(legacy(tmp_path / "m.pt2", saved(pickled(value))))
    assert "\n" not in str(caught.value)


DAMAGED: dict[str, bytes] = {
    "nothing": b"",
    "text": b"hello",
    "no end": b"\x80\x02}",
    "nothing to return": b"\x80\x02.",
    "two values": b"\x80\x02}}.",
    "no mark": b"\x80\x02}u.",
    "a short stack": b"\x80\x02R.",
    "no memo": b"\x80\x02h\x07.",
    "a long text": b"\x80\x04\x8d" + b"\xff" * 8 + b"x.",
    "no text": b"\x80\x02X\x01\0\0\0\xff.",
    "a number of many digits": b"I" + b"9" * 5000 + b"\n.",
    "an instance": b"\x80\x02(ios\nsystem\n.",
    "an object": b"\x80\x02cos\nsystem\n)\x81.",
    "an extension": b"\x80\x02\x82\x01.",
    "a name that is no text": b"\x80\x04K\x01K\x02\x93.",
    "a persistent name": b"\x80\x02Pabc\n.",
    "items of a list": b"\x80\x02]K\x01K\x02s.",
    "a list of items": b"\x80\x02}K\x01a.",
    "a state": b"\x80\x02]}b.",
    "odd items": b"\x80\x02}(K\x01u.",
    "a call of nothing": b"\x80\x02})R.",
    "deep": b"\x80\x02" + b")" + b"\x85" * 100_000 + b".",
    "deep lists": b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".",
    "many marks": b"\x80\x02" + b"(" * 100_000 + b"t" * 100_000 + b".",
    "a tree of doubles": b"\x80\x02)" + b"q\x00h\x00\x86" * 60 + b".",
    "many instructions": b"\x80\x02}" + b"N0" * 10 + b"K\x010" * 10 + b"." + b"}" * 100,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_refuses_a_damaged_pickle(tmp_path: Path, name: str) -> None:
    with pytest.raises((ArchiveError, UnsupportedError)) as caught:
        read_program(legacy(tmp_path / "m.pt2", saved(DAMAGED[name])))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_pickle_is_followed_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("converter.archive.pickled.STEPS_LIMIT", 100)
    path = legacy(tmp_path / "m.pt2", saved(b"\x80\x02" + b"}" * 200 + b"."))
    with pytest.raises(ArchiveError, match="more than 100 instructions"):
        read_program(path)


@settings(max_examples=200, deadline=2000)
@given(st.data())
def test_damaged_bytes_of_pickles(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(pickled({"w": tensor()}, data.draw(st.sampled_from([2, 4]), "protocol")))
    for _ in range(data.draw(st.integers(1, 3), "changes")):
        place = data.draw(st.integers(0, len(content) - 1), "place")
        content[place] = data.draw(st.integers(0, 255), "byte")
    tracemalloc.start()
    try:
        try_to_read(legacy(tmp_path_factory.getbasetemp() / "p.pt2", saved(bytes(content))))
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()


INNER: dict[str, tuple[Callable[[], bytes], str]] = {
    "no zip": (lambda: b"\x80\x02}.", "not a zip archive"),
    "cut off": (lambda: saved(pickled({"w": tensor()}))[:-30], "cut off"),
    "of others": (lambda: b"PK\5\6" + bytes(18), "not a zip archive"),
    "big": (lambda: saved(pickled({"w": tensor()}), byteorder=b"big"), "byteorder"),
}


@pytest.mark.parametrize("name", INNER)
def test_refuses_what_torch_does_not_save(tmp_path: Path, name: str) -> None:
    make, text = INNER[name]
    path = legacy(tmp_path / "m.pt2", make())
    with pytest.raises(ArchiveError, match=text) as caught:
        read_program(path)
    assert str(caught.value).startswith(f"{path}: in `serialized_state_dict.pt`: ")


def test_damage_is_found_by_either_checksum(tmp_path: Path) -> None:
    path = legacy(tmp_path / "m.pt2", saved(pickled({"w": tensor()})))
    content = path.read_bytes()
    values = content.index(np.arange(3, dtype=np.float32).tobytes())
    path.write_bytes(content[: values + 3] + b"\1" + content[values + 4 :])
    with pytest.raises(ArchiveError, match="checksum"):
        read_program(path)
    inner = saved(pickled({"w": tensor()}))
    values = inner.index(np.arange(3, dtype=np.float32).tobytes())
    inner = inner[: values + 3] + b"\1" + inner[values + 4 :]
    with pytest.raises(ArchiveError, match=r"in `serialized_state_dict\.pt`.*checksum"):
        weight(legacy(tmp_path / "m.pt2", inner))


@pytest.mark.parametrize("bare", [b"Infinity", b"-Infinity", b"NaN"])
def test_reads_numbers_that_json_lacks(tmp_path: Path, bare: bytes) -> None:
    """As torch 2.6 wrote them; in a text they are text."""
    archive = Archive()
    (node,) = archive.graph["nodes"]
    node["inputs"] += [
        {"name": "number", "arg": {"as_float": "@"}},
        {"name": "text", "arg": {"as_string": 'a \\" NaN, Infinity'}},
    ]
    json = encoded(archive.program).replace(b'"@"', bare)
    entries = {
        "serialized_exported_program.json": json,
        "serialized_state_dict.pt": saved(pickled({"w": tensor()})),
        "serialized_constants.pt": b"",
    }
    with read_program(write_zip(tmp_path / "m.pt2", entries)) as program:
        (_, number), (_, text) = program.body.nodes[0].inputs[-2:]
        assert str(number) == str(float(bare))
        assert text == 'a \\" NaN, Infinity'
    entries["serialized_exported_program.json"] = json.replace(b'"as_float": ', b'"as_int": ')
    with pytest.raises(ArchiveError, match="Expected `int`"):
        read_program(write_zip(tmp_path / "m.pt2", entries))


def test_tells_the_tensors_of_two_files_apart(tmp_path: Path) -> None:
    """Both have an entry 0."""
    archive = Archive()
    archive.graph["inputs"].insert(1, {"as_tensor": {"name": "c"}})
    archive.graph["tensor_values"]["c"] = archive.graph["tensor_values"]["p_w"]
    archive.signature["input_specs"].insert(
        1, {"tensor_constant": {"arg": {"name": "c"}, "tensor_constant_name": "c"}}
    )
    entries = {
        "serialized_exported_program.json": encoded(archive.program),
        "serialized_state_dict.pt": saved(pickled({"w": tensor()})),
        "serialized_constants.pt": saved(pickled({"c": tensor()})),
    }
    with read_program(write_zip(tmp_path / "m.pt2", entries)) as program:
        assert len({one.storage for one in program.stored.values()}) == 2


def test_streams_through_a_small_buffer(tmp_path: Path) -> None:
    """The outer file's entry is read where it lies: never as a whole."""
    archive = Archive()
    rows = 64 << 8
    stream = io.BytesIO()
    torch.save({"w": torch.zeros(rows, 1024)}, stream)
    for name, dims in {"p_w": (rows, 1024), "x": (1, 1024), "add": (rows, 1024)}.items():
        archive.graph["tensor_values"][name]["sizes"] = [{"as_int": dim} for dim in dims]
        archive.graph["tensor_values"][name]["strides"] = [{"as_int": 1024}, {"as_int": 1}]
    entries = {
        "serialized_exported_program.json": encoded(archive.program),
        "serialized_state_dict.pt": stream.getvalue(),
        "serialized_constants.pt": b"",
    }
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        path = write_zip(tmp_path / "m.pt2", entries, compression)
        tracemalloc.start()
        try:
            with read_program(path) as program:
                count = sum(map(len, program.stored["p_w"].attribute.data.chunks(1 << 16)))
            assert count == 64 << 20
            assert tracemalloc.get_traced_memory()[1] < 6 << 20
        finally:
            tracemalloc.stop()
