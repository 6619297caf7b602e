"""The header of an `.npy` file: the shape and the dtype of the array, not its values.

Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from converter.errors import UsageError
from converter.ir import DTYPE_NAMES

SAVE = "write it with numpy.save"


def read_header(path: str | Path, key: str) -> tuple[tuple[int, ...], str]:
    """Return the dims of the array in a file, and pnnx's name of its dtype.

    Raises UsageError that names the file for one that cannot be read, is no array, is cut off or
    has a dtype that pnnx lacks; `key` is the argument that gave it.
    """
    try:
        with Path(path).open("rb") as stream:
            version = npy.read_magic(stream)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, _, dtype = read(stream)
            held = os.fstat(stream.fileno()).st_size - stream.tell()
    except OSError as error:
        raise UsageError(f"{key}: cannot read {path}: {error.strerror}") from None
    except (ValueError, EOFError):
        raise UsageError(f"{key}: {path} is no .npy file", mend=SAVE) from None
    name = DTYPE_NAMES.get(np.dtype(dtype))
    if name is None:
        raise UsageError(f"{key}: {path} has the dtype {dtype}, which pnnx lacks")
    if held < math.prod(shape) * dtype.itemsize:
        raise UsageError(f"{key}: {path} is cut off", mend=SAVE)
    return shape, name
