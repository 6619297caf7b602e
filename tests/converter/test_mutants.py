"""Programs that were damaged at random: each converts, or is refused in one line, soon."""

from __future__ import annotations

import ast
import copy
import io
import json
import random
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import converter
from converter.errors import ConvertError

Entries = dict[str, bytes]
Place = tuple[str | int, ...]

LIMIT = 20
"""Seconds that a conversion may take on a busy machine; it takes 0.03 on an idle one."""

ODD = json.loads(
    """
    [null, true, 0, 1, -1, 7, 1099511627776, 1e25, 0.5, "", "x", "s77//0", "NaN", [], {}, [[]],
     {"as_int": -3}, {"as_ints": [0, 9]}, {"as_none": true}, {"as_tensor": {"name": "x"}},
     {"as_float": "Infinity"}, {"as_expr": {"expr_str": "s77**s77**s77", "hint": null}},
     "torch.ops.aten.unbind.int", "torch.ops.aten.lstm.input"]
    """
)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3, padding=1)
        self.norm = nn.BatchNorm2d(3)

    def forward(self, x: torch.Tensor, given: dict[str, torch.Tensor]) -> dict[str, Any]:
        y = F.interpolate(F.relu(self.norm(self.conv(x))), scale_factor=2.0)
        first, second = y.split([1, 2], 1)
        values, indices = torch.topk(torch.cat([second, first], 1).mean((2, 3)), 2)
        z = values + 0
        z[:, 1].add_(given["q"])
        return {"z": [z, indices], "flat": x.reshape(x.shape[0] * 2, -1) + x.shape[0] // 2}


@pytest.fixture(scope="module")
def programs() -> list[Entries]:
    """The same program with and without dynamic dims, and decomposed."""
    model, inputs = Net().eval(), (torch.rand(4, 2, 4, 4), {"q": torch.rand(1)})
    batch = torch.export.Dim("batch", min=2, max=64)
    shapes = ({0: batch}, {"q": None})
    plain = torch.export.export(model, inputs)
    dynamic = torch.export.export(model, inputs, dynamic_shapes=shapes)
    return [entries(one) for one in (plain, dynamic, plain.run_decompositions())]


def entries(program: torch.export.ExportedProgram) -> Entries:
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    with zipfile.ZipFile(buffer) as file:
        return {name: file.read(name) for name in file.namelist()}


def zipped(content: Entries) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, data in content.items():
            file.writestr(name, data)
    return buffer.getvalue()


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    if at:
        yield at
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*at, key))


def find(document: Any, place: Place) -> Any:
    for key in place:
        document = document[key]
    return document


def damage(document: Any, draw: random.Random) -> None:
    """Take a value away, put another in its place, repeat it, or swap it with one like it."""
    every = [place for place in places(document) if "metadata" not in place]
    if not every:
        return
    place = draw.choice(every)
    holder, key, value = find(document, place[:-1]), place[-1], find(document, place)
    alike = [other for other in every if other[-1] == key and other[: len(place)] != place]
    match draw.choice(["swap", "swap", "odd", "odd", "delete", "repeat", "nest"]):
        case "swap" if alike:
            holder[key] = copy.deepcopy(find(document, draw.choice(alike)))
        case "delete":
            del holder[key]
        case "repeat" if isinstance(holder, list):
            holder.insert(draw.randrange(len(holder)), copy.deepcopy(value))
        case "nest":
            for _ in range(draw.choice([1, 100])):
                value = [value]
            holder[key] = value
        case _:
            holder[key] = copy.deepcopy(draw.choice(ODD))


def mutant(content: Entries, draw: random.Random) -> bytes:
    if draw.random() < 0.1:
        data = bytearray(zipped(content))
        for _ in range(draw.choice([1, 20])):
            data[draw.randrange(len(data))] = draw.randrange(256)
        return bytes(data[: draw.choice([len(data), draw.randrange(len(data))])])
    name = draw.choice([one for one in content if one.endswith(".json")])
    document = json.loads(content[name])
    for _ in range(draw.choice([1, 1, 2])):
        damage(document, draw)
    return zipped({**content, name: json.dumps(document).encode()})


@pytest.mark.parametrize("seed", range(150))
def test_it_converts_or_is_refused(seed: int, programs: list[Entries], tmp_path: Path) -> None:
    draw = random.Random(seed)
    path = tmp_path / "m.pt2"
    path.write_bytes(mutant(draw.choice(programs), draw))
    began = time.monotonic()
    told = refusal(path)
    assert time.monotonic() - began < LIMIT
    if told is None:
        ast.parse((tmp_path / "m_pnnx.py").read_text())
    else:
        assert "\n" not in told
        assert list(tmp_path.iterdir()) == [path]


def refusal(path: Path) -> str | None:
    try:
        converter.convert(path)
    except ConvertError as error:
        return str(error)
    return None
