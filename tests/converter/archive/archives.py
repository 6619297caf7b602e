"""Builds `.pt2` files for the tests, sound ones and others, without torch."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

LEAF = {"type": None, "context": None, "children_spec": []}

Json = dict[str, Any]


def tree(type: str, *children: Json, context: str = "null") -> Json:
    return {"type": f"builtins.{type}", "context": context, "children_spec": list(children)}


def in_spec(arguments: int) -> str:
    """The tree of so many tensors or numbers, passed by position."""
    args = tree("tuple", *[LEAF] * arguments)
    return json.dumps([1, tree("tuple", args, tree("dict", context="[]"))])


def sizes(*dims: int) -> list[Json]:
    return [{"as_int": dim} for dim in dims]


def meta(
    *dims: int, dtype: int = 7, strides: tuple[int, ...] | None = None, offset: int = 0
) -> Json:
    """A TensorMeta; float32 and contiguous unless told otherwise."""
    if strides is None:
        strides = tuple(int(np.prod(dims[axis + 1 :])) for axis in range(len(dims)))
    return {
        "dtype": dtype,
        "sizes": sizes(*dims),
        "requires_grad": False,
        "device": {"type": "cpu", "index": None},
        "strides": sizes(*strides),
        "storage_offset": {"as_int": offset},
        "layout": 7,
    }


def tensor(name: str) -> Json:
    return {"as_tensor": {"name": name}}


def payload(path: str, given: Json | None, **changes: Any) -> Json:
    return {
        "path_name": path,
        "is_param": True,
        "use_pickle": False,
        "tensor_meta": given,
    } | changes


class Archive:
    """The parts of a program that adds a weight to its input, to be changed and then written."""

    def __init__(self) -> None:
        self.graph: Json = {
            "inputs": [tensor("p_w"), tensor("x")],
            "outputs": [tensor("add")],
            "nodes": [
                {
                    "target": "torch.ops.aten.add.Tensor",
                    "inputs": [
                        {"name": "self", "arg": tensor("x"), "kind": 1},
                        {"name": "other", "arg": tensor("p_w"), "kind": 1},
                    ],
                    "outputs": [tensor("add")],
                    "metadata": {
                        "stack_trace": 'File "model.py", line 3, in forward\n    return x + w',
                        "nn_module_stack": "L__self__,,model.Net",
                    },
                    "is_hop_single_tensor_return": None,
                    "name": "add",
                }
            ],
            "tensor_values": {"p_w": meta(3), "x": meta(2, 3), "add": meta(2, 3)},
            "sym_int_values": {},
            "sym_bool_values": {},
            "is_single_tensor_return": False,
            "custom_obj_values": {},
            "sym_float_values": {},
        }
        self.signature: Json = {
            "input_specs": [
                {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}},
                {"user_input": {"arg": tensor("x")}},
            ],
            "output_specs": [{"user_output": {"arg": tensor("add")}}],
        }
        self.call: Json = {
            "inputs": [],
            "outputs": [],
            "in_spec": in_spec(1),
            "out_spec": json.dumps([1, tree("tuple", LEAF)]),
            "forward_arg_names": ["x"],
        }
        self.program: Json = {
            "graph_module": {
                "graph": self.graph,
                "signature": self.signature,
                "module_call_graph": [{"fqn": "", "signature": self.call}],
                "metadata": {},
                "treespec_namedtuple_fields": {},
            },
            "opset_version": {"aten": 10},
            "range_constraints": {},
            "schema_version": {"major": 8, "minor": 20},
            "verifiers": ["TRAINING"],
            "torch_version": "2.13.0",
            "guards_code": [],
        }
        self.weights: Json = {"w": payload("weight_0", meta(3))}
        self.constants: Json = {}
        self.files: dict[str, bytes] = {
            "data/weights/weight_0": np.arange(3, dtype=np.float32).tobytes(),
            "archive_format": b"pt2",
            "archive_version": b"0",
            "byteorder": b"little",
        }

    def entries(self) -> dict[str, bytes]:
        """Every entry by its full name, in torch's order."""
        files = {
            **{name: data for name, data in self.files.items() if name.startswith("data/")},
            "data/weights/model_weights_config.json": encoded({"config": self.weights}),
            "data/constants/model_constants_config.json": encoded({"config": self.constants}),
            "models/model.json": encoded(self.program),
            **{name: data for name, data in self.files.items() if not name.startswith("data/")},
        }
        return {f"net/{name}": data for name, data in files.items()}

    def write(self, path: Path, compression: int = zipfile.ZIP_STORED) -> Path:
        return write_zip(path, self.entries(), compression)


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def write_zip(path: Path, entries: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return path
