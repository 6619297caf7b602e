"""The JSON of an exported program, as msgspec decodes it: torch/_export/serde/schema.py, major 8.

Only what the converter reads is named; msgspec skips the other fields, so later minor versions,
which only add, are read as well. A union (torch's `_Union`) is an object with one key: a TypedDict
here, of which `single` gives the key and the value; an unknown key leaves it empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

import msgspec

MAJOR = 8

Float = float | str
"""JSON has no infinities: torch writes the strings "Infinity", "-Infinity" and "NaN"."""


class Device(msgspec.Struct):
    type: str
    index: int | None = None


class SymExpr(msgspec.Struct):
    expr_str: str


class SymInt(msgspec.Struct):
    as_int: int | None = None
    as_expr: SymExpr | None = None


class SymFloat(msgspec.Struct):
    as_float: Float | None = None
    as_expr: SymExpr | None = None


class SymBool(msgspec.Struct):
    as_bool: bool | None = None
    as_expr: SymExpr | None = None


class TensorMeta(msgspec.Struct):
    dtype: int
    sizes: list[SymInt]
    requires_grad: bool
    device: Device
    strides: list[SymInt]
    storage_offset: SymInt
    layout: int


class Name(msgspec.Struct):
    """TensorArgument and TokenArgument."""

    name: str


class SymArgument(msgspec.Struct):
    """SymIntArgument, SymFloatArgument and SymBoolArgument."""

    as_name: str | None = None
    as_int: int | None = None
    as_float: Float | None = None
    as_bool: bool | None = None


class OptionalTensor(msgspec.Struct):
    as_tensor: Name | None = None


class GraphArgument(msgspec.Struct):
    name: str
    graph: Graph


class CustomObject(msgspec.Struct):
    name: str
    class_fqn: str


class Complex(msgspec.Struct):
    real: Float
    imag: Float


class Argument(TypedDict, total=False):
    as_none: bool
    as_tensor: Name
    as_tensors: list[Name]
    as_int: int
    as_ints: list[int]
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
    as_int_lists: list[list[int]]
    as_string_to_argument: dict[str, Argument]
    as_float_lists: list[list[Float]]


class NamedArgument(msgspec.Struct):
    name: str
    arg: Argument


class Metadata(msgspec.Struct):
    stack_trace: str = ""
    nn_module_stack: str = ""


class Node(msgspec.Struct):
    target: str
    inputs: list[NamedArgument]
    outputs: list[Argument]
    metadata: Metadata
    name: str | None = None


class Graph(msgspec.Struct):
    inputs: list[Argument]
    outputs: list[Argument]
    nodes: list[Node]
    tensor_values: dict[str, TensorMeta]
    sym_int_values: dict[str, SymInt]
    sym_bool_values: dict[str, SymBool]
    sym_float_values: dict[str, SymFloat] = {}


class UserInput(msgspec.Struct):
    arg: Argument


class ConstantValue(TypedDict, total=False):
    as_none: bool
    as_int: int
    as_float: Float
    as_string: str
    as_bool: bool


class ConstantInput(msgspec.Struct):
    name: str
    value: ConstantValue


class ParameterInput(msgspec.Struct):
    arg: Name
    parameter_name: str


class BufferInput(msgspec.Struct):
    arg: Name
    buffer_name: str
    persistent: bool


class TensorConstantInput(msgspec.Struct):
    arg: Name
    tensor_constant_name: str


class CustomObjectInput(msgspec.Struct):
    arg: CustomObject


class TokenInput(msgspec.Struct):
    arg: Name


class InputSpec(TypedDict, total=False):
    user_input: UserInput
    parameter: ParameterInput
    buffer: BufferInput
    tensor_constant: TensorConstantInput
    custom_obj: CustomObjectInput
    token: TokenInput
    constant_input: ConstantInput


class UserOutput(msgspec.Struct):
    arg: Argument


class Effect(msgspec.Struct):
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


class GraphSignature(msgspec.Struct):
    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]


class RangeConstraint(msgspec.Struct):
    min_val: int | None
    max_val: int | None


class ModuleCallSignature(msgspec.Struct):
    in_spec: str
    out_spec: str
    forward_arg_names: list[str] | None = None


class ModuleCallEntry(msgspec.Struct):
    fqn: str
    signature: ModuleCallSignature | None = None


class NamedTupleDef(msgspec.Struct):
    field_names: list[str]


class GraphModule(msgspec.Struct):
    graph: Graph
    signature: GraphSignature
    module_call_graph: list[ModuleCallEntry]
    treespec_namedtuple_fields: dict[str, NamedTupleDef] = {}


class SchemaVersion(msgspec.Struct):
    major: int
    minor: int


class Versions(msgspec.Struct):
    """What tells the version of a program whose rest is of another one."""

    schema_version: SchemaVersion
    torch_version: str = ""


class ExportedProgram(msgspec.Struct):
    graph_module: GraphModule
    range_constraints: dict[str, RangeConstraint]
    schema_version: SchemaVersion
    torch_version: str = ""
    guards_code: list[str] = []


class PayloadMeta(msgspec.Struct):
    """Where a parameter, buffer or constant lies in the archive."""

    path_name: str
    is_param: bool
    use_pickle: bool
    tensor_meta: TensorMeta | None = None


class PayloadConfig(msgspec.Struct):
    config: dict[str, PayloadMeta]


class TreeNode(msgspec.Struct):
    """A pytree TreeSpec, protocol 1: a leaf has no type; `context` is JSON of its own, mostly."""

    type: str | None
    context: Any
    children_spec: list[TreeNode]


def single(union: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the one key of a union and its value. Raises ValueError if it is not one we know."""
    ((key, value),) = union.items()
    return key, value
