"""Programs whose graph contradicts itself: one line, no file, and no number."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from archives import meta
from programs import Program
from torch import nn

import converter
from converter import cli
from converter.errors import (
    ArchiveError,
    ConvertError,
    UnforeseenError,
    UnsupportedError,
    UsageError,
    Where,
    foreseen,
)

Json = dict[str, Any]


class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, second = x.view(2, 3, 4).split([1, 3], dim=-1)
        return F.pad(torch.cat([second, first], -1).transpose(0, -1), (1, 1), "reflect")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "m.pt2"
    torch.export.save(torch.export.export(Net(), (torch.rand(2, 12),)), path)
    return path


def edited(
    sound: Path,
    path: Path,
    edit: Callable[[Json], None],
    edit_program: Callable[[Json], None] = lambda program: None,
) -> Path:
    with zipfile.ZipFile(sound) as whole, zipfile.ZipFile(path, "w") as other:
        for name in whole.namelist():
            content = whole.read(name)
            if name.endswith("models/model.json"):
                program = json.loads(content)
                edit(program["graph_module"]["graph"])
                edit_program(program)
                content = json.dumps(program).encode()
            other.writestr(name, content)
    return path


def given(graph: Json, target: str, name: str) -> Json:
    """An operator's argument."""
    (node,) = (node for node in graph["nodes"] if f".{target}." in node["target"])
    found: Json = next(one["arg"] for one in node["inputs"] if one["name"] == name)
    return found


def fewer_sizes(graph: Json) -> None:
    given(graph, "view", "size")["as_ints"].pop()


def dim_beyond(graph: Json) -> None:
    given(graph, "transpose", "dim1")["as_int"] = 100


def test_it_is_sound_before(sound: Path, tmp_path: Path) -> None:
    converter.convert(edited(sound, tmp_path / "m.pt2", lambda graph: None))


@pytest.mark.parametrize("edit", [fewer_sizes, dim_beyond])
def test_contradictions(edit: Callable[[Json], None], sound: Path, tmp_path: Path) -> None:
    path = edited(sound, tmp_path / "m.pt2", edit)
    with pytest.raises(ConvertError) as raised:
        converter.convert(path)
    assert "\n" not in str(raised.value)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("dim", [3, -4, 100])
def test_dims_that_no_tensor_has(dim: int, sound: Path, tmp_path: Path) -> None:
    def edit(graph: Json) -> None:
        given(graph, "transpose", "dim1")["as_int"] = dim

    path = edited(sound, tmp_path / "m.pt2", edit)
    with pytest.raises(UnsupportedError, match=rf"its dim1 is {dim}, of a tensor of rank 3"):
        converter.load(path)


class Attending(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(F.adaptive_avg_pool2d(x, (4, 3)), x, x)


@pytest.fixture(scope="module")
def attending(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("attending") / "m.pt2"
    torch.export.save(torch.export.export(Attending(), (torch.rand(1, 2, 4, 3),)), path)
    return path


def a_number_for_a_tensor(graph: Json) -> None:
    value = given(graph, "scaled_dot_product_attention", "value")
    value.clear()
    value["as_float"] = 2.0


def resized(*sizes: int) -> Callable[[Json], None]:
    """Let the pooled tensor claim another shape."""

    def edit(graph: Json) -> None:
        (name,) = (name for name in graph["tensor_values"] if "pool" in name)
        meta = graph["tensor_values"][name]
        meta["sizes"] = [{"as_int": size} for size in sizes]
        meta["strides"] = meta["sizes"]

    return edit


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (a_number_for_a_tensor, "value is 2.0, not a tensor"),
        (resized(2, 4), "its result is of rank 2, not 4"),
        (resized(1, 2, 1 << 62, 1), "has a tensor of .*, which no machine holds"),
    ],
)
def test_claims_about_tensors(
    edit: Callable[[Json], None], told: str, attending: Path, tmp_path: Path
) -> None:
    converter.load(attending)
    path = edited(attending, tmp_path / "m.pt2", edit)
    with pytest.raises(ConvertError, match=told):
        converter.load(path)


