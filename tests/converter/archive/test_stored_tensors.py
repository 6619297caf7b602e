"""Stored tensors against torch's values: strides, offsets, shared storage, dtypes; and bounds."""

from __future__ import annotations

import copy
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from archives import Archive, meta, payload, tensor
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from converter.archive import Program, read_program
from converter.archive.weights import extent, is_contiguous
from converter.errors import ArchiveError
from converter.ir import DTYPES

LIMITS = (16, 100, 1 << 20)


def storages() -> dict[str, torch.Tensor]:
    """Tensors of every layout that a strided tensor may have."""
    torch.manual_seed(0)
    base = torch.rand(6, 8)
    shared = torch.rand(10)
    return {
        "plain": torch.rand(3, 4, 5),
        "scalar": torch.tensor(2.5),
        "empty": torch.empty(0, 3),
        "one": torch.rand(1, 1),
        "transposed": torch.rand(3, 4).t(),
        "permuted": torch.rand(2, 3, 4, 5).permute(3, 1, 0, 2),
        "channels_last": torch.rand(2, 3, 4, 4).to(memory_format=torch.channels_last),
        "sliced": base[1:5:2, 2:7:3],
        "column": base[:, 3],
        "row": base[4],
        "expanded": torch.rand(3, 1).expand(3, 400),
        "expanded_scalar": torch.tensor(1.5).expand(2, 3),
        "diagonal": torch.rand(4, 4).diagonal(),
        "overlapping": torch.rand(10).unfold(0, 4, 2),
        "shared_all": shared,
        "shared_head": shared[:4],
        "shared_tail": shared[4:].view(2, 3),
        "shared_empty": shared[10:],
    }


class Holder(nn.Module):
    """Uses each of its buffers once."""

    def __init__(self, buffers: dict[str, torch.Tensor]) -> None:
        super().__init__()
        for name, value in buffers.items():
            self.register_buffer(name, value)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(buffer.reshape(-1)[:0].to(x.dtype) + x for buffer in self.buffers())


def export(path: Path, buffers: dict[str, torch.Tensor]) -> Path:
    torch.export.save(torch.export.export(Holder(buffers), (torch.zeros(1),)), path)
    return path


def same_bits(array: np.ndarray[Any, Any], expected: torch.Tensor) -> bool:
    """Compare bit by bit: NumPy and torch share no bfloat16."""
    contiguous = expected.clone(memory_format=torch.contiguous_format)
    raw = contiguous.reshape(-1).view(torch.uint8).numpy().tobytes() if expected.numel() else b""
    return array.shape == tuple(expected.shape) and array.tobytes() == raw


def check(program: Program, buffers: dict[str, torch.Tensor]) -> None:
    stored = {found.fqn: found.attribute for found in program.stored.values()}
    assert stored.keys() == buffers.keys()
    for name, expected in buffers.items():
        attribute = stored[name]
        assert DTYPES[attribute.dtype].itemsize == expected.element_size()
        array = attribute.array()
        assert array.dtype == DTYPES[attribute.dtype]
        assert same_bits(array, expected), name
        for limit in LIMITS:
            chunks = [bytes(chunk) for chunk in attribute.data.chunks(limit)]
            assert all(0 < len(chunk) <= limit for chunk in chunks if expected.numel()), name
            assert b"".join(chunks) == array.tobytes(), name


def test_layouts(tmp_path: Path) -> None:
    buffers = storages()
    with read_program(export(tmp_path / "m.pt2", buffers)) as program:
        check(program, buffers)


def test_dtypes(tmp_path: Path) -> None:
    torch.manual_seed(0)
    values = torch.randn(4, 6) * 10
    buffers = {
        str(dtype).replace("torch.", "as_"): values.to(dtype)
        for dtype in (
            *(torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.bool),
            *(torch.int8, torch.int16, torch.int32, torch.int64),
        )
    }
    buffers["as_uint8"] = values.abs().to(torch.uint8)
    buffers["as_complex64"] = torch.complex(values, values.flip(0))
    buffers["as_complex128"] = buffers["as_complex64"].to(torch.complex128)
    buffers |= {f"{name}_t": value.clone().t() for name, value in buffers.items()}
    buffers["special"] = torch.tensor([float("nan"), float("inf"), -0.0, 1e-45])
    with read_program(export(tmp_path / "m.pt2", buffers)) as program:
        names = {found.fqn: found.attribute.dtype for found in program.stored.values()}
        assert names["as_bfloat16_t"] == "bf16"
        assert names["as_bool"] == "bool"
        assert names["as_uint8"] == "u8"
        assert names["as_complex128_t"] == "c128"
        check(program, buffers)


