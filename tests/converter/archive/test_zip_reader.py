"""The zip reader against the standard library's writer, and against damaged and hostile files."""

from __future__ import annotations

import io
import os
import random
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from archives import write_zip

from converter.archive.region import Region, printable
from converter.archive.zip import CENTRAL, LOCAL, ZipFile
from converter.errors import ArchiveError, UsageError

CONTENT = random.Random(0).randbytes(3000) + bytes(2_000_000) + b"end"


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("limit", [1000, 1 << 20])
@pytest.mark.parametrize(("start", "stop"), [(0, None), (0, 10), (2999, 3001), (77, 1_500_000)])
def test_reads_ranges_of_entries(
    tmp_path: Path, compression: int, limit: int, start: int, stop: int | None
) -> None:
    file = ZipFile(
        Region.of(write_zip(tmp_path / "a.zip", {"a": b"1", "b/c": CONTENT}, compression))
    )
    chunks = [bytes(chunk) for chunk in file.chunks("b/c", limit, start, stop)]
    assert b"".join(chunks) == CONTENT[start:stop]
    assert max(map(len, chunks)) <= limit
    assert file.read("a", 1) == b"1"
    file.close()


def test_reads_an_empty_entry(tmp_path: Path) -> None:
    file = ZipFile(Region.of(write_zip(tmp_path / "a.zip", {"a": b""})))
    assert file.read("a", 0) == b""
    file.close()


def test_reads_zip64(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file, file.open("big", "w", force_zip64=True) as entry:
        entry.write(b"content")
    data = bytearray(path.read_bytes())
    # The sizes and the end record as a writer of huge files has them: in zip64 fields.
    directory = data.index(b"PK\1\2")
    size, packed, header = 7, 7, 0
    extra = struct.pack("<2H3Q", 1, 24, size, packed, header)
    record = data[directory : directory + 46] + b"big" + extra
    record[20:28] = b"\xff" * 8
    record[30:32] = struct.pack("<H", len(extra))
    record[42:46] = b"\xff" * 4
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, len(record), directory)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, directory + len(record), 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 0)
    path.write_bytes(data[:directory] + record + end64 + locator + end)
    reader = ZipFile(Region.of(path))
    assert reader.read("big", 100) == b"content"
    reader.close()


def fails(path: Path, text: str, entry: str | None = None) -> None:
    def read() -> None:
        file = ZipFile(Region.of(path))
        try:
            if entry:
                file.read(entry, 1 << 30)
        finally:
            file.close()

    with pytest.raises(ArchiveError, match=text) as caught:
        read()
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_refuses_what_is_no_zip_file(tmp_path: Path) -> None:
    path = tmp_path / "a.pt2"
    fails(path, "no such file")
    fails(tmp_path, "is not a file")
    path.write_bytes(b"")
    fails(path, "is empty")
    path.write_bytes(b"\x80\x02}q\x00." * 10)
    fails(path, "not a zip archive")
    path.write_bytes(b"PK")
    fails(path, "cut off")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    fails(tmp_path / "pipe", "is not a file")


def test_refuses_every_truncation(tmp_path: Path) -> None:
    whole = write_zip(tmp_path / "a.zip", {"a": b"12345", "b": b"67"}).read_bytes()
    path = tmp_path / "b.zip"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        fails(path, "is empty|cut off|damaged", "a")


def test_refuses_damaged_content(tmp_path: Path) -> None:
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        path = write_zip(tmp_path / "a.zip", {"a": CONTENT}, compression)
        data = bytearray(path.read_bytes())
        data[500] ^= 1
        path.write_bytes(data)
        fails(path, "damaged|does not unpack", "a")


def patched(path: Path, signature: bytes, offset: int, value: bytes) -> None:
    """Overwrite a field of the last record that has this signature."""
    data = bytearray(path.read_bytes())
    start = data.rindex(signature) + offset
    data[start : start + len(value)] = value
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("offset", "value", "text"),
    [
        (8, b"\1\0", "encrypted"),
        (10, b"\x0c\0", "compressed by method 12"),
        (20, b"\xf0\xff\xff\xff", "past the file's end"),
        (24, b"\xf0\xff\xff\xff", "impossible size"),
        (24, b"\xff\xff\xff\xff", "zip64"),
        (28, b"\xff\xff", "directory is damaged"),
        (42, b"\xf0\xff\xff\xff", "past the file's end"),
        (42, b"\0\0\0\0", "overlaps"),
        (42, b"\1\0\0\0", "overlaps"),
        (46, b"a", "twice"),
    ],
)
def test_refuses_a_bad_directory_entry(
    tmp_path: Path, offset: int, value: bytes, text: str
) -> None:
    path = write_zip(tmp_path / "a.zip", {"a": b"12345", "b": b"67890"})
    patched(path, b"PK\1\2", offset, value)
    fails(path, text)


