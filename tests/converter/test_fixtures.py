"""What every torch exported converts to both targets, and computes what eager did there."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils import _pytree as pytree

from converter import Converted, convert
from converter.archive import read_program, schema
from converter.archive.program import TensorInput
from converter.cli import main
from suites.compare import compare, flat, rule_of
from suites.frontends import import_generated

FIXTURES = Path(__file__).parents[2] / "fixtures"
SIZE = 5 << 20
"""Bytes of all fixtures together."""
LEGACY = ["conv_net", "transformer", "dynamic", "constants", "writes", "nested"]
LATER = [*LEGACY, "spectrogram", "inverse_spectrogram", "attention"]
PRODUCERS = {
    "legacy/2.5.1": ["conv_net", "constants"],
    "legacy/2.6.0": ["conv_net", "constants"],
    "legacy/2.7.1": LEGACY,
    **{
        f"producers/{version}": LATER
        for version in ("2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1")
    },
}
"""The fixtures of each torch."""


def manifest(producer: str) -> dict[str, Any]:
    text = (FIXTURES / producer / "manifest.json").read_text()
    told: dict[str, Any] = json.loads(text)
    return told


def programs(*names: str) -> list[Path]:
    return [
        FIXTURES / producer / f"{name}.pt2"
        for producer, made in PRODUCERS.items()
        for name in made
        if not names or name in names
    ]


def of(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


@pytest.mark.parametrize("producer", PRODUCERS)
def test_manifests_tell_what_is_there(producer: str) -> None:
    told = manifest(producer)
    assert told["torch"] == Path(producer).name
    assert list(told["programs"]) == PRODUCERS[producer]
    files = {path.name for path in (FIXTURES / producer).iterdir()} - {"manifest.json"}
    assert files == {f"{name}.{kind}" for name in told["programs"] for kind in ("pt2", "npz")}
    for name, made in told["programs"].items():
        content = (FIXTURES / producer / f"{name}.pt2").read_bytes()
        assert hashlib.sha256(content).hexdigest() == made["sha256"]


def test_fixtures_are_small() -> None:
    kept = [*FIXTURES.glob("*/*/*"), *FIXTURES.glob("*.py")]
    assert sum(path.stat().st_size for path in kept) < SIZE


def test_the_table_of_versions_is_up_to_date() -> None:
    told = subprocess.run(
        [sys.executable, FIXTURES / "versions.py", "--check"], capture_output=True, text=True
    )
    assert told.returncode == 0, told.stdout


def test_help_tells_which_versions_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert {Path(producer).name for producer in PRODUCERS} <= {line[0] for line in lines}
    major, minor = schema.NEWEST
    last = next(line for line in lines if line[0] == Path(list(PRODUCERS)[-1]).name)
    assert last[1] == f"{major}.{minor}"


def calls(path: Path) -> Iterator[tuple[list[torch.Tensor], list[torch.Tensor]]]:
    """The inputs of each call, those that the program takes, and what eager returned."""
    with read_program(path) as program:
        passed = program.inputs
    arrays = np.load(path.with_suffix(".npz"))
    number = 0
    while f"call{number}.input0" in arrays:
        inputs = [
            torch.from_numpy(arrays[f"call{number}.input{place}"])
            for place, given in enumerate(passed)
            if isinstance(given, TensorInput)
        ]
        outputs = [name for name in arrays.files if name.startswith(f"call{number}.output")]
        yield inputs, [torch.from_numpy(arrays[name]) for name in outputs]
        number += 1


def converted(path: Path, folder: Path) -> Converted:
    """Convert a fixture; where it was called with several sizes, those that differ stay dynamic."""
    copy = folder / path.name
    copy.write_bytes(path.read_bytes())
    shapes = [[given.shape for given in inputs] for inputs, _ in calls(path)]
    given = dict(zip(("inputshape", "inputshape2"), shapes, strict=True)) if shapes[1:] else {}
    return convert(copy, fp16=False, **given)


@pytest.mark.parametrize("path", programs(), ids=of)
def test_computes_what_its_producer_did(path: Path, tmp_path: Path) -> None:
    """Within the rule for other orders of rounding: another torch has other kernels."""
    written = converted(path, tmp_path)
    assert written.ncnn_refusal is None
    model = import_generated(tmp_path / f"{path.stem}_pnnx.py").Model().eval()
    infer = import_generated(tmp_path / f"{path.stem}_ncnn.py").infer
    for inputs, expected in calls(path):
        with torch.no_grad():
            actual = pytree.tree_leaves(model(*[given.clone() for given in inputs]))
        compare(expected, actual, rule_of("pnnx", arithmetic_changed=True))
        compare(flat(expected), flat(infer(*inputs)), rule_of("ncnn", False))


def layers(path: Path, folder: Path) -> Counter[str]:
    """How many layers of each kind ncnn's graph has."""
    converted(path, folder)
    lines = (folder / f"{path.stem}.ncnn.param").read_text().splitlines()[2:]
    return Counter(line.split()[0] for line in lines)


@pytest.mark.parametrize(
    ("name", "kind", "count"),
    [("spectrogram", "Spectrogram", 5), ("inverse_spectrogram", "InverseSpectrogram", 4)],
)
def test_transforms_are_the_same_layers_whichever_torch_made_them(
    name: str, kind: str, count: int, tmp_path: Path
) -> None:
    found = [layers(path, tmp_path) for path in programs(name)]
    assert len(found) == 7
    assert found[0][kind] == count
    assert all(one == found[0] for one in found)
    assert set(found[0]) <= {kind, "Input", "Split", "Reshape", "Padding", "Crop", "Permute"}


@pytest.mark.parametrize("path", programs("constants"), ids=of)
def test_a_deflated_archive_converts_to_the_same_bytes(path: Path, tmp_path: Path) -> None:
    """With the file of torch.save in it deflated too."""
    whole, packed = tmp_path / "whole", tmp_path / "packed"
    whole.mkdir()
    packed.mkdir()
    with (
        zipfile.ZipFile(path) as file,
        zipfile.ZipFile(packed / path.name, "w", zipfile.ZIP_DEFLATED) as copy,
    ):
        for name in file.namelist():
            copy.writestr(name, file.read(name))
    (whole / path.name).write_bytes(path.read_bytes())
    for written, other in zip(
        convert(whole / path.name).files, convert(packed / path.name).files, strict=True
    ):
        assert written.name == other.name
        assert written.read_bytes() == other.read_bytes()