def test_tied_parameters(tmp_path: Path) -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(5, 3)
            self.head = nn.Linear(3, 5, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(self.embed(x))

    model = Tied()
    path = tmp_path / "m.pt2"
    torch.export.save(torch.export.export(model, (torch.zeros(2, dtype=torch.int64),)), path)
    with read_program(path) as program:
        for found in program.stored.values():
            assert not found.attribute.frozen
            assert same_bits(found.attribute.array(), model.embed.weight.detach())


def test_fake_weights_are_refused(tmp_path: Path) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        program = torch.export.export(nn.Linear(2, 2), (torch.zeros(1, 2),))
    torch.export.save(program, tmp_path / "m.pt2")
    with pytest.raises(ArchiveError, match="holds no values for `weight`"):
        read_program(tmp_path / "m.pt2")


def views() -> st.SearchStrategy[tuple[tuple[int, ...], tuple[int, ...], int]]:
    dims = st.tuples(st.integers(0, 4), st.integers(0, 9))
    return st.tuples(st.lists(dims, max_size=5), st.integers(0, 9)).map(
        lambda drawn: (
            tuple(size for size, _ in drawn[0]),
            tuple(stride for _, stride in drawn[0]),
            drawn[1],
        )
    )


@settings(max_examples=200, deadline=None)
@given(views(), st.integers(0, 60))
def test_any_view_is_what_torch_makes_of_it_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    view: tuple[tuple[int, ...], tuple[int, ...], int],
    length: int,
) -> None:
    shape, strides, offset = view
    storage = torch.arange(length, dtype=torch.int16)
    archive = Archive()
    archive.graph["tensor_values"]["p_w"] = meta(*shape, dtype=3)
    archive.weights["w"] = payload(
        "weight_0", meta(*shape, dtype=3, strides=strides, offset=offset)
    )
    archive.files["data/weights/weight_0"] = storage.numpy().tobytes()
    path = archive.write(tmp_path_factory.getbasetemp() / "view.pt2")
    fits = 0 in shape or offset + extent(shape, strides) <= length
    if not fits:
        with pytest.raises(ArchiveError, match=r"reaches past|holds no values"):
            read_program(path)
        return
    with read_program(path) as program:
        attribute = program.stored["p_w"].attribute
        expected = (
            torch.empty(shape, dtype=torch.int16)
            if 0 in shape
            else torch.as_strided(storage, shape, strides, offset)
        )
        assert is_contiguous(shape, strides) == expected.is_contiguous() or 0 in shape
        assert same_bits(attribute.array(), expected)
        chunks = [bytes(chunk) for chunk in attribute.data.chunks(7)]
        assert b"".join(chunks) == attribute.array().tobytes()


def large(path: Path, megabytes: int, strides: tuple[int, int] | None = None) -> Path:
    archive = Archive()
    rows = megabytes << 8
    archive.graph["tensor_values"]["p_w"] = meta(rows, 1024)
    archive.weights["w"] = payload("weight_0", meta(rows, 1024, strides=strides))
    archive.files["data/weights/weight_0"] = bytes(megabytes << 20)
    return archive.write(path)


def peak_of_streaming(path: Path) -> int:
    tracemalloc.start()
    try:
        with read_program(path) as program:
            count = sum(map(len, program.stored["p_w"].attribute.data.chunks(1 << 16)))
        assert count == 64 << 20
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_streams_through_a_small_buffer(tmp_path: Path) -> None:
    assert peak_of_streaming(large(tmp_path / "m.pt2", 64)) < 4 << 20


def test_gathers_through_one_copy(tmp_path: Path) -> None:
    path = large(tmp_path / "m.pt2", 64, strides=(1, 64 << 8))
    assert peak_of_streaming(path) < 70 << 20


def test_damaged_weights_are_found_when_they_are_read(tmp_path: Path) -> None:
    path = large(tmp_path / "m.pt2", 1)
    data = bytearray(path.read_bytes())
    data[500_000] ^= 1
    path.write_bytes(data)
    with read_program(path) as program:
        attribute = program.stored["p_w"].attribute
        with pytest.raises(ArchiveError, match="checksum"):
            attribute.array()
        with pytest.raises(ArchiveError, match="checksum"):
            list(attribute.data.chunks(100))


def test_a_part_of_a_damaged_payload_is_refused(tmp_path: Path) -> None:
    archive = Archive()
    archive.files["data/weights/weight_0"] = bytes(4000)
    path = archive.write(tmp_path / "m.pt2")
    data = bytearray(path.read_bytes())
    data[3000] ^= 1
    path.write_bytes(data)
    with read_program(path) as program, pytest.raises(ArchiveError, match="checksum"):
        program.stored["p_w"].attribute.array()


def test_archives_are_independent(tmp_path: Path) -> None:
    first = Archive()
    second = copy.deepcopy(first)
    second.graph["outputs"] = [tensor("x")]
    with (
        read_program(first.write(tmp_path / "a.pt2")) as a,
        read_program(second.write(tmp_path / "b.pt2")) as b,
    ):
        assert a.body.outputs != b.body.outputs
        assert np.array_equal(a.stored["p_w"].attribute.array(), b.stored["p_w"].attribute.array())
