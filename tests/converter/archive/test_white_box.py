"""Programs that are sound JSON and hostile all the same: refused by name, or converted safely."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
from archives import LEAF, Archive, encoded, meta, payload, tensor, tree, write_zip

from converter import convert
from converter.archive import read_program
from converter.errors import ArchiveError, UnsupportedError

CODE = "x'] = 1\nimport os; os.abort() #"


def argument(archive: Archive, value: Any) -> None:
    archive.graph["nodes"][0]["inputs"].append({"name": "alpha", "arg": value})


def refused(archive: Archive, path: Path, text: str) -> None:
    with pytest.raises(ArchiveError, match=text) as caught:
        read_program(archive.write(path))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "outside", ["../../../etc/passwd", "/etc/passwd", "..", "", "weight_0/../weight_0", CODE]
)
def test_weights_lie_in_the_archive(tmp_path: Path, outside: str) -> None:
    archive = Archive()
    archive.weights["w"]["path_name"] = outside
    refused(archive, tmp_path / "m.pt2", "has no `net/data/weights/")


def test_dangling_and_cyclic_references(tmp_path: Path) -> None:
    for change, text in (
        (lambda a: a.graph.update(outputs=[tensor("y")]), "an output of the graph reads `y`"),
        (lambda a: a.graph["nodes"].clear(), "an output of the graph reads `add`"),
        (lambda a: argument(a, tensor("add")), "node `add` reads `add`"),
        (lambda a: argument(a, {"as_tensors": [{"name": "later"}]}), "node `add` reads `later`"),
    ):
        archive = Archive()
        change(archive)
        refused(archive, tmp_path / "m.pt2", text)
    archive = Archive()  # two nodes, each of which reads what the other makes
    second = json.loads(encoded(archive.graph["nodes"][0]))
    second.update(name="b", outputs=[tensor("b")])
    archive.graph["tensor_values"]["b"] = meta(2, 3)
    archive.graph["nodes"][0]["inputs"][0]["arg"] = tensor("b")
    second["inputs"][0]["arg"] = tensor("add")
    archive.graph["nodes"].append(second)
    refused(archive, tmp_path / "m.pt2", "node `add` reads `b`")


def test_nodes_of_one_name(tmp_path: Path) -> None:
    """What they make must have names of its own; theirs are text for messages."""
    archive = Archive()
    second = json.loads(encoded(archive.graph["nodes"][0]))
    second.update(outputs=[tensor("b")])
    second["inputs"][0]["arg"] = tensor("add")
    archive.graph["tensor_values"]["b"] = meta(2, 3)
    archive.graph["nodes"].append(second)
    archive.graph["outputs"] = [tensor("b")]
    archive.signature["output_specs"][0]["user_output"]["arg"] = tensor("b")
    path = archive.write(tmp_path / "m.pt2")
    convert(path)
    lines = (tmp_path / "m.pnnx.param").read_text().splitlines()[2:]
    names = [line.split()[1] for line in lines]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5000, "-" + "9" * 25, "0x10", "01"]
)
def test_numbers_that_are_none(tmp_path: Path, number: str) -> None:
    """Where a float or an int is expected, and as a size, a stride and a count of bytes."""
    for field in ("as_int", "as_float"):
        archive = Archive()
        argument(archive, {field: "@"})
        put(archive, tmp_path / "m.pt2", number)
    archive = Archive()
    archive.graph["tensor_values"]["add"]["sizes"][0] = {"as_int": "@"}
    put(archive, tmp_path / "m.pt2", number)
    archive = Archive()
    archive.weights["w"]["tensor_meta"]["strides"][0] = {"as_int": "@"}
    put(archive, tmp_path / "m.pt2", number)


def put(archive: Archive, path: Path, number: str) -> None:
    """Write a number in place of "@", and read the file: it is refused, or the number is one."""
    entries = {
        name: data.replace(b'"@"', number.encode()) for name, data in archive.entries().items()
    }
    refusal = ""
    try:
        with read_program(write_zip(path, entries)) as program:
            value = program.body.nodes[0].inputs[-1][1]
    except ArchiveError as error:
        refusal = str(error)
    else:
        assert value == float(number)
        assert isinstance(value, float)
    assert len(refusal) < 500
    assert refusal.isprintable()


@pytest.mark.parametrize("text", [b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\xaf", b"\x80"])
def test_text_that_is_no_utf8(tmp_path: Path, text: bytes) -> None:
    for name in ("net/models/model.json", "net/data/weights/model_weights_config.json"):
        entries = Archive().entries()
        entries[name] = entries[name].replace(b'"w"', b'"w%b"' % text)
        with pytest.raises(ArchiveError, match="is damaged"):
            read_program(write_zip(tmp_path / "m.pt2", entries))


def test_names_are_never_code(tmp_path: Path) -> None:
    """Of weights, keys, arguments, classes and files: all that a program may call as it likes."""
    archive = Archive()
    archive.weights = {CODE: payload("weight_0", meta(3))}
    archive.signature["input_specs"][0]["parameter"]["parameter_name"] = CODE
    keys = json.dumps([CODE])
    spec = [1, tree("tuple", tree("tuple"), tree("dict", LEAF, context=keys))]
    archive.call["in_spec"] = json.dumps(spec)
    archive.call["forward_arg_names"] = [CODE]
    archive.program["guards_code"] = [CODE]
    archive.program["torch_version"] = CODE
    node = archive.graph["nodes"][0]
    node["name"] = CODE
    node["metadata"] = {
        "stack_trace": f'File "{CODE}", line 3, in forward\n    {CODE}',
        "nn_module_stack": f"L__self__,{CODE},{CODE}",
        "from_node": CODE,
    }
    path = archive.write(tmp_path / "m.pt2")
    converted = convert(path)
    assert all(note.isprintable() for note in converted.notes)
    for path in converted.files:
        if path.suffix == ".py":
            module = ast.walk(ast.parse(path.read_text()))
            assert not any("abort" in called(node) for node in module)
        elif path.suffix == ".param":
            assert not re.search("^import", path.read_text(), re.MULTILINE)


def test_keys_of_results_are_plain_words(tmp_path: Path) -> None:
    archive = Archive()
    results = tree("dict", LEAF, context=json.dumps([CODE]))
    archive.call["out_spec"] = json.dumps([1, results])
    with pytest.raises(UnsupportedError, match="keys are plain words") as caught:
        convert(archive.write(tmp_path / "m.pt2"))
    assert str(caught.value).isprintable()
    assert [path.name for path in tmp_path.iterdir()] == ["m.pt2"]


def called(node: ast.AST) -> str:
    """What a call calls; an import as it stands."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func)
    return ast.unparse(node) if isinstance(node, ast.Import | ast.ImportFrom) else ""


