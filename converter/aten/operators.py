"""All lowerings: importing this module fills the registry."""

from converter.aten import (
    activation,
    attention,
    convolution,
    creation,
    elementwise,
    indexing,
    linear,
    noop,
    normalization,
    pooling,
    recurrent,
    reduction,
    resampling,
    shape,
    writing,
)
from converter.aten.registry import LOWERINGS
from converter.aten.synonyms import register_synonyms

__all__ = ["LOWERINGS"]

FAMILIES = (
    activation,
    attention,
    convolution,
    creation,
    elementwise,
    indexing,
    linear,
    noop,
    normalization,
    pooling,
    recurrent,
    reduction,
    resampling,
    shape,
    writing,
)

register_synonyms()
