"""What the statements of a generated `forward` share: variables, modules and the lines so far."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping

from converter.errors import UnsupportedError
from converter.ir import Graph, Operand, Operator, Param
from converter.pnnx.callables import is_module
from converter.pnnx.expression import Code, Kind
from converter.pnnx.literal import literal
from converter.pnnx.names import describe, operand_numbers, unique, words

_MODULE_MEMBERS = words(
    """
    T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda
    double dump_patches eval extra_repr float forward get_buffer get_extra_state get_parameter
    get_submodule half ipu load_pnnx_bin_as_parameter load_pnnx_bin_as_tensor load_state_dict
    modules mtia named_buffers named_children named_modules named_parameters parameters
    register_backward_hook register_buffer register_forward_hook register_forward_pre_hook
    register_full_backward_hook register_full_backward_pre_hook
    register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module
    register_parameter register_state_dict_post_hook register_state_dict_pre_hook requires_grad_
    set_extra_state set_submodule share_memory state_dict to to_empty train training type xpu
    zero_grad
    """
)
"""What nn.Module and the generated class define themselves."""

_ARGUMENT = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def is_argument(name: str) -> bool:
    """Whether a name from a file may name an argument or a member: a plain ASCII identifier."""
    return bool(_ARGUMENT.fullmatch(name)) and not keyword.iskeyword(name)


def member_names(graph: Graph) -> dict[Operator, str]:
    """Name the members of the generated class: `layer1.0.conv1` becomes `layer1_0_conv1`.

    They are ASCII identifiers, no two alike; those of pnnx.Attribute end in `_data`.
    """
    holders = [op for op in graph.operators if op.type == "pnnx.Attribute" or is_member(op)]
    reserved = _MODULE_MEMBERS | frozenset(keyword.kwlist)
    return dict(zip(holders, unique(map(_member, holders), reserved), strict=True))


def is_member(op: Operator) -> bool:
    """Whether an operator is a module: PyTorch's, or one that the user asked to keep."""
    return is_module(op.type) or is_kept(op)


def is_kept(op: Operator) -> bool:
    return op.opaque and not op.type.startswith("pnnx.custom_op.")


def _member(op: Operator) -> str:
    name = re.sub(r"[^A-Za-z0-9_]", "_", op.name)
    if name.startswith("_") or not name:  # nn.Module's own begin so
        name = f"m{name}"
    elif name[0].isdigit():
        name = f"_{name}"
    return f"{name}_data" if op.type == "pnnx.Attribute" else name


class Scope:
    """The variables of `forward` and its lines.

    An operand is the variable `v_` and its number; `codes` knows more about those that hold a
    number or a list.
    """

    def __init__(self, graph: Graph, members: Mapping[Operator, str]) -> None:
        self.lines: list[str] = []
        self.codes: dict[Operand, Code] = {}
        self._members = members
        self._numbers = operand_numbers(graph)
        self._hoisted = 0

    def __getitem__(self, operand: Operand) -> str:
        return f"v_{self._numbers[operand]}"

    def code(self, operand: Operand) -> Code:
        """Say what an operand is; a tensor, unless an operator before said otherwise."""
        return self.codes.get(operand, Code(self[operand], Kind.tensor))

    def member(self, op: Operator) -> str:
        """Spell the module or the tensor that an operator holds: `self.layer1_0_conv1`."""
        return f"self.{self._members[op]}"

    def hoist(self, text: str) -> str:
        """Give an expression a line and a variable of its own."""
        self._hoisted += 1
        name = f"e_{self._hoisted}"
        self.lines.append(f"{name} = {text}")
        return name

    def assign(self, op: Operator, text: str, count: int | None = 1) -> None:
        """Assign a call that returns `count` results, or a list that is as long as `op.outputs`."""
        if not 0 < len(op.outputs) <= (count or len(op.outputs)):
            raise refuse(op, f"it has {len(op.outputs)} results, not {count}")
        targets = [self[operand] for operand in op.outputs]
        if (count is None or count > 1) and is_sequence(op):
            count = 1
        if count is None:
            joined = ", ".join(targets)
            self.lines.append(
                f"({joined},) = {text}" if len(targets) == 1 else f"{joined} = {text}"
            )
        else:
            targets += ["_"] * (count - len(targets))
            self.lines.append(f"{', '.join(targets)} = {text}")


def is_sequence(op: Operator) -> bool:
    """Whether the only output stands for all results: a list or a tuple that is unpacked later."""
    unpack = ("prim::ListUnpack", "prim::TupleUnpack")
    return len(op.outputs) == 1 and any(reader.type in unpack for reader in op.outputs[0].consumers)


def arguments(op: Operator, scope: Scope) -> Iterator[tuple[str, str]]:
    """List the arguments of a call as names and Python; the name of a positional one is empty.

    Inputs come first, in order, then params by name. Raises UnsupportedError for a bad name.
    """
    seen: set[str] = set()
    inputs = zip(op.input_names or [""] * len(op.inputs), op.inputs, strict=True)
    named: list[tuple[str, str]] = [(name, scope[operand]) for name, operand in inputs]
    for name, text in named + [(key, literal(op.params[key])) for key in sorted(op.params)]:
        if name and (not is_argument(name) or name in seen):
            raise refuse(op, f"{name!r} cannot be the name of an argument here")
        seen.add(name)
        yield name, text


def param(op: Operator, name: str) -> Param:
    """Read a param. Raises UnsupportedError if there is none."""
    if name not in op.params:
        raise refuse(op, f"it has no {name}")
    return op.params[name]


def refuse(op: Operator, why: str) -> UnsupportedError:
    """Make the error for an operator that cannot be written; raise it."""
    return UnsupportedError(f"cannot write {describe(op)} as Python: {why}", where=op.where)