@pytest.mark.parametrize(
    "name", ["a b", "a\nb", "1a", "a-b", "", "ä", "a.b", "x'", "__import__('os')"]
)
def test_values_have_plain_names(tmp_path: Path, name: str) -> None:
    archive = Archive()
    archive.graph["nodes"][0]["outputs"] = [tensor(name)]
    archive.graph["tensor_values"][name] = meta(2, 3)
    refused(archive, tmp_path / "m.pt2", "which is no name")


def test_a_graph_of_many_nodes_is_read(tmp_path: Path) -> None:
    """20,000 additions, one after another; 200,000 take 130 MB of JSON, half of JSON_LIMIT."""
    count = 20_000
    archive = Archive()
    node = encoded(archive.graph["nodes"][0]).decode()
    kind = encoded(meta(2, 3)).decode()
    nodes, last = [], "x"
    for number in range(count):
        made = f"add_{number}"
        nodes.append(node.replace('"x"', f'"{last}"').replace('"add"', f'"{made}"'))
        last = made
    types = ",".join(f'"add_{number}":{kind}' for number in range(count))
    archive.graph["nodes"] = "@nodes"
    archive.graph["tensor_values"]["@types"] = 0
    archive.graph["outputs"] = [tensor(last)]
    archive.signature["output_specs"] = [{"user_output": {"arg": tensor(last)}}]
    entries = archive.entries()
    program = entries["net/models/model.json"].decode()
    program = program.replace('"@nodes"', f"[{','.join(nodes)}]").replace('"@types": 0', types)
    entries["net/models/model.json"] = program.encode()
    with read_program(write_zip(tmp_path / "m.pt2", entries)) as read:
        assert len(read.body.nodes) == count
