"""Reads the zip container of a `.pt2`, trusting nothing that the file says about itself.

Own code instead of `zipfile`, which takes the sizes that a file claims at their word, and raises
half a dozen kinds of exceptions for damaged ones. Format: PKWARE APPNOTE 6.3, sections 4.3.7 to
4.3.16 (local header, central directory, end records, zip64) and 4.5.3 (zip64 sizes).
"""

from __future__ import annotations

import stat
import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from converter.archive.limits import unpacked_limit
from converter.archive.region import DAMAGED, Region, printable
from converter.errors import ArchiveError

LOCAL: Final = struct.Struct("<4s5H3L2H")
CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
END: Final = struct.Struct("<4s4H2LH")
END64_LOCATOR: Final = struct.Struct("<4sLQL")
END64: Final = struct.Struct("<4sQ2H2L4Q")

STORED, DEFLATED = 0, 8
ENCRYPTED = 1
"""General purpose flag bit."""
UNIX = 3
"""The system whose file modes an entry has."""
ZIP64_EXTRA = 1

DIRECTORY_LIMIT = 64 << 20
"""Bytes of central directory that are read: about half a million entries."""
DEFLATE_RATIO = 1032
"""Deflate cannot expand further than this (zlib's documentation)."""
INFLATED_LIMIT = 32 << 20
"""Bytes of a deflated entry that are held in memory at once. torch does not deflate."""
BUFFER = 1 << 20

