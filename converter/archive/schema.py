"""The JSON of an exported program, as msgspec decodes it: torch/_export/serde/schema.py.

Only what the converter reads is named; msgspec skips the other fields, so later minor versions,
which only add, are read as well. A union (torch's `_Union`) is an object with one key: a TypedDict
here, of which `single` gives the key and the value; an unknown key leaves it empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

import msgspec

MAJORS = (7, 8)
"""Those of torch 2.5, and of later ones. What 8 changed is named alike or not read here."""
NEWEST = (8, 20)
"""The newest version that is known: it is that of the newest fixture."""

Int = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
"""As torch has them: JSON has no bounds."""
Float = float | str
"""JSON has no infinities: torch writes the strings "Infinity", "-Infinity" and "NaN"."""


class Device(msgspec.Struct, gc=False):
    type: str
    index: int | None = None


class Hint(msgspec.Struct, gc=False):
    """What an expression was in the export."""

    as_int: Int | None = None


class SymExpr(msgspec.Struct, gc=False):
    expr_str: str
    hint: Hint | None = None


class SymInt(msgspec.Struct, gc=False):
    as_int: Int | None = None
    as_expr: SymExpr | None = None


class SymFloat(msgspec.Struct, gc=False):
    as_float: Float | None = None
    as_expr: SymExpr | None = None


class SymBool(msgspec.Struct, gc=False):
    as_bool: bool | None = None
    as_expr: SymExpr | None = None


class TensorMeta(msgspec.Struct, gc=False):
    dtype: int
    sizes: list[SymInt]
    requires_grad: bool
    device: Device
    strides: list[SymInt]
    storage_offset: SymInt
    layout: int


class Name(msgspec.Struct, gc=False):
    """TensorArgument and TokenArgument."""

    name: str


class SymArgument(msgspec.Struct, gc=False):
    """SymIntArgument, SymFloatArgument and SymBoolArgument."""

    as_name: str | None = None
    as_int: Int | None = None
    as_float: Float | None = None
    as_bool: bool | None = None


class OptionalTensor(msgspec.Struct, gc=False):
    as_tensor: Name | None = None


class GraphArgument(msgspec.Struct, gc=False):
    name: str
    graph: Graph


class CustomObject(msgspec.Struct, gc=False):
    name: str
    class_fqn: str


class Complex(msgspec.Struct, gc=False):
    real: Float
    imag: Float


class Argument(TypedDict, total=False):
    as_none: Any  # True; of schema 7, an empty list
    as_tensor: Name
    as_tensors: list[Name]
    as_int: Int
    as_ints: list[Int]
    as_float: Float
    as_floats: list[Float]
    as_string: str
    as_strings: list[str]
    as_sym_int: SymArgument
    as_sym_ints: list[SymArgument]
    as_scalar_type: int
    as_memory_format: int
    as_layout: int
    as_device: Device
    as_bool: bool
    as_bools: list[bool]
    as_sym_bool: SymArgument
    as_sym_bools: list[SymArgument]
    as_graph: GraphArgument
    as_optional_tensors: list[OptionalTensor]
    as_custom_obj: CustomObject
    as_operator: str
    as_sym_float: SymArgument
    as_sym_floats: list[SymArgument]
    as_optional_tensor: OptionalTensor
    as_complex: Complex
    as_nested_tensors: list[list[Name]]
    as_int_lists: list[list[Int]]
    as_string_to_argument: dict[str, Argument]
    as_float_lists: list[list[Float]]


KEYWORD = 2
"""The kind of an argument that was given by name; 1 is by position, None is not told."""


class NamedArgument(msgspec.Struct, gc=False):
    name: str
    arg: Argument
    kind: int | None = None


class Metadata(msgspec.Struct, gc=False):
    stack_trace: str = ""
    nn_module_stack: str = ""
    from_node: str = ""


class Node(msgspec.Struct, gc=False):
    target: str
    inputs: list[NamedArgument]
    outputs: list[Argument]
    metadata: Metadata
    name: str | None = None


class Graph(msgspec.Struct, gc=False):
    inputs: list[Argument]
    outputs: list[Argument]
    nodes: list[Node]
    tensor_values: dict[str, TensorMeta]
    sym_int_values: dict[str, SymInt]
    sym_bool_values: dict[str, SymBool]
    sym_float_values: dict[str, SymFloat] = {}


class UserInput(msgspec.Struct, gc=False):
    arg: Argument


class ConstantValue(TypedDict, total=False):
    as_none: bool
    as_int: Int
    as_float: Float
    as_string: str
    as_bool: bool


class ConstantInput(msgspec.Struct, gc=False):
    name: str
    value: ConstantValue


class ParameterInput(msgspec.Struct, gc=False):
    arg: Name
    parameter_name: str


class BufferInput(msgspec.Struct, gc=False):
    arg: Name
    buffer_name: str
    persistent: bool


class TensorConstantInput(msgspec.Struct, gc=False):
    arg: Name
    tensor_constant_name: str


class CustomObjectInput(msgspec.Struct, gc=False):
    arg: CustomObject


class TokenInput(msgspec.Struct, gc=False):
    arg: Name


class InputSpec(TypedDict, total=False):
    user_input: UserInput
    parameter: ParameterInput
    buffer: BufferInput
    tensor_constant: TensorConstantInput
    custom_obj: CustomObjectInput
    token: TokenInput
    constant_input: ConstantInput


class UserOutput(msgspec.Struct, gc=False):
    arg: Argument


class Effect(msgspec.Struct, gc=False):
    """Every output spec but a user output: what it writes to is named by one of three fields."""

    arg: Name
    buffer_name: str = ""
    parameter_name: str = ""
    user_input_name: str = ""


class OutputSpec(TypedDict, total=False):
    user_output: UserOutput
    loss_output: Effect
    buffer_mutation: Effect
    gradient_to_parameter: Effect
    gradient_to_user_input: Effect
    user_input_mutation: Effect
    token: Effect
    parameter_mutation: Effect


class GraphSignature(msgspec.Struct, gc=False):
    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]


class RangeConstraint(msgspec.Struct, gc=False):
    min_val: int | None
    max_val: int | None


class ModuleCallSignature(msgspec.Struct, gc=False):
    in_spec: str
    out_spec: str
    forward_arg_names: list[str] | None = None


class ModuleCallEntry(msgspec.Struct, gc=False):
    fqn: str
    signature: ModuleCallSignature | None = None


class NamedTupleDef(msgspec.Struct, gc=False):
    field_names: list[str]


class GraphModule(msgspec.Struct, gc=False):
    graph: Graph
    signature: GraphSignature
    module_call_graph: list[ModuleCallEntry]
    treespec_namedtuple_fields: dict[str, NamedTupleDef] = {}


class SchemaVersion(msgspec.Struct, gc=False):
    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


class Versions(msgspec.Struct, gc=False):
    """What tells the version of a program whose rest is of another one."""

    schema_version: SchemaVersion
    torch_version: str = ""


class ExportedProgram(msgspec.Struct, gc=False):
    graph_module: GraphModule
    range_constraints: dict[str, RangeConstraint]
    schema_version: SchemaVersion
    torch_version: str = ""
    guards_code: list[str] = []


class PayloadMeta(msgspec.Struct, gc=False):
    """Where a parameter, buffer or constant lies in the archive."""

    path_name: str
    is_param: bool
    use_pickle: bool
    tensor_meta: TensorMeta | None = None


class PayloadConfig(msgspec.Struct, gc=False):
    config: dict[str, PayloadMeta]


class TreeNode(msgspec.Struct, gc=False):
    """A pytree TreeSpec, protocol 1: a leaf has no type; `context` is JSON of its own, mostly."""

    type: str | None
    context: Any
    children_spec: list[TreeNode]


def single(union: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the one key of a union and its value. Raises ValueError if it is not one we know."""
    ((key, value),) = union.items()
    return key, value