class Parts(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.roll(x, (1, 2), (0, 1))[:, 0], x + torch.arange(2, 6)


def named(graph: Json, part: str) -> Json:
    """What the first tensor claims whose name has this part."""
    found: Json = next(meta for name, meta in graph["tensor_values"].items() if part in name)
    return found


def one_shift(graph: Json) -> None:
    given(graph, "roll", "shifts")["as_ints"].pop()


def two_dims_of_numbers(graph: Json) -> None:
    named(graph, "arange").update(sizes=[{"as_int": 1}, {"as_int": 4}], strides=[{"as_int": 1}] * 2)


def no_dim_is_taken(graph: Json) -> None:
    named(graph, "select").update(sizes=[{"as_int": 3}] * 3, strides=[{"as_int": 1}] * 3)


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (one_shift, "its shifts are (1,), not one for each of its dims"),
        (two_dims_of_numbers, "its result is of rank 2, not 1"),
        (no_dim_is_taken, "makes a tensor of rank 3 of one of rank 2"),
    ],
)
def test_results_that_no_call_has(edit: Callable[[Json], None], told: str, tmp_path: Path) -> None:
    torch.export.save(torch.export.export(Parts(), (torch.rand(3, 4),)), tmp_path / "a")
    path = edited(tmp_path / "a", tmp_path / "m.pt2", edit)
    try:
        refusal: ConvertError | None = converter.convert(path).ncnn_refusal
    except UnsupportedError as error:
        refusal = error
    assert told in str(refusal)


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 1)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x)).permute(0, 2, 3, 1).reshape(1, -1)


def claims(part: str, *sizes: int) -> Callable[[Json], None]:
    def edit(graph: Json) -> None:
        shape = [{"as_int": size} for size in sizes]
        named(graph, part).update(sizes=shape, strides=[{"as_int": 1}] * len(sizes))

    return edit


def reads(target: str, argument: str, name: str) -> Callable[[Json], None]:
    def edit(graph: Json) -> None:
        given(graph, target, argument)["as_tensor"] = {"name": name}

    return edit


def twice(graph: Json) -> None:
    given(graph, "permute", "dims")["as_ints"] = [0, 2, 2, 1]


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (reads("conv2d", "weight", "p_conv_bias"), r"its weight is of \(4,\), in 1 groups"),
        (reads("conv2d", "bias", "x"), r"its bias is of \(1, 2, 3, 3\), not of \(4,\)"),
        (claims("x", 1, 1, 3, 3), "for 2 channels, not 1"),
        (reads("batch_norm", "weight", "x"), r"its weight is of \(1, 2, 3, 3\), not of \(4,\)"),
        (claims("permute", 1, 3, 3, 4, 1), "its result is of rank 5, not 4"),
        (claims("reshape", 1, 40), r"its result is of \(1, 40\), which does not hold what"),
        (twice, "no order of those of its tensor"),
    ],
)
def test_weights_and_results_that_do_not_fit(
    edit: Callable[[Json], None], told: str, tmp_path: Path
) -> None:
    program = torch.export.export(Layers().eval(), (torch.rand(1, 2, 3, 3),))
    torch.export.save(program, tmp_path / "a")
    converter.load(tmp_path / "a")
    path = edited(tmp_path / "a", tmp_path / "m.pt2", edit)
    with pytest.raises(UnsupportedError, match=told):
        converter.load(path)


