"""In-place calls and their functional twins: `x.add_(y)` and `x = x + y`."""

from __future__ import annotations

from collections.abc import Mapping

from converter.aten.call import Call
from converter.aten.dtype import FLOATING, kind, result_type
from converter.aten.schema_table import OpSchema, schema
from converter.ir import Operand

TWINS: Mapping[str, str] = {
    "float_power_.Scalar": "float_power.Tensor_Scalar",
    "float_power_.Tensor": "float_power.Tensor_Tensor",
    "floor_divide_.Tensor": "floor_divide.default",
    "ldexp_.default": "ldexp.Tensor",
    "pow_.Scalar": "pow.Tensor_Scalar",
    "pow_.Tensor": "pow.Tensor_Tensor",
    "transpose_.default": "transpose.int",
}
"""In-place operators whose twin is another overload."""


def functional(op: OpSchema) -> OpSchema:
    """`aten.relu.default` for itself and for its in-place twin `aten.relu_.default`.

    The two take the same arguments in the same order, if not always by the same names. What writes
    to several tensors has no twin.
    """
    if [argument.type.is_list for argument in op.arguments if argument.type.mutated] != [False]:
        return op
    name = f"{op.name}.{op.overload}"
    if op.name.startswith("__i"):
        twin = f"__{op.name[3:]}.{op.overload}"
    elif op.name.endswith("_"):
        twin = TWINS.get(name, f"{op.name[:-1]}.{op.overload}")
    else:
        return op
    found = schema(f"torch.ops.{op.namespace}.{twin}")
    return op if found is None or len(found.arguments) != len(op.arguments) else found


PREDICATES = frozenset(
    {
        *("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"),
        *("logical_not", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    }
)
KEEPS_DTYPE = frozenset({"copy", "fill", "index_fill", "masked_fill"})
"""Operators whose result has the dtype of their first argument, whatever that of the others."""

SELECTORS = frozenset({"index", "indices", "mask"})
"""Arguments that take no part in the dtype of the result."""


def natural_dtype(call: Call) -> str | None:
    """The dtype of the result of an in-place call's functional twin; None where it is unknown."""
    name = call.target.split(".")[1]
    written = call.tensor(next(iter(call.args)))
    if name in PREDICATES:
        return "bool"
    if name in KEEPS_DTYPE or written.dtype is None:
        return written.dtype
    if name in ("cumsum", "cumprod") and kind(written.dtype) < FLOATING:
        return "i64"
    operands = [
        value
        for argument, value in call.args.items()
        if isinstance(value, Operand) and argument not in SELECTORS
    ]
    return result_type(operands)
