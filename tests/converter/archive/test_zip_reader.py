"""The zip reader against the standard library's writer, and against damaged and hostile files."""

from __future__ import annotations

import os
import random
import struct
import zipfile
from pathlib import Path

import pytest
from archives import write_zip

from converter.archive.zip import ZipFile, printable
from converter.errors import ArchiveError

CONTENT = random.Random(0).randbytes(3000) + bytes(2_000_000) + b"end"


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("limit", [1000, 1 << 20])
@pytest.mark.parametrize(("start", "stop"), [(0, None), (0, 10), (2999, 3001), (77, 1_500_000)])
def test_reads_ranges_of_entries(
    tmp_path: Path, compression: int, limit: int, start: int, stop: int | None
) -> None:
    file = ZipFile(write_zip(tmp_path / "a.zip", {"a": b"1", "b/c": CONTENT}, compression))
    chunks = [bytes(chunk) for chunk in file.chunks("b/c", limit, start, stop)]
    assert b"".join(chunks) == CONTENT[start:stop]
    assert max(map(len, chunks)) <= limit
    assert file.read("a", 1) == b"1"
    file.close()


def test_reads_an_empty_entry(tmp_path: Path) -> None:
    file = ZipFile(write_zip(tmp_path / "a.zip", {"a": b""}))
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
    reader = ZipFile(path)
    assert reader.read("big", 100) == b"content"
    reader.close()


def fails(path: Path, text: str, entry: str | None = None) -> None:
    def read() -> None:
        file = ZipFile(path)
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
