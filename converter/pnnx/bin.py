"""Read and write `.pnnx.bin`: a zip with one stored entry for each attribute, `operator.attribute`.

An entry holds the values row-major and little-endian, a bool as one byte.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from converter.errors import ConvertError
from converter.ir import DTYPES, Array, Attribute, Graph
from converter.pnnx.names import operator_names


class BinError(ConvertError):
    """The `.pnnx.bin` cannot be read or does not hold what the `.pnnx.param` says."""


_CHUNK = 1 << 20


def write_bin(graph: Graph, path: Path) -> None:
    """Write the attributes of a graph, a chunk at a time. The same graph makes the same bytes.

    Raises BinError if a tensor has fewer or more bytes than its shape says, or two share a name.
    """
    names = operator_names(graph)
    seen: set[str] = set()
    with zipfile.ZipFile(path, "w") as archive:
        for op in graph.operators:
            for key in sorted(op.attrs):
                entry = f"{names[op]}.{key}"
                if entry in seen:
                    raise BinError(f"two tensors are called {entry}", mend="rename one's module")
                seen.add(entry)
                _write_entry(archive, entry, op.attrs[key])


def _write_entry(archive: zipfile.ZipFile, name: str, attr: Attribute) -> None:
    info = zipfile.ZipInfo(name)
    info.create_system = 3  # the default tells Windows from Unix
    info.file_size = attr.nbytes  # above 2 GiB, zip64
    written = 0
    with archive.open(info, "w") as entry:
        for chunk in attr.data.chunks(_CHUNK):
            entry.write(chunk)
            written += len(chunk)
    if written != attr.nbytes:
        raise BinError(f"the tensor {name} has {written} bytes, not {attr.nbytes}")


class EntryData:
    """The values of one entry, read when asked for."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, attr: Attribute) -> None:
        self._archive = archive
        self._info = info
        self._dtype = DTYPES[attr.dtype]
        self._shape = attr.shape

    def chunks(self, limit: int) -> Iterator[memoryview]:
        """Yield the bytes, at most `limit` at a time. Raises BinError for a damaged entry."""
        try:
            with self._archive.open(self._info) as entry:
                while data := entry.read(limit):
                    yield memoryview(data)
        except (zipfile.BadZipFile, EOFError, OSError) as e:
            raise self._error(str(e)) from None

    def array(self) -> Array:
        """Return the tensor. Raises BinError for a damaged entry."""
        values = np.empty(self._shape, self._dtype)
        data = values.reshape(-1).view(np.uint8).data
        place = 0
        for chunk in self.chunks(_CHUNK):
            data[place : place + len(chunk)] = chunk
            place += len(chunk)
        if place != len(data):
            raise self._error("it ends too soon")
        return values

    def _error(self, why: str) -> BinError:
        return BinError(
            f"{self._archive.filename}: cannot read {self._info.filename}: {why}",
            mend="write the file again",
        )


def read_bin(graph: Graph, path: Path) -> None:
    """Give the attributes of a graph their values; they are read from the file when asked for.

    Raises BinError if the file is no zip, lacks an attribute or holds another number of bytes.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as e:
        raise BinError(f"cannot read {path}: {e}", mend="write the file again") from None
    entries = {info.filename: info for info in archive.infolist()}
    for op in graph.operators:
        for key, attr in op.attrs.items():
            name = f"{op.name}.{key}"
            if name not in entries:
                raise BinError(f"{path}: {name} is missing", mend="read the .param written with it")
            if entries[name].file_size != attr.nbytes:
                raise BinError(
                    f"{path}: {name} has {entries[name].file_size} bytes, not {attr.nbytes}",
                    mend="read the .param written with it",
                )
            attr.data = EntryData(archive, entries[name], attr)
