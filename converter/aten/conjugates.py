"""Conjugates and negatives that PyTorch only marks, and works out where they are read.

`x.conj()` is a view of x with a mark, and so is `x.conj().imag`; a copy has none.
"""

from __future__ import annotations

from converter.aten.call import Call
from converter.aten.emit import Emitter
from converter.ir import Operand

COMPLEX = ("c64", "c128")

TRANSPOSING: tuple[str, ...] = ("adjoint", "mH", "matrix_H")
"""Transpositions of which the results of complex tensors are conjugates too."""

RESOLVING = ("resolve_conj", "resolve_neg")
"""Operators that copy what is marked."""


def is_complex(operand: Operand) -> bool:
    return operand.dtype in COMPLEX


def resolved(call: Call, emit: Emitter, source: Operand) -> Operand:
    """Return a complex tensor as one without a mark, for operators that refuse those."""
    operand = source
    while is_complex(operand) and operand.producer is not None and operand.producer.inputs:
        if operand.producer.type in ("torch.conj", "torch.adjoint"):
            result = emit.copy(source)
            emit.op("torch.resolve_conj", result, input=source)
            return result
        operand = operand.producer.inputs[0]
    return source
