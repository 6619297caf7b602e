"""What is read from an archive, and how a damaged or foreign one is refused; no torch needed."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from archives import LEAF, Archive, encoded, in_spec, meta, payload, tensor, tree, write_zip

from converter.archive import read_program
from converter.archive.program import (
    ConstantInput,
    Output,
    OutputKind,
    Range,
    StoredKind,
    SymInput,
    TensorInput,
    TensorType,
    TreeSpec,
)
from converter.archive.values import (
    CustomRef,
    Device,
    GraphRef,
    Layout,
    MemoryFormat,
    OperatorRef,
    ScalarType,
    SymRef,
    TensorRef,
)
from converter.errors import ArchiveError, ConvertError, UnsupportedError, Where


def test_reads_a_program(tmp_path: Path) -> None:
    with read_program(Archive().write(tmp_path / "net.pt2")) as program:
        assert program.inputs == (TensorInput("x", TensorType((2, 3), "f32")),)
        assert program.outputs == (Output(OutputKind.user, TensorRef("add")),)
        assert program.argument_names == ("x",)
        assert program.torch_version == "2.13.0"
        assert program.body.tensors["add"] == TensorType((2, 3), "f32")
        leaf = TreeSpec()
        assert program.out_spec == TreeSpec("builtins.tuple", (), (leaf,))
        assert program.in_spec.children[0] == TreeSpec("builtins.tuple", (), (leaf,))
        (node,) = program.body.nodes
        assert node.target == "torch.ops.aten.add.Tensor"
        assert node.name == "add"
        assert node.inputs == (("self", TensorRef("x")), ("other", TensorRef("p_w")))
        assert node.outputs == (TensorRef("add"),)
        assert node.where == Where("model.py", 3, "return x + w", "")
        assert node.module is not None
        assert node.module[:2] == ("", "model.Net")
        weight = program.stored["p_w"]
        assert (weight.kind, weight.fqn, weight.persistent) == (StoredKind.parameter, "w", True)
        assert weight.attribute.array().tolist() == [0, 1, 2]


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_reads_a_repacked_program(tmp_path: Path, compression: int) -> None:
    with read_program(Archive().write(tmp_path / "net.pt2", compression)) as program:
        assert program.stored["p_w"].attribute.array().tolist() == [0, 1, 2]


def test_reads_a_program_in_no_folder(tmp_path: Path) -> None:
    entries = {name.removeprefix("net/"): data for name, data in Archive().entries().items()}
    with read_program(write_zip(tmp_path / "net.pt2", entries)) as program:
        assert program.stored["p_w"].attribute.array().tolist() == [0, 1, 2]


def test_refuses_a_program_behind_other_bytes(tmp_path: Path) -> None:
    """As programs that unpack themselves have: torch reads none either."""
    path = Archive().write(tmp_path / "net.pt2")
    path.write_bytes(b"#!/bin/sh\n" + path.read_bytes())
    with pytest.raises(ArchiveError, match="not a zip archive"):
        read_program(path)


def read_value(tmp_path: Path, argument: dict[str, Any]) -> Any:
    archive = Archive()
    archive.graph["nodes"][0]["inputs"].append({"name": "value", "arg": argument})
    with read_program(archive.write(tmp_path / "net.pt2")) as program:
        return program.body.nodes[0].inputs[-1][1]


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ({"as_none": True}, None),
        ({"as_bool": False}, False),
        ({"as_int": 9223372036854775807}, 9223372036854775807),
        ({"as_float": 0.5}, 0.5),
        ({"as_float": 1}, 1.0),
        ({"as_float": "Infinity"}, float("inf")),
        ({"as_float": "-Infinity"}, float("-inf")),
        ({"as_complex": {"real": 1.0, "imag": "Infinity"}}, complex(1, float("inf"))),
        ({"as_string": "valid"}, "valid"),
        ({"as_ints": [1, 2]}, (1, 2)),
        ({"as_ints": []}, ()),
        ({"as_floats": [1.5, "-Infinity"]}, (1.5, float("-inf"))),
        ({"as_bools": [True]}, (True,)),
        ({"as_strings": ["a"]}, ("a",)),
        ({"as_int_lists": [[1], [2, 3]]}, ((1,), (2, 3))),
        ({"as_float_lists": [[1.5]]}, ((1.5,),)),
        (tensor("x"), TensorRef("x")),
        ({"as_tensors": [{"name": "x"}, {"name": "p_w"}]}, (TensorRef("x"), TensorRef("p_w"))),
        ({"as_nested_tensors": [[{"name": "x"}], []]}, ((TensorRef("x"),), ())),
        ({"as_optional_tensor": {"as_none": True}}, None),
        ({"as_optional_tensors": [tensor("x"), {"as_none": True}]}, (TensorRef("x"), None)),
        ({"as_scalar_type": 13}, ScalarType("bf16")),
        ({"as_memory_format": 2}, MemoryFormat.channels_last),
        ({"as_layout": 7}, Layout.strided),
        ({"as_device": {"type": "cuda", "index": 1}}, Device("cuda", 1)),
        ({"as_operator": "torch.ops.aten.add.Tensor"}, OperatorRef("torch.ops.aten.add.Tensor")),
        ({"as_custom_obj": {"name": "o", "class_fqn": "C"}}, CustomRef("o", "C")),
        ({"as_string_to_argument": {"a": {"as_int": 1}}}, {"a": 1}),
    ],
)
def test_reads_arguments(tmp_path: Path, argument: dict[str, Any], value: Any) -> None:
    read = read_value(tmp_path, argument)
    assert read == value
    assert type(read) is type(value)


def test_reads_nan(tmp_path: Path) -> None:
    value = read_value(tmp_path, {"as_float": "NaN"})
    assert np.isnan(value)


def test_reads_a_sub_graph(tmp_path: Path) -> None:
    inner = Archive().graph | {"inputs": [tensor("p_w"), tensor("x")]}
    value = read_value(tmp_path, {"as_graph": {"name": "true_graph_0", "graph": inner}})
    assert isinstance(value, GraphRef)
    assert value.name == "true_graph_0"
    assert value.body.outputs == (TensorRef("add"),)
    assert value.body.nodes[0].where == Where("model.py", 3, "return x + w", "")


def test_reads_symbols(tmp_path: Path) -> None:
    archive = Archive()
    double = {"as_expr": {"expr_str": "Mul(Integer(2), Symbol('s0'))", "hint": {"as_int": 4}}}
    for name in ("x", "add"):
        archive.graph["tensor_values"][name]["sizes"][0] = double
    archive.graph["inputs"].append({"as_sym_int": {"as_name": "n"}})
    archive.signature["input_specs"].append(
        {"user_input": {"arg": {"as_sym_int": {"as_name": "n"}}}}
    )
    archive.call["in_spec"] = in_spec(2)
    archive.graph["sym_int_values"] = {
        "n": {"as_expr": {"expr_str": "Symbol('s1')"}},
        "size": double,
        "known": {"as_int": 3},
    }
    archive.graph["sym_bool_values"] = {"flag": {"as_bool": False}}
    archive.graph["sym_float_values"] = {"ratio": {"as_float": 0.0}}
    archive.graph["nodes"][:0] = [
        {
            "target": "torch.ops.aten.sym_size.int",
            "inputs": [{"name": "self", "arg": tensor("x")}],
            "outputs": [
                {"as_sym_int": {"as_name": "size"}},
                {"as_sym_int": {"as_name": "known"}},
                {"as_sym_bool": {"as_name": "flag"}},
                {"as_sym_float": {"as_name": "ratio"}},
            ],
            "metadata": {},
        }
    ]
    sizes = [{"as_int": -1}, {"as_name": "size"}]
    archive.graph["nodes"][1]["inputs"].append({"name": "size", "arg": {"as_sym_ints": sizes}})
    archive.program["range_constraints"] = {"s0": {"min_val": 2, "max_val": None}}
    with read_program(archive.write(tmp_path / "net.pt2")) as program:
        assert program.inputs[0] == TensorInput("x", TensorType(("2*s0", 3), "f32"))
        assert program.inputs[1] == SymInput("n", "s1")
        assert program.body.symbols == {
            "n": "s1",
            "size": "2*s0",
            "known": 3,
            "flag": False,
            "ratio": 0.0,
        }
        assert program.body.nodes[1].inputs[-1][1] == (-1, SymRef("size"))
        assert program.ranges == {"s0": Range(2, None)}


def test_reads_constants_buffers_and_side_effects(tmp_path: Path) -> None:
    archive = Archive()
    archive.graph["inputs"] = [
        tensor("p_w"),
        tensor("b_count"),
        tensor("b_mask"),
        tensor("c_table"),
        tensor("x"),
        {"as_bool": True},
    ]
    types = {"b_count": meta(dtype=5), "b_mask": meta(2, dtype=12), "c_table": meta(2, dtype=11)}
    archive.graph["tensor_values"] |= types
    archive.signature["input_specs"][1:1] = [
        {"buffer": {"arg": {"name": "b_count"}, "buffer_name": "count", "persistent": True}},
        {"buffer": {"arg": {"name": "b_mask"}, "buffer_name": "mask", "persistent": False}},
        {"tensor_constant": {"arg": {"name": "c_table"}, "tensor_constant_name": "table"}},
    ]
    archive.signature["input_specs"].append(
        {"constant_input": {"name": "flag", "value": {"as_bool": True}}}
    )
    archive.call["in_spec"] = in_spec(2)
    archive.weights["count"] = payload("weight_1", types["b_count"], is_param=False)
    archive.constants["mask"] = payload("tensor_0", types["b_mask"])
    archive.constants["table"] = payload("tensor_1", types["c_table"])
    table = np.array([1 + 2j, 3], np.complex128)
    archive.files |= {
        "data/weights/weight_1": np.int64(7).tobytes(),
        "data/constants/tensor_0": b"\1\0",
        "data/constants/tensor_1": table.tobytes(),
    }
    archive.graph["outputs"].insert(0, tensor("b_count"))
    archive.signature["output_specs"].insert(
        0, {"buffer_mutation": {"arg": {"name": "b_count"}, "buffer_name": "count"}}
    )
    with read_program(archive.write(tmp_path / "net.pt2")) as program:
        assert program.inputs[1] == ConstantInput("flag", True)
        assert [(s.kind, s.persistent) for s in program.stored.values()] == [
            (StoredKind.parameter, True),
            (StoredKind.buffer, True),
            (StoredKind.buffer, False),
            (StoredKind.constant, False),
        ]
        assert program.stored["b_count"].attribute.array() == 7
        assert program.stored["b_count"].attribute.array().shape == ()
        assert program.stored["b_mask"].attribute.array().tolist() == [True, False]
        assert program.stored["c_table"].attribute.array().tolist() == table.tolist()
        assert program.outputs[0] == Output(
            OutputKind.buffer_mutation, TensorRef("b_count"), "count"
        )


def test_skips_what_later_versions_add(tmp_path: Path) -> None:
    archive = Archive()
    archive.program |= {"schema_version": {"major": 8, "minor": 99}, "new": [1]}
    archive.graph["new"] = {}
    archive.graph["nodes"][0]["new"] = None
    archive.files["extra/notes.txt"] = b"hello"
    with read_program(archive.write(tmp_path / "net.pt2")) as program:
        assert len(program.body.nodes) == 1
        assert program.notes == (
            "the file has schema version 8.99 (torch 2.13.0), newer than 8.20: what that adds is"
            " not read",
        )


def test_known_versions_have_no_note(tmp_path: Path) -> None:
    archive = Archive()
    archive.program |= {"schema_version": {"major": 8, "minor": 20}}
    with read_program(archive.write(tmp_path / "net.pt2")) as program:
        assert program.notes == ()


# --- refusals

Change = Callable[[Archive], object]


def node(archive: Archive) -> dict[str, Any]:
    return archive.graph["nodes"][0]


def add_argument(argument: dict[str, Any]) -> Change:
    return lambda archive: node(archive)["inputs"].append({"name": "n", "arg": argument})


def set_type(name: str, **changes: Any) -> Change:
    return lambda archive: archive.graph["tensor_values"][name].update(changes)


def set_dim(dim: dict[str, Any]) -> Change:
    return set_type("add", sizes=[dim, {"as_int": 3}])


def set_weight(**changes: Any) -> Change:
    return lambda archive: archive.weights["w"].update(changes)


def set_file(name: str, data: bytes) -> Change:
    return lambda archive: archive.files.update({name: data})


DAMAGED: dict[str, tuple[Change, str]] = {
    "byteorder": (set_file("byteorder", b"big"), "byteorder is `big`"),
    "format": (set_file("archive_format", b"pt3"), "archive_format is `pt3`"),
    "version": (set_file("archive_version", b"1"), "archive_version is `1`"),
    "no byteorder": (lambda a: a.files.pop("byteorder"), "has no `net/byteorder`"),
    "major": (
        lambda a: a.program.update(schema_version={"major": 9, "minor": 0}),
        r"schema version 9\.0 \(torch 2.13.0\), not 8\.20; update pnnx-parity",
    ),
    "old major": (
        lambda a: a.program.update(schema_version={"major": 6, "minor": 3}),
        r"schema version 6\.3 \(torch 2.13.0\), not 8\.20; save it again with torch >= 2.9",
    ),
    "no pickled weights": (set_file("data/weights/model.pt", b""), "no values for `w`"),
    "pickled weights": (set_file("data/weights/model.pt", b"0"), "in `net/data/weights/model.pt`"),
    "missing entry": (lambda a: a.files.pop("data/weights/weight_0"), "has no `net/data/weights"),
    "missing weight": (lambda a: a.weights.clear(), "no values for `w`"),
    "short weight": (set_file("data/weights/weight_0", b"1234"), "past the 4 bytes"),
    "fake weight": (set_file("data/weights/weight_0", b""), "holds no values for `w`"),
    "another type": (set_weight(tensor_meta=meta(3, dtype=5)), "past the 12 bytes"),
    "another dtype": (set_weight(tensor_meta=meta(3, dtype=4)), "another type"),
    "another shape": (set_weight(tensor_meta=meta(1, 3)), "another type"),
    "offset": (set_weight(tensor_meta=meta(3, offset=1)), "past the 12 bytes"),
    "negative offset": (set_weight(tensor_meta=meta(3, offset=-1)), "offset that is none"),
    "negative stride": (set_weight(tensor_meta=meta(3, strides=(-1,))), "stride or offset"),
    "long stride": (set_weight(tensor_meta=meta(3, strides=(2**62,))), "past the 12 bytes"),
    "huge": (set_weight(tensor_meta=meta(2**40, 2**40)), "impossible shape"),
    "huge and empty": (set_weight(tensor_meta=meta(0, 2**40, 2**40)), "impossible shape"),
    "strides": (set_weight(tensor_meta=meta(3, strides=(1, 1))), "stride or offset"),
    "sym size": (
        set_weight(tensor_meta=meta(3) | {"sizes": [{"as_expr": {"expr_str": "s0"}}]}),
        "a size, stride",
    ),
    "unknown tensor": (add_argument(tensor("y")), "node `add` reads `y`"),
    "its own output": (add_argument(tensor("add")), "node `add` reads `add`"),
    "unknown symbol": (add_argument({"as_sym_int": {"as_name": "s"}}), "reads `s`"),
    "no symbol": (add_argument({"as_sym_int": {}}), "reads `None`"),
    "unknown kind": (add_argument({"as_quaternion": 1}), "unknown kind"),
    "two kinds": (add_argument({"as_int": 1, "as_bool": True}), "unknown kind"),
    "bad float": (add_argument({"as_float": "much"}), "a number that is none"),
    "bad format": (add_argument({"as_memory_format": 0}), "memory format"),
    "bad layout": (add_argument({"as_layout": 8}), "layout"),
    "wrong JSON type": (add_argument({"as_int": "1"}), r"damaged: Expected `int`"),
    "made twice": (lambda a: a.graph["nodes"].append(node(a)), "makes `add` a second time"),
    "bad name": (lambda a: node(a)["outputs"].append(tensor("a b")), "`a b`, which is no name"),
    "no type": (lambda a: a.graph["tensor_values"].pop("add"), "whose type is not given"),
    "negative dim": (set_dim({"as_int": -2}), "stride of -2"),
    "value strides": (set_type("add", strides=[]), "0 strides for 2 dims"),
    "no dim": (set_dim({}), "symbolic value"),
    "bad dim": (set_dim({"as_expr": {"expr_str": "import os"}}), "symbolic value"),
    "input specs": (lambda a: a.signature["input_specs"].pop(), "signature does not fit"),
    "token": (
        lambda a: a.signature["input_specs"].__setitem__(0, {"token": {"arg": {"name": "t"}}}),
        "signature does not fit",
    ),
    "output specs": (lambda a: a.signature["output_specs"].pop(), "signature does not fit"),
    "input order": (lambda a: a.graph["inputs"].reverse(), "signature does not fit"),
    "output kind": (lambda a: a.signature.update(output_specs=[{"x": 1}]), "unknown kind"),
    "no call": (lambda a: a.program["graph_module"].update(module_call_graph=[]), "nest"),
    "bad tree": (lambda a: a.call.update(out_spec="[2, {}]"), "tree of arguments"),
    "tree of others": (
        lambda a: a.call.update(out_spec=json.dumps([1, tree("tuple", LEAF, LEAF)])),
        "results do not fit the tree",
    ),
    "bad tree JSON": (lambda a: a.call.update(in_spec="["), "tree of arguments"),
    "leaf with children": (
        lambda a: a.call.update(in_spec=json.dumps([1, LEAF | {"children_spec": [LEAF]}])),
        "tree of arguments",
    ),
}

UNSUPPORTED: dict[str, tuple[Change, str]] = {
    "fp8 weight": (set_weight(tensor_meta=meta(3, dtype=29)), "`w` has the dtype float8_e4m3fn"),
    "fp8 value": (set_type("add", dtype=30), "node `add` has the dtype float8_e5m2.*model.py:3"),
    "unknown dtype": (set_type("add", dtype=77), "node `add` has the dtype number 77"),
    "fp8 input": (set_type("x", dtype=28), "the graph.s input `x` has the dtype uint16"),
    "dtype argument": (add_argument({"as_scalar_type": 9}), "the dtype complex32.*model.py:3"),
    "sparse": (set_type("add", layout=1), "the layout sparse_coo.*model.py:3"),
    "sparse weight": (set_weight(tensor_meta=meta(3) | {"layout": 2}), "layout sparse_csr"),
    "pickled": (set_weight(use_pickle=True), "`w` is a tensor of a subclass"),
    "no meta": (set_weight(tensor_meta=None), "`w` is a tensor of a subclass"),
    "repeats": (set_weight(tensor_meta=meta(2**40, strides=(0,))), "repeats its elements"),
    "many dims": (set_weight(tensor_meta=meta(*[1] * 33)), "33 dims"),
    "object": (
        lambda a: a.signature["input_specs"].__setitem__(
            0, {"custom_obj": {"arg": {"name": "t", "class_fqn": "rnn.CellParams"}}}
        ),
        "an object of the class rnn.CellParams",
    ),
    "two programs": (set_file("models/other.json", b"{}"), "holds 2 programs"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_refuses_a_damaged_program(tmp_path: Path, name: str) -> None:
    change, text = DAMAGED[name]
    check_refusal(tmp_path, change, text, ArchiveError)


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_refuses_an_unsupported_program(tmp_path: Path, name: str) -> None:
    change, text = UNSUPPORTED[name]
    check_refusal(tmp_path, change, text, UnsupportedError)


def check_refusal(tmp_path: Path, change: Change, text: str, kind: type[ConvertError]) -> None:
    archive = Archive()
    change(archive)
    path = archive.write(tmp_path / "net.pt2")
    with pytest.raises(kind, match=text) as caught:
        read_program(path)
    if kind is ArchiveError:
        assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    path.unlink()  # on Windows this fails if the reader has left the file open


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["m/code/__torch__.py", "m/constants.pkl", "m/data.pkl"], "TorchScript.*`pnnx` program"),
        (["m/data.pkl", "m/data/0"], "pickled tensors"),
        ([f"{m}/serialized_exported_program.json" for m in "mn"], "not where it belongs"),
        (["word/document.xml"], "zip archive, but not"),
        (["m/archive_format", "n/archive_format"], "not where it belongs"),
        (["m/n/archive_format"], "not where it belongs"),
    ],
)
def test_tells_what_a_foreign_archive_is(tmp_path: Path, names: list[str], text: str) -> None:
    path = write_zip(tmp_path / "m.pt2", dict.fromkeys(names, b"pt2"))
    with pytest.raises(ArchiveError, match=text):
        read_program(path)


def test_names_the_version_of_a_program_that_it_cannot_decode(tmp_path: Path) -> None:
    archive = Archive()
    archive.program |= {"schema_version": {"major": 9, "minor": 0}, "graph_module": []}
    with pytest.raises(ArchiveError, match=r"schema version 9\.0 .*update pnnx-parity"):
        read_program(archive.write(tmp_path / "m.pt2"))


def test_refuses_a_compiled_package(tmp_path: Path) -> None:
    files = {"archive_format": b"pt2", "archive_version": b"0", "byteorder": b"little"}
    files["data/aotinductor/model/a.so"] = b""
    path = write_zip(tmp_path / "m.pt2", {f"m/{name}": data for name, data in files.items()})
    with pytest.raises(ArchiveError, match="AOTInductor"):
        read_program(path)


@pytest.mark.parametrize("text", [b"", b"{", b"[" * 100_000, b'{"schema_version":1}', b"\xff{}"])
def test_refuses_damaged_json(tmp_path: Path, text: bytes) -> None:
    entries = Archive().entries()
    entries["net/models/model.json"] = text
    with pytest.raises(ArchiveError, match=r"damaged|nested"):
        read_program(write_zip(tmp_path / "m.pt2", entries))


@pytest.mark.parametrize("depth", [10, 100, 1000, 10_000])
def test_refuses_graphs_that_are_nested_too_deeply(tmp_path: Path, depth: int) -> None:
    archive = Archive()
    node(archive)["inputs"].append({"name": "", "arg": {"as_graph": {"name": "g", "graph": "@"}}})
    before, after = encoded(archive.graph).split(b'"@"')
    innermost = encoded(Archive().graph)
    archive.program["graph_module"]["graph"] = "@"
    entries = archive.entries()
    program = entries["net/models/model.json"]
    graph = before * depth + innermost + after * depth
    entries["net/models/model.json"] = program.replace(b'"@"', graph)
    path = write_zip(tmp_path / "m.pt2", entries)
    if depth == 10:
        read_program(path).close()
    else:
        with pytest.raises(ArchiveError, match="nested too deeply"):
            read_program(path)


@pytest.mark.parametrize("depth", [10, 100, 10_000])
def test_refuses_trees_that_are_nested_too_deeply(tmp_path: Path, depth: int) -> None:
    archive = Archive()
    before, after = encoded(tree("tuple", {"@": 0})).split(b'{"@": 0}')
    deep = before * depth + encoded(LEAF) + after * depth
    archive.call["out_spec"] = f"[1, {deep.decode()}]"
    path = archive.write(tmp_path / "m.pt2")
    if depth == 10:
        read_program(path).close()
    else:
        with pytest.raises(ArchiveError, match="nested too deeply"):
            read_program(path)
