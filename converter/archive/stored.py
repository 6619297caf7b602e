"""Where the tensors of a program lie, whichever way they are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from converter.archive import schema
from converter.archive.zip import ZipFile


class Stored(NamedTuple):
    """Tensors by their fully qualified names. Their entries lie in `folder` of `file`.

    `home` tells entries of that name from those of others: of two zip files in one, say.
    """

    file: ZipFile
    home: str
    folder: str
    tensors: Mapping[str, schema.PayloadMeta]
