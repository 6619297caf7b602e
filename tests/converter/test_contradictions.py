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
from torch import nn

import converter
from converter import cli
from converter.errors import ConvertError, UnforeseenError

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


def edited(sound: Path, path: Path, edit: Callable[[Json], None]) -> Path:
    with zipfile.ZipFile(sound) as whole, zipfile.ZipFile(path, "w") as other:
        for name in whole.namelist():
            content = whole.read(name)
            if name.endswith("models/model.json"):
                program = json.loads(content)
                edit(program["graph_module"]["graph"])
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


def test_what_nobody_foresaw_is_told_as_such(
    sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = edited(sound, tmp_path / "m.pt2", fewer_sizes)
    with pytest.raises(
        UnforeseenError, match=r"cannot convert torch\.ops\.aten\.view\.default: .*"
    ):
        converter.load(path)
    assert cli.main([str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"pt2pnnx: {path}: cannot convert torch.ops.aten.view.default")
    assert f"at {__file__}:" in line