@pytest.mark.parametrize(
    ("offset", "value"),
    [(10, b"\xf0\xff"), (12, b"\xf0\xff\xff\xff"), (16, b"\xf0\xff\xff\xff"), (10, b"\xff\xff")],
)
def test_refuses_a_bad_end_record(tmp_path: Path, offset: int, value: bytes) -> None:
    path = write_zip(tmp_path / "a.zip", {"a": b"12345"})
    patched(path, b"PK\5\6", offset, value)
    fails(path, "damaged|cut off")


def named(path: Path, name: str) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a", b"1")
        info = zipfile.ZipInfo("b")
        info.filename = name  # as it is: the constructor would mend it
        file.writestr(info, b"2")
    return path


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../x", "a/../../x", "a\\..\\x", "..", "C:/x", "C:\\x", "\\\\host\\x", ""],
)
def test_refuses_names_outside_of_the_archive(tmp_path: Path, name: str) -> None:
    fails(named(tmp_path / "a.zip", name), "lies outside of the archive")


@pytest.mark.parametrize("name", ["a.b/..c", "a:b/c", "x..", "…/ü", "a b"])
def test_reads_names_that_look_like_those(tmp_path: Path, name: str) -> None:
    file = ZipFile(Region.of(named(tmp_path / "a.zip", name)))
    assert file.read(name, 1) == b"2"
    file.close()


