"""Programs of many operators for the tests, as the `.pt2` files that hold them, without torch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from archives import LEAF, Archive, Json, meta, payload, tensor, tree

Value = str | bool | int | float | Sequence[Any]
"""An argument: a tensor by its name, numbers, a tuple of ints, a list of tensors' names."""


class Program:
    """Calls of ATen operators on inputs and weights, added one by one."""

    def __init__(self, /, **inputs: Json) -> None:
        """The TensorMeta of each input by its name."""
        self.archive = Archive()
        self._inputs = inputs
        self._weights: dict[str, Json] = {}
        self._nodes: list[Json] = []
        self._types: dict[str, Json] = dict(inputs)

    def weight(self, name: str, given: Json, values: bytes) -> str:
        """Store a parameter."""
        self._weights[name] = self._types[name] = given
        self.archive.files[f"data/weights/{name}"] = values
        return name

    def call(self, target: str, name: str, type: Json, /, **arguments: Value) -> str:
        """Call an operator, `add.Tensor`; `type` is the TensorMeta of its result."""
        given = [
            {"name": key, "arg": _argument(value), "kind": 1} for key, value in arguments.items()
        ]
        self._nodes.append(
            {
                "target": f"torch.ops.aten.{target}",
                "name": name,
                "inputs": given,
                "outputs": [tensor(name)],
                "metadata": {},
                "is_hop_single_tensor_return": None,
            }
        )
        self._types[name] = type
        return name

    def returning(self, *results: str) -> Archive:
        """The whole archive, of a model that returns these tensors."""
        made = self.archive
        made.files.pop("data/weights/weight_0", None)
        made.weights.clear()
        made.weights.update({name: payload(name, given) for name, given in self._weights.items()})
        made.signature["input_specs"] = [
            *(
                {"parameter": {"arg": {"name": name}, "parameter_name": name}}
                for name in self._weights
            ),
            *({"user_input": {"arg": tensor(name)}} for name in self._inputs),
        ]
        made.signature["output_specs"] = [{"user_output": {"arg": tensor(n)}} for n in results]
        made.graph["inputs"] = [tensor(name) for name in (*self._weights, *self._inputs)]
        made.graph["outputs"] = [tensor(name) for name in results]
        made.graph["nodes"] = self._nodes
        made.graph["tensor_values"] = self._types
        leaves = [LEAF] * len(self._inputs)
        made.call["in_spec"] = json.dumps(
            [1, tree("tuple", tree("tuple", *leaves), tree("dict", context="[]"))]
        )
        made.call["out_spec"] = json.dumps([1, tree("tuple", *[LEAF] * len(results))])
        made.call["forward_arg_names"] = list(self._inputs)
        return made


def _argument(value: Value) -> Mapping[str, Any]:
    if isinstance(value, str):
        return tensor(value)
    if isinstance(value, bool):
        return {"as_bool": value}
    if isinstance(value, int | float):
        return {"as_int" if isinstance(value, int) else "as_float": value}
    if value and isinstance(value[0], str):
        return {"as_tensors": [{"name": name} for name in value]}
    return {"as_ints": list(value)}


BOOL, INT = 12, 5
"""The numbers of dtypes in the file."""


def booleans(*dims: int) -> Json:
    return meta(*dims, dtype=BOOL)
