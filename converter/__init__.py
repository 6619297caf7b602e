"""Convert PyTorch exported programs (`.pt2`) to pnnx and ncnn models, without torch."""

from converter.convert import Converted, convert, load
from converter.errors import ArchiveError, ConvertError, UnsupportedError, UsageError

__all__ = [
    "ArchiveError",
    "ConvertError",
    "Converted",
    "UnsupportedError",
    "UsageError",
    "convert",
    "load",
]
