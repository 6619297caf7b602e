"""ncnn's files: a PyTorch-level graph lowered to layers (`.ncnn.param`), weights (`.ncnn.bin`) and
the Python that runs them (`_ncnn.py`)."""

from converter.ncnn import (  # noqa: F401, each registers the operators that it lowers
    activation,
    attention,
    boolean,
    casting,
    computed,
    constant,
    convolution,
    embedding,
    expression,
    formulas,
    indexing,
    joining,
    linear,
    normalization,
    padding,
    pooling,
    recurrent,
    reduction,
    replacing,
    resize,
    shape,
    slicing,
    spectrum,
)
from converter.ncnn.graph import NcnnGraph
from converter.ncnn.lower import lower
from converter.ncnn.python import write_python
from converter.ncnn.writer import write_bin, write_param

__all__ = ["NcnnGraph", "lower", "write_bin", "write_param", "write_python"]