def test_refuses_symbolic_links(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        info = zipfile.ZipInfo("link")
        info.create_system = 3
        info.external_attr = 0o120777 << 16
        file.writestr(info, b"/etc/passwd")
    fails(path, "`link` is a symbolic link")


def test_refuses_a_wrong_checksum(tmp_path: Path) -> None:
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        path = write_zip(tmp_path / "a.zip", {"a": b"1", "b": CONTENT}, compression)
        patched(path, b"PK\1\2", 16, b"\1\2\3\4")
        fails(path, r"the content of `b` is damaged \(checksum\)", "b")


def test_an_entry_that_reaches_into_the_next_is_refused(tmp_path: Path) -> None:
    """Its local header has a longer name than its record, so that its content begins later."""
    path = write_zip(tmp_path / "a.zip", {"a": b"12345", "b": b"67890"})
    data = bytearray(path.read_bytes())
    data[28:30] = struct.pack("<H", 30)  # the first local header's extra field
    path.write_bytes(data)
    fails(path, "`a` overlaps another entry", "a")
    patched(path, b"PK\3\4", 28, struct.pack("<H", 30))
    fails(path, "`b` overlaps another entry", "b")


def test_reads_data_descriptors(tmp_path: Path) -> None:
    """Written to a stream: sizes and checksum follow the content, and are in the directory."""

    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.content = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            self.content += data
            return len(data)

    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        pipe = Pipe()
        with zipfile.ZipFile(pipe, "w", compression) as file:
            file.writestr("a", CONTENT)
            file.writestr("b", b"1")
        path = tmp_path / "a.zip"
        path.write_bytes(pipe.content)
        assert path.read_bytes()[6] & 8  # the bit that tells of them
        reader = ZipFile(Region.of(path))
        assert reader.read("a", 1 << 30) == CONTENT
        assert reader.read("b", 1) == b"1"
        reader.close()


def test_reads_a_part_of_a_big_file(tmp_path: Path) -> None:
    """5 GB, most of them a hole: what lies behind them is read, and nothing else."""
    path = tmp_path / "a.zip"
    hole = 5 << 30
    last = b"content"
    with path.open("wb") as file:
        file.write(LOCAL.pack(b"PK\3\4", 45, 0, 0, 0, 0, 0, 2**32 - 1, 2**32 - 1, 4, 0) + b"hole")
        file.seek(hole, 1)
        behind = file.tell()
        crc, size = zlib.crc32(last), len(last)
        file.write(LOCAL.pack(b"PK\3\4", 20, 0, 0, 0, 0, crc, size, size, 4, 0) + b"last" + last)
        start = file.tell()
        extra = struct.pack("<2H2Q", 1, 16, hole, hole)
        numbers = (0, 2**32 - 1, 2**32 - 1, 4, len(extra), 0, 0, 0, 0, 0)
        file.write(CENTRAL.pack(b"PK\1\2", 45, 45, 0, 0, 0, 0, *numbers) + b"hole" + extra)
        extra = struct.pack("<2HQ", 1, 8, behind)
        numbers = (crc, size, size, 4, len(extra), 0, 0, 0, 0, 2**32 - 1)
        file.write(CENTRAL.pack(b"PK\1\2", 45, 45, 0, 0, 0, 0, *numbers) + b"last" + extra)
        length = file.tell() - start
        end = file.tell()
        file.write(struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 2, 2, length, start))
        file.write(struct.pack("<4sLQL", b"PK\6\7", 0, end, 1))
        file.write(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 2, 2, length, 2**32 - 1, 0))
    if path.stat().st_blocks * 512 > 1 << 20:
        pytest.skip("the file system has no holes")
    tracemalloc.start()
    try:
        reader = ZipFile(Region.of(path))
        assert reader.entry("hole").size == hole
        assert reader.read("last", 100) == last
        first = next(reader._region.chunks(reader._content(reader.entry("hole")), hole, 1 << 20))
        assert bytes(first[:3]) == b"\0\0\0"
        reader.close()
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_a_bomb_is_known_by_its_total(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {str(number): bytes(1 << 20) for number in range(8)}
    path = write_zip(tmp_path / "a.zip", entries, zipfile.ZIP_DEFLATED)
    ZipFile(Region.of(path)).close()
    monkeypatch.setenv("PT2PNNX_UNPACKED_LIMIT", "1000000")
    fails(path, r"unpacks to 8388608 bytes, more than 1000000; set PT2PNNX_UNPACKED_LIMIT")
    monkeypatch.setenv("PT2PNNX_UNPACKED_RATIO", "1000")
    ZipFile(Region.of(path)).close()  # the files are a thousandth of that
    monkeypatch.setenv("PT2PNNX_UNPACKED_LIMIT", "much")
    with pytest.raises(UsageError, match="PT2PNNX_UNPACKED_LIMIT is 'much', which is no whole"):
        ZipFile(Region.of(path))
    stored = write_zip(tmp_path / "b.zip", entries)
    monkeypatch.setenv("PT2PNNX_UNPACKED_LIMIT", "1")
    ZipFile(Region.of(stored)).close()


def test_hostile_deflate_streams(tmp_path: Path) -> None:
    """Of a reserved kind, without an end, with bytes behind its end, referring before its start."""
    for packed in (
        b"\x07" * 20,
        b"\x00\x05\x00\xfa\xff123",
        zlib.compress(b"12345", wbits=-15) + b"more",
        b"\x03\x02" * 10,
        b"",
    ):
        crc = zlib.crc32(b"12345")
        path = tmp_path / "a.zip"
        head = LOCAL.pack(b"PK\3\4", 20, 0, 8, 0, 0, crc, len(packed), 5, 1, 0) + b"a" + packed
        record = CENTRAL.pack(
            b"PK\1\2", 20, 20, 0, 8, 0, 0, crc, len(packed), 5, 1, 0, 0, 0, 0, 0, 0
        )
        end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(record) + 1, len(head), 0)
        path.write_bytes(head + record + b"a" + end)
        fails(path, "does not unpack to its size|impossible size", "a")


def test_unpacks_no_more_than_declared(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"a": bytes(50_000_000)}, zipfile.ZIP_DEFLATED)
    fails(path, "too large", "a")
    patched(path, b"PK\1\2", 24, struct.pack("<L", 1000))
    fails(path, "does not unpack to its size", "a")
    patched(path, b"PK\1\2", 24, struct.pack("<L", 1 << 31))
    fails(path, "impossible size")


def test_foreign_names_are_fit_for_a_terminal(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"a\x1b[31m\nb": b"1", "c": b"2"})
    patched(path, b"PK\3\4", 0, b"PK\3\5")
    assert printable("a\x1b[31m\nb") == "a?[31m?b"
    assert len(printable("x" * 1000)) < 210
    fails(path, "header of `c` is damaged", "c")
