"""All lowerings: importing this module fills the registry."""

from converter.aten import (
    activation,
    attention,
    convolution,
    creation,
    dtypes,
    elementwise,
    fourier,
    functions,
    indexing,
    linalg,
    linear,
    losses,
    memory,
    noop,
    normalization,
    pooling,
    recurrent,
    reduction,
    resampling,
    sampling,
    shape,
    writing,
)
from converter.aten.registry import LOWERINGS, find

__all__ = ["LOWERINGS", "find"]

FAMILIES = (
    activation,
    attention,
    convolution,
    creation,
    dtypes,
    elementwise,
    fourier,
    functions,
    indexing,
    linalg,
    linear,
    losses,
    memory,
    noop,
    normalization,
    pooling,
    recurrent,
    reduction,
    resampling,
    sampling,
    shape,
    writing,
)
