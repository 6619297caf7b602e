"""`.pnnx.bin`: tensors of every dtype come back, in bounded memory, the same bytes every time."""

import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from converter.errors import ConvertError
from converter.ir import DTYPES, Array, Attribute, Graph
from converter.pnnx.bin import read_bin, write_bin

MIB = 1 << 20


def graph_of(**attrs: Attribute) -> Graph:
    graph = Graph()
    graph.add("nn.Module", "layer.0", attrs=attrs)
    return graph


def values(dtype: str, shape: tuple[int, ...]) -> Array:
    random = np.random.default_rng(0)
    count = int(np.prod(shape))
    raw = random.integers(0, 2, count * DTYPES[dtype].itemsize, dtype=np.uint8)
    return raw.view(DTYPES[dtype]).reshape(shape)


@pytest.mark.parametrize("dtype", sorted(DTYPES))
@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 4), (2, 3, 4)])
def test_tensors_come_back(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    array = values(dtype, shape)
    write_bin(graph_of(weight=Attribute.of(array)), tmp_path / "m.bin")
    read = graph_of(weight=Attribute.of(np.zeros(shape, DTYPES[dtype])))
    read_bin(read, tmp_path / "m.bin")
    weight = read.operators[0].attrs["weight"]
    assert weight.array().shape == shape
    assert weight.array().dtype == DTYPES[dtype]
    assert weight.array().tobytes() == array.tobytes()
    assert b"".join(map(bytes, weight.data.chunks(5))) == array.tobytes()


def test_entries_are_stored_under_the_operator_s_name(tmp_path: Path) -> None:
    attrs = {"weight": Attribute.of(np.ones(3, np.float32)), "a.b": Attribute.of(np.ones(2, "i1"))}
    write_bin(graph_of(**attrs), tmp_path / "m.bin")
    with zipfile.ZipFile(tmp_path / "m.bin") as archive:
        assert archive.testzip() is None
        entries = {info.filename: info for info in archive.infolist()}
    assert list(entries) == ["layer.0.a.b", "layer.0.weight"]
    assert {info.compress_type for info in entries.values()} == {zipfile.ZIP_STORED}


def test_the_same_graph_makes_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = graph_of(weight=Attribute.of(values("f32", (5, 7))))
    write_bin(graph, tmp_path / "a.bin")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    monkeypatch.setattr("time.time", lambda: 2e9)
    write_bin(graph, tmp_path / "b.bin")
    assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "b.bin").read_bytes()


class Zeros:
    """So many zero bytes, in one reused buffer."""

    def __init__(self, size: int) -> None:
        self.size = size

    def chunks(self, limit: int) -> Iterator[memoryview]:
        buffer = memoryview(bytes(min(limit, self.size)))
        for start in range(0, self.size, len(buffer)):
            yield buffer[: self.size - start]

    def array(self) -> Array:
        raise AssertionError("the whole tensor was asked for")


def test_memory_does_not_grow_with_the_tensor(tmp_path: Path) -> None:
    size = 48 * MIB
    graph = graph_of(weight=Attribute("u8", (size,), Zeros(size)))
    tracemalloc.start()
    try:
        write_bin(graph, tmp_path / "m.bin")
        read_bin(graph, tmp_path / "m.bin")
        read = sum(len(chunk) for chunk in graph.operators[0].attrs["weight"].data.chunks(MIB))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read == size
    assert peak < 6 * MIB


def test_large_tensors_need_zip64(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the limit of 2 GiB put down to 1000 bytes."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1000)
    array = values("f32", (50, 7))
    graph = graph_of(weight=Attribute.of(array))
    write_bin(graph, tmp_path / "m.bin")
    assert b"\x01\x00" in (tmp_path / "m.bin").read_bytes()[30:64]  # the zip64 field's tag
    read_bin(graph, tmp_path / "m.bin")
    assert graph.operators[0].attrs["weight"].array().tobytes() == array.tobytes()


def test_two_tensors_of_one_name_are_refused(tmp_path: Path) -> None:
    graph = Graph()
    for name, key in (("a", "b.weight"), ("a.b", "weight")):
        graph.add("nn.Module", name, attrs={key: Attribute.of(np.ones(1, np.float32))})
    with pytest.raises(ConvertError, match=r"two tensors are called a\.b\.weight"):
        write_bin(graph, tmp_path / "m.bin")


@pytest.mark.parametrize("shape", [(3,), (5,)])
def test_a_tensor_of_another_size_than_its_shape_is_refused(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    graph = graph_of(weight=Attribute("u8", shape, Zeros(4)))
    with pytest.raises(ConvertError, match=r"has 4 bytes, not \d"):
        write_bin(graph, tmp_path / "m.bin")


def test_a_file_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    write_bin(graph_of(weight=Attribute.of(np.ones(3, np.float32))), tmp_path / "m.bin")
    with pytest.raises(ConvertError, match=r"layer\.0\.bias is missing"):
        read_bin(graph_of(bias=Attribute.of(np.ones(3, np.float32))), tmp_path / "m.bin")
    with pytest.raises(ConvertError, match="12 bytes, not 16"):
        read_bin(graph_of(weight=Attribute.of(np.ones(4, np.float32))), tmp_path / "m.bin")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    graph = graph_of(weight=Attribute.of(np.full(64, 7, np.uint8)))
    path = tmp_path / "m.bin"
    write_bin(graph, path)
    data = path.read_bytes()
    path.write_bytes(data.replace(bytes([7] * 64), bytes([7] * 63 + [8])))
    read_bin(graph, path)
    with pytest.raises(ConvertError, match=r"cannot read layer\.0\.weight: Bad CRC"):
        graph.operators[0].attrs["weight"].array()
    for damaged in (b"", data[: len(data) // 2], b"no zip"):
        path.write_bytes(damaged)
        with pytest.raises(ConvertError, match="cannot read"):
            read_bin(graph, path)
    with pytest.raises(ConvertError, match="cannot read"):
        read_bin(graph, tmp_path / "missing.bin")