class Double(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.view_as_complex(x.reshape(-1, 2))


def test_what_ncnn_cannot_return(tmp_path: Path) -> None:
    program = torch.export.export(Double(), (torch.rand(4, dtype=torch.float64),))
    torch.export.save(program, tmp_path / "m.pt2")
    assert "returns c128" in str(converter.convert(tmp_path / "m.pt2").ncnn_refusal)


@pytest.mark.parametrize("word", ["mirror", "reflect ", "", "torch.float"])
def test_words_that_an_argument_does_not_have(word: str, sound: Path, tmp_path: Path) -> None:
    def edit(graph: Json) -> None:
        given(graph, "pad", "mode")["as_string"] = word

    path = edited(sound, tmp_path / "m.pt2", edit)
    with pytest.raises(UnsupportedError, match=f"its mode is {word!r}, not circular or constant"):
        converter.load(path)


class Halving(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(2, -1)


def test_a_long_condition_is_read_in_a_few_steps_for_each_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was spelled anew for each of its parts."""
    shapes = ({0: torch.export.Dim.DYNAMIC},)
    program = torch.export.export(Halving(), (torch.rand(4, 2),), dynamic_shapes=shapes)
    torch.export.save(program, tmp_path / "sound.pt2")
    part = "L['x'].size()[0] % 2 == 0"

    def long(program: Json) -> None:
        program["guards_code"] = [" and ".join([part] * 10_000)]

    def broken(program: Json) -> None:
        program["guards_code"] = [" and ".join([*[part] * 10_000, "L['x'].size()[0] < 5"])]

    monkeypatch.delattr("ast.unparse")
    path = edited(tmp_path / "sound.pt2", tmp_path / "m.pt2", lambda graph: None, long)
    converter.load(path, inputshape=[[6, 2]])
    path = edited(tmp_path / "sound.pt2", tmp_path / "m.pt2", lambda graph: None, broken)
    with pytest.raises(UsageError, match="the shapes violate") as error:
        converter.load(path, inputshape=[[6, 2]])
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("children", [0, 1, 3])
def test_a_tree_that_is_not_of_args_and_kwargs(children: int, sound: Path, tmp_path: Path) -> None:
    def edit(program: Json) -> None:
        for entry in program["graph_module"]["module_call_graph"]:
            protocol, root = json.loads(entry["signature"]["in_spec"])
            root["children_spec"] = [root["children_spec"][0]] * children
            entry["signature"]["in_spec"] = json.dumps([protocol, root])

    path = edited(sound, tmp_path / "m.pt2", lambda graph: None, edit)
    with pytest.raises(ArchiveError, match=r"its (tree of arguments is not of args and|inputs do)"):
        converter.load(path)


class Wide(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.pad(x, (1 << 31, 0), value=1.0)


def test_numbers_beyond_the_32_bits_of_ncnn(tmp_path: Path) -> None:
    with torch.device("meta"):
        program = torch.export.export(Wide(), (torch.rand(1, 1, 1),))
    torch.export.save(program, tmp_path / "m.pt2")
    refusal = converter.convert(tmp_path / "m.pt2").ncnn_refusal
    assert "2147483648, which is beyond ncnn's 32 bits" in str(refusal)


def test_repeats_are_no_dims(tmp_path: Path) -> None:
    program = Program(x=meta(3))
    made = program.call("tile.default", "made", meta(12), self="x", dims=(4,))
    converter.convert(program.returning(made).write(tmp_path / "m.pt2"))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.lstm(x)[0]


def test_numbers_beyond_all_measure_take_no_time(tmp_path: Path) -> None:
    torch.export.save(
        torch.export.export(Recurrent().eval(), (torch.rand(5, 2, 4),)), tmp_path / "a"
    )

    def many_layers(graph: Json) -> None:
        given(graph, "lstm", "num_layers")["as_int"] = 1 << 50

    path = edited(tmp_path / "a", tmp_path / "m.pt2", many_layers)
    with pytest.raises(UnsupportedError, match=r"it has 4 weights, not \d+"):
        converter.convert(path)


def test_a_condition_of_what_is_no_input(sound: Path, tmp_path: Path) -> None:
    def no_input(program: Json) -> None:
        program["guards_code"] = ["x > 3"]

    path = edited(sound, tmp_path / "m.pt2", lambda graph: None, no_input)
    with pytest.raises(UnsupportedError, match="condition `x > 3` cannot be checked"):
        converter.convert(path, inputshape=[[2, 12]])


@pytest.mark.parametrize(
    ("raised", "kind", "says"),
    [
        (KeyError("x"), UnforeseenError, "the file contradicts itself, or the converter has a"),
        (NameError("x"), UnforeseenError, "defect (NameError), at model.py:3; export it again"),
        (MemoryError(), UsageError, "there is not enough memory"),
        (OSError(28, "No space left on device"), UsageError, "No space left on device"),
        (UsageError("as it is"), UsageError, "as it is"),
    ],
)
def test_what_is_raised_is_told_in_one_line(
    raised: Exception, kind: type[ConvertError], says: str
) -> None:
    with pytest.raises(kind) as told, foreseen("do it", Where("model.py", 3)):
        raise raised
    assert says in str(told.value)
    assert "\n" not in str(told.value)


def test_what_nobody_foresaw_is_told_as_such(
    sound: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = edited(sound, tmp_path / "m.pt2", lambda graph: None)
    monkeypatch.setattr("converter.aten.lower.bind", lambda node, op: {}["a defect"])
    with pytest.raises(
        UnforeseenError, match=r"cannot convert torch\.ops\.aten\.view\.default: .*"
    ):
        converter.load(path)
    assert cli.main([str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"pt2pnnx: {path}: cannot convert torch.ops.aten.view.default")
    assert f"at {__file__}:" in line
