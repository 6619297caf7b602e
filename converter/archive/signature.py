"""What each input and result of the program's graph is to the caller: the graph signature."""

from __future__ import annotations

import msgspec

from converter.archive import schema
from converter.archive.program import (
    Body,
    ConstantInput,
    Output,
    OutputKind,
    StoredInput,
    StoredKind,
    SymInput,
    TensorInput,
    UserInput,
)
from converter.archive.region import DAMAGED, printable
from converter.archive.stored import Stored
from converter.archive.values import CustomRef, SymRef, TensorRef, Value
from converter.archive.weights import stored_attribute
from converter.archive.zip import ZipFile
from converter.errors import UnsupportedError

Place = tuple[str, bytes]


def place(payload: schema.PayloadMeta) -> Place:
    """Where a tensor lies and how: the same for all names of one tensor, not for its views."""
    return payload.path_name, msgspec.json.encode(payload.tensor_meta)


class SignatureReader:
    """Joins the signature with the graph's inputs and results, and with the stored tensors."""

    def __init__(self, file: ZipFile, body: Body, weights: Stored, constants: Stored) -> None:
        self.file = file
        self.body = body
        self.weights = weights
        self.constants = constants
        self.names: dict[Place, list[str]] = {}
        for fqn, payload in weights.tensors.items():
            self.names.setdefault(place(payload), []).append(fqn)

    def inputs(
        self, specs: list[schema.InputSpec]
    ) -> tuple[tuple[UserInput, ...], dict[str, StoredInput]]:
        """Sort the graph's inputs into those that the caller passes and those that are stored."""
        if len(specs) != len(self.body.inputs):
            raise self.file.error("its signature does not fit its graph", DAMAGED)
        passed: list[UserInput] = []
        stored: dict[str, StoredInput] = {}
        for spec, value in zip(specs, self.body.inputs, strict=True):
            if "user_input" in spec or "constant_input" in spec:
                passed.append(self.passed(spec, value))
            elif "token" in spec:  # stands for the order of side effects
                if value != TensorRef(spec["token"].arg.name):
                    raise self.file.error("its signature does not fit its graph", DAMAGED)
            else:
                found = self.stored(spec)
                if value != TensorRef(found.name):
                    raise self.file.error("its signature does not fit its graph", DAMAGED)
                stored[found.name] = found
        return tuple(passed), stored

    def passed(self, spec: schema.InputSpec, value: Value) -> UserInput:
        match value:
            case TensorRef(name):
                return TensorInput(name, self.body.tensors[name])
            case SymRef(name):
                return SymInput(name, self.body.symbols[name])
            case None | bool() | int() | float() | str():
                name = spec["constant_input"].name if "constant_input" in spec else ""
                return ConstantInput(name, value)
            case CustomRef(class_name=name):
                raise UnsupportedError(
                    f"the program takes an object of the class {printable(name)}",
                    mend="pass tensors and numbers",
                )
            case _:
                raise UnsupportedError(
                    "the program takes what is no tensor and no number",
                    mend="pass tensors and numbers",
                )

    def stored(self, spec: schema.InputSpec) -> StoredInput:
        """Find the values of a parameter, buffer or constant."""
        if "parameter" in spec:
            parameter = spec["parameter"]
            return self.found(StoredKind.parameter, parameter.arg.name, parameter.parameter_name)
        if "buffer" in spec:
            buffer = spec["buffer"]
            return self.found(
                StoredKind.buffer, buffer.arg.name, buffer.buffer_name, buffer.persistent
            )
        if "tensor_constant" in spec:
            constant = spec["tensor_constant"]
            return self.found(
                StoredKind.constant, constant.arg.name, constant.tensor_constant_name, False
            )
        name = spec["custom_obj"].arg.class_fqn if "custom_obj" in spec else "that is not known"
        raise UnsupportedError(
            f"the program holds an object of the class {printable(name)}",
            mend="make it a module of tensor operators only",
        )

    def found(self, kind: StoredKind, name: str, fqn: str, persistent: bool = True) -> StoredInput:
        """Look a tensor up: what is in the model's state dict lies among the weights."""
        among = self.weights if persistent else self.constants
        payload = among.tensors.get(fqn)
        if payload is None:
            raise self.file.error(f"holds no values for `{printable(fqn)}`", DAMAGED)
        attribute = stored_attribute(among.file, among.folder, fqn, payload)
        declared = self.body.tensors.get(name)
        if declared != (attribute.shape, attribute.dtype):
            raise self.file.error(
                f"`{printable(fqn)}` is stored with another type than its graph has", DAMAGED
            )
        names = tuple(self.names[place(payload)]) if persistent else ()
        storage = f"{among.home}/{payload.path_name}"
        return StoredInput(name, kind, fqn, attribute, persistent, storage, names)

    def outputs(self, specs: list[schema.OutputSpec]) -> tuple[Output, ...]:
        if len(specs) != len(self.body.outputs):
            raise self.file.error("its signature does not fit its graph", DAMAGED)
        return tuple(
            self.output(spec, value) for spec, value in zip(specs, self.body.outputs, strict=True)
        )

    def output(self, spec: schema.OutputSpec, value: Value) -> Output:
        try:
            kind, given = schema.single(spec)
        except ValueError:
            raise self.file.error("has an output of an unknown kind", DAMAGED) from None
        if isinstance(given, schema.Effect):
            target = given.buffer_name or given.parameter_name or given.user_input_name
            return Output(OutputKind(kind), value, target)
        return Output(OutputKind(kind), value)
