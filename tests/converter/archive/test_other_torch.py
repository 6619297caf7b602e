"""What other torch exports in another way: archives made by hand, as this one does not."""

from __future__ import annotations

from pathlib import Path

from archives import Archive, meta, payload, tensor

from converter import convert


def test_state_that_is_listed_and_stays_as_it_is(tmp_path: Path) -> None:
    """torch 2.5 lists the running statistics of an instance norm in eval mode as changed."""
    archive = Archive()
    archive.graph["inputs"].insert(1, tensor("b"))
    archive.graph["tensor_values"]["b"] = meta(3)
    archive.signature["input_specs"].insert(
        1, {"buffer": {"arg": {"name": "b"}, "buffer_name": "mean", "persistent": True}}
    )
    archive.weights["mean"] = payload("weight_1", meta(3), is_param=False)
    archive.files["data/weights/weight_1"] = archive.files["data/weights/weight_0"]
    archive.graph["nodes"][0]["inputs"][1]["arg"] = tensor("b")
    archive.graph["outputs"] = [tensor("b"), tensor("x"), tensor("add")]
    archive.signature["output_specs"][:0] = [
        {"buffer_mutation": {"arg": {"name": "b"}, "buffer_name": "mean"}},
        {"user_input_mutation": {"arg": {"name": "x"}, "user_input_name": "x"}},
    ]
    converted = convert(archive.write(tmp_path / "m.pt2"))
    assert converted.notes == ()


def test_a_leaky_relu_with_noise_that_is_not_written(tmp_path: Path) -> None:
    """torch 2.5 had no functional form of it, and none of its arguments was changed."""
    archive = Archive()
    archive.program["torch_version"] = "2.5.1"
    node = archive.graph["nodes"][0]
    node["target"] = "torch.ops.aten.rrelu_with_noise.default"
    node["inputs"] = [
        {"name": "self", "arg": tensor("x")},
        {"name": "noise", "arg": tensor("p_w")},
        {"name": "lower", "arg": {"as_float": 0.25}},
    ]
    convert(archive.write(tmp_path / "m.pt2"))
    (line,) = [
        line
        for line in (tmp_path / "m.pnnx.param").read_text().splitlines()
        if "rrelu" in line.lower()
    ]
    assert line.startswith("F.rrelu")
    assert "lower=0.25" in line


def test_a_later_schema_is_converted_with_a_note(tmp_path: Path) -> None:
    archive = Archive()
    archive.program |= {"schema_version": {"major": 8, "minor": 99}, "torch_version": "2.99.0"}
    (note,) = convert(archive.write(tmp_path / "m.pt2")).notes
    assert note.startswith("the file has schema version 8.99 (torch 2.99.0), newer than 8.20")