EXPORT = "save one with torch.export.save(torch.export.export(model, inputs), 'model.pt2')"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in the archive, as the central directory has it. `size` is that of its content."""

    name: str
    method: int
    crc: int
    packed: int
    size: int
    header: int


class ZipFile:
    """The entries of a zip file by name, read on demand. Raises ArchiveError and nothing else."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._sound: set[str] = set()
        self._inner: list[ZipFile] = []
        self._copies: dict[str, Region] = {}
        try:
            self.entries: Mapping[str, Entry] = self._directory()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for inner in self._inner:
            inner.close()
        for copy in self._copies.values():
            copy.close()
        self._region.close()

    def error(self, message: str, mend: str = "") -> ArchiveError:
        """Make an error that names the file."""
        return self._region.error(message, mend)

    def inside(self, name: str) -> ZipFile:
        """Open the zip file that an entry is. What is stored is read where it lies.

        Its checksum is verified; what is deflated is unpacked to the disk meanwhile.
        """
        entry = self.entry(name)
        if entry.method == DEFLATED:
            region = self._region.copied(name, self.chunks(name, BUFFER))
        else:
            for _ in self.chunks(name, BUFFER):
                pass
            region = self._region.part(name, self._content(entry), entry.size)
        self._inner.append(ZipFile(region))
        return self._inner[-1]

    def read(self, name: str, limit: int) -> bytes:
        """Return an entry's whole content: at most `limit` bytes, or INFLATED_LIMIT of deflated."""
        entry = self.entry(name)
        if entry.size > (min(limit, INFLATED_LIMIT) if entry.method == DEFLATED else limit):
            raise self.error(f"`{printable(name)}` is too large: {entry.size} bytes")
        content = bytearray()
        for chunk in self.chunks(name, BUFFER):
            content += chunk
        return bytes(content)

    def entry(self, name: str) -> Entry:
        try:
            return self.entries[name]
        except KeyError:
            raise self.error(f"has no `{printable(name)}`", DAMAGED) from None

    def chunks(
        self, name: str, limit: int, start: int = 0, stop: int | None = None
    ) -> Iterator[memoryview]:
        """Yield an entry's content from `start` to `stop`, at most `limit` bytes at a time.

        A chunk is valid until the next. The checksum of the whole entry is verified once: here if
        all of it is read, else by a pass of its own beforehand.
        """
        entry = self.entry(name)
        stop = entry.size if stop is None else stop
        assert 0 <= start <= stop <= entry.size
        if name not in self._sound and (start, stop) != (0, entry.size):
            for _ in self.chunks(name, BUFFER):
                pass
        if entry.method == DEFLATED and name in self._sound:
            content = self._unpacked(entry).chunks(start, stop - start, limit)
        elif entry.method == DEFLATED:
            content = self._inflated(entry, limit)
        else:
            content = self._region.chunks(self._content(entry) + start, stop - start, limit)
        if name in self._sound:
            yield from content
            return
        crc = 0
        for chunk in content:
            crc = zlib.crc32(chunk, crc)
            yield chunk
        if crc != entry.crc:
            raise self.error(f"the content of `{printable(name)}` is damaged (checksum)", DAMAGED)
        self._sound.add(name)

    # --- content

    def _content(self, entry: Entry) -> int:
        """Return where an entry's content begins, past its local header."""
        header = self._region.at(entry.header, LOCAL.size)
        signature, _, flags, method, *_, name_length, extra_length = LOCAL.unpack(header)
        if signature != b"PK\3\4" or flags & ENCRYPTED or method != entry.method:
            raise self.error(f"the header of `{printable(entry.name)}` is damaged", DAMAGED)
        start = entry.header + LOCAL.size + int(name_length) + int(extra_length)
        if start + entry.packed > self._ends[bisect_right(self._ends, entry.header)]:
            raise self.error(f"`{printable(entry.name)}` overlaps another entry", DAMAGED)
        return start

    def _unpacked(self, entry: Entry) -> Region:
        """A deflated entry on the disk, for all who read it after the first: unpacked once more."""
        if entry.name not in self._copies:
            chunks = self._inflated(entry, BUFFER)
            self._copies[entry.name] = self._region.copied(entry.name, chunks)
        return self._copies[entry.name]

    def _inflated(self, entry: Entry, limit: int) -> Iterator[memoryview]:
        """Unpack a deflated entry, never past the size that was declared and checked."""
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        count = 0
        rest: bytes | memoryview = b""
        try:
            for packed in self._region.chunks(self._content(entry), entry.packed, BUFFER):
                rest, full = packed, True
                while (rest or full) and count <= entry.size and not inflater.eof:
                    chunk = inflater.decompress(rest, limit)
                    rest, full = inflater.unconsumed_tail, len(chunk) == limit
                    count += len(chunk)
                    if chunk and count <= entry.size:
                        yield memoryview(chunk)
        except zlib.error:
            count = -1
        ends = inflater.eof and not inflater.unused_data and not rest
        if count != entry.size or not ends:
            raise self.error(f"`{printable(entry.name)}` does not unpack to its size", DAMAGED)

    # --- directory

    def _directory(self) -> dict[str, Entry]:
        """Read the central directory; check each entry against the file's size and the others."""
        count, size, start = self._end()
        if size > min(DIRECTORY_LIMIT, self._region.length) or count * CENTRAL.size > size:
            raise self.error("its directory is damaged or too large", DAMAGED)
        directory = self._region.at(start, size)
        entries: dict[str, Entry] = {}
        position = 0
        for _ in range(count):
            entry, position = self._entry(directory, position)
            if entry.name in entries:
                raise self.error(f"holds `{printable(entry.name)}` twice", DAMAGED)
            entries[entry.name] = entry
        end, last = 0, ""
        for entry in sorted(entries.values(), key=lambda entry: entry.header):
            if entry.header < end:
                raise self.error(f"`{printable(entry.name)}` overlaps another entry", DAMAGED)
            end, last = entry.header + LOCAL.size + entry.packed, entry.name
        if end > start:
            raise self.error(f"`{printable(last)}` overlaps its directory", DAMAGED)
        unpacked = sum(entry.size for entry in entries.values() if entry.method == DEFLATED)
        if unpacked > (limit := unpacked_limit(self._region.length)):
            raise self.error(
                f"unpacks to {unpacked} bytes, more than {limit}",
                "set PT2PNNX_UNPACKED_LIMIT to more if you trust the file",
            )
        self._ends = [*sorted(entry.header for entry in entries.values()), start]
        return entries

    def _end(self) -> tuple[int, int, int]:
        """Find the end record: the number of entries, the directory's size and its place."""
        if self._region.length == 0:
            raise self.error("is empty", "save the program again with torch.export.save")
        if self._region.length >= 4 and self._region.at(0, 4) != b"PK\3\4":
            raise self.error("is not an exported program: not a zip archive", EXPORT)
        tail_start = max(0, self._region.length - END.size - 0xFFFF)
        tail = self._region.at(tail_start, self._region.length - tail_start)
        found = tail.rfind(b"PK\5\6")
        if found < 0 or found + END.size > len(tail):
            raise self.error("is cut off: the end of the zip archive is missing", DAMAGED)
        _, _, _, _, count, size, start, _ = END.unpack_from(tail, found)
        if count == 0xFFFF or 0xFFFFFFFF in (size, start):
            locator = tail_start + found - END64_LOCATOR.size
            signature, _, place, _ = END64_LOCATOR.unpack(
                self._region.at(locator, END64_LOCATOR.size)
            )
            record = self._region.at(place, END64.size) if signature == b"PK\6\7" else b""
            if not record.startswith(b"PK\6\6"):
                raise self.error("its zip64 end record is damaged", DAMAGED)
            *_, count, size, start = END64.unpack(record)
        return count, size, start

    def _entry(self, directory: bytes, position: int) -> tuple[Entry, int]:
        """Read one record of the central directory; return it and where the next begins."""
        if position + CENTRAL.size > len(directory):
            raise self.error("its directory is cut off", DAMAGED)
        (
            signature, maker, _, flags, method, _, _, crc, packed, size,
            name_length, extra_length, comment_length, _, _, mode, header,
        ) = CENTRAL.unpack_from(directory, position)  # fmt: skip
        position += CENTRAL.size
        end = position + name_length + extra_length + comment_length
        if signature != b"PK\1\2" or end > len(directory):
            raise self.error("its directory is damaged", DAMAGED)
        name = directory[position : position + name_length].decode("utf-8", "backslashreplace")
        extra = directory[position + name_length : position + name_length + extra_length]
        size, packed, header = self._wide(extra, [size, packed, header])
        entry = Entry(name, method, crc, packed, size, header)
        if flags & ENCRYPTED:
            raise self.error(f"`{printable(name)}` is encrypted", "save it unencrypted")
        if maker >> 8 == UNIX and stat.S_ISLNK(mode >> 16):
            raise self.error(f"`{printable(name)}` is a symbolic link", EXPORT)
        if not _is_inside(name):
            raise self.error(f"`{printable(name)}` lies outside of the archive", EXPORT)
        if method not in (STORED, DEFLATED):
            raise self.error(f"`{printable(name)}` is compressed by method {method}", EXPORT)
        if header + LOCAL.size + packed > self._region.length:
            raise self.error(f"`{printable(name)}` reaches past the file's end", DAMAGED)
        if size != packed if method == STORED else size > packed * DEFLATE_RATIO:
            raise self.error(f"`{printable(name)}` declares an impossible size", DAMAGED)
        return entry, end

    def _wide(self, extra: bytes, values: list[int]) -> list[int]:
        """Replace those of the size, packed size and place that say 0xFFFFFFFF by zip64's."""
        missing = [index for index, value in enumerate(values) if value == 0xFFFFFFFF]
        position = 0
        while missing and position + 4 <= len(extra):
            kind, length = struct.unpack_from("<2H", extra, position)
            if kind == ZIP64_EXTRA and length >= 8 * len(missing):
                if position + 4 + 8 * len(missing) > len(extra):
                    break
                wide = struct.unpack_from(f"<{len(missing)}Q", extra, position + 4)
                for index, value in zip(missing, wide, strict=True):
                    values[index] = value
                return values
            position += 4 + length
        if missing:
            raise self.error("its zip64 sizes are damaged", DAMAGED)
        return values


def _is_inside(name: str) -> bool:
    """Whether a name is a path below the archive's own folder, on every system."""
    steps = name.replace("\\", "/").split("/")
    return bool(steps[0]) and steps[0][1:] != ":" and ".." not in steps and "\0" not in name
