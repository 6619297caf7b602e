"""The numbers that stand for dtypes, layouts and memory formats in a program's JSON.

They are torch/_export/serde/schema.py's own, not those of c10.
"""

from __future__ import annotations

from collections.abc import Mapping

from converter.archive.values import Layout, MemoryFormat
from converter.errors import UnsupportedError, Where

DTYPES: Mapping[int, str] = {
    1: "u8",
    2: "i8",
    3: "i16",
    4: "i32",
    5: "i64",
    6: "f16",
    7: "f32",
    8: "f64",
    10: "c64",
    11: "c128",
    12: "bool",
    13: "bf16",
}
"""By pnnx's names."""

FOREIGN_DTYPES: Mapping[int, str] = {
    9: "complex32",
    28: "uint16",
    29: "float8_e4m3fn",
    30: "float8_e5m2",
    31: "float8_e4m3fnuz",
    32: "float8_e5m2fnuz",
    33: "float8_e8m0fnu",
    34: "uint32",
    35: "uint64",
}
"""Those that pnnx lacks, by PyTorch's names."""

LAYOUTS: Mapping[int, Layout] = dict(enumerate(Layout, start=1))
STRIDED = next(number for number, layout in LAYOUTS.items() if layout is Layout.strided)
MEMORY_FORMATS: Mapping[int, MemoryFormat] = dict(enumerate(MemoryFormat, start=1))


def dtype_name(number: int, owner: str, where: Where | None = None) -> str:
    """Return pnnx's name of a dtype. Raises UnsupportedError, which names `owner`."""
    name = DTYPES.get(number)
    if name is None:
        foreign = FOREIGN_DTYPES.get(number, f"number {number}")
        raise UnsupportedError(
            f"{owner} has the dtype {foreign}, which pnnx lacks",
            where=where,
            mend="convert it to another dtype before the export",
        )
    return name


def require_strided(number: int, owner: str, where: Where | None = None) -> None:
    """Raise UnsupportedError, which names `owner`, for a sparse tensor and the like."""
    layout = LAYOUTS.get(number)
    if layout != Layout.strided:
        raise UnsupportedError(
            f"{owner} has the layout {layout or f'number {number}'}",
            where=where,
            mend="make it a dense tensor before the export",
        )
