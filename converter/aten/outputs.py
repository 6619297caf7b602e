"""What a model returns: tuples, lists and dicts of tensors, numbers and None, nested."""

from __future__ import annotations

import re
from collections.abc import Iterator

from converter.archive.program import TreeSpec
from converter.archive.region import printable
from converter.aten.emit import Emitter
from converter.errors import UnsupportedError
from converter.ir import Operand, Param
from converter.pnnx.value import parse_value

TUPLES = frozenset({"builtins.tuple", "collections.namedtuple", "torch.Size"})
LISTS = frozenset({"builtins.list", "collections.deque"})
DICTS = frozenset({"builtins.dict", "collections.OrderedDict", "collections.defaultdict"})
"""The types of nodes that need no class of the user's, and what is written in their place."""

WORD = re.compile(r"[A-Za-z_][\w.:-]*", re.ASCII)
"""The strings that an expression can hold."""


def nest(spec: TreeSpec, leaves: Iterator[Operand], emit: Emitter) -> Operand:
    """Append the operators that make a result of its leaves, in their order.

    A dataclass or a model's output becomes a dict of its fields, as torch.jit.trace has it. Raises
    UnsupportedError for a class whose fields the file does not tell.
    """
    if spec.is_leaf:
        return next(leaves)
    children = [nest(child, leaves, emit) for child in spec.children]
    if spec.type in TUPLES:
        kind = "prim::TupleConstruct"
    elif spec.type in LISTS:
        kind = "prim::ListConstruct"
    elif (spec.type in DICTS or spec.keys) and len(spec.keys) == len(children):
        kind = "prim::DictConstruct"
        keys = [constant(key, emit) for key in spec.keys]
        children = [part for pair in zip(keys, children, strict=True) for part in pair]
    else:
        raise UnsupportedError(
            f"the model returns a {printable(spec.type)}, whose fields the file does not tell",
            mend="return tensors, or a tuple, list or dict of them",
        )
    output = emit.temporary(None, None)
    emit.positional(kind, output, children)
    return output


def constant(value: object, emit: Emitter) -> Operand:
    """Append an expression of a number, a word or None. Raises UnsupportedError for the rest."""
    if not isinstance(value, bool | int | float | str | None) or not is_written(value):
        raise UnsupportedError(
            f"the model returns {printable(repr(value))}, which pnnx cannot write",
            mend="return tensors and numbers, in dicts whose keys are plain words",
        )
    output = emit.temporary(None, None)
    emit.expression(output, value)
    return output


def is_written(value: Param) -> bool:
    """Whether an expression that is this value is read as the same."""
    if not isinstance(value, str):
        return True
    return WORD.fullmatch(value) is not None and parse_value(value) == value
