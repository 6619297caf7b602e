"""Convert PyTorch exported programs (`.pt2`) to pnnx and ncnn models, without torch."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from converter.conversion import Converted, convert, load
    from converter.errors import (
        ArchiveError,
        ConvertError,
        UnforeseenError,
        UnsupportedError,
        UsageError,
    )

__all__ = [
    "ArchiveError",
    "ConvertError",
    "Converted",
    "UnforeseenError",
    "UnsupportedError",
    "UsageError",
    "convert",
    "load",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for: the command line sets NumPy up before."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "converter.errors" if name.endswith("Error") else "converter.conversion"
    return getattr(import_module(module), name)
