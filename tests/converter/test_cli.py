"""`pt2pnnx`: what it writes, and what it says of bad input, in its own process as users run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

PROGRAM = """
import sys
from converter.cli import main
status = main(sys.argv[1:])
assert not {"torch", "ray"} & set(sys.modules)
sys.exit(status)
"""


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.norm(self.conv(x)))


@torch.library.custom_op("test_cli::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@doubled.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


STATISTICS = "model inputshape = [1,3,8,8]f32\nFLOPS = 14.336K\nmemory OPS = 1.072K\n"
"""What is said of Net, as pnnx counts."""


class Unknown(nn.Module):
    """Its operator has no conversion: it is not PyTorch's own."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + doubled(x)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    x = torch.rand(1, 3, 8, 8)
    for model in (Net(), Unknown()):
        name = type(model).__name__.lower()
        with torch.no_grad():
            torch.export.save(torch.export.export(model.eval(), (x,)), folder / f"{name}.pt2")
    torch.jit.trace(Net().eval(), x).save(folder / "script.pt")
    whole = (folder / "net.pt2").read_bytes()
    (folder / "empty.pt2").touch()
    (folder / "cut.pt2").write_bytes(whole[: len(whole) // 2])
    (folder / "text.pt2").write_text("hello")
    return folder


def pt2pnnx(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_it_writes_six_files(models: Path, tmp_path: Path) -> None:
    model = tmp_path / "my-net.pt2"
    model.write_bytes((models / "net.pt2").read_bytes())
    done = pt2pnnx(model, "inputshape=[1,3,8,8]f32", "fp16=0")
    assert (done.returncode, done.stderr) == (0, STATISTICS)
    names = ["my-net.pnnx.param", "my-net.pnnx.bin", "my_net_pnnx.py"]
    names += ["my-net.ncnn.param", "my-net.ncnn.bin", "my_net_ncnn.py"]
    assert done.stdout.split() == [str(tmp_path / name) for name in names]
    assert {path.name for path in tmp_path.iterdir()} == {model.name, *names}


def test_outputs_go_where_they_are_told(models: Path, tmp_path: Path) -> None:
    keys = ["pnnxparam", "pnnxbin", "pnnxpy", "ncnnparam", "ncnnbin", "ncnnpy"]
    words = [f"{key}={tmp_path / key}" for key in keys]
    done = pt2pnnx(models / "net.pt2", *words, "pnnxonnx=x.onnx", "device=gpu", "optlevel=0")
    assert done.returncode == 0
    assert done.stderr.startswith("pnnxonnx: no ONNX file is written\nmodel inputshape = ")
    assert {path.name for path in tmp_path.iterdir()} == set(keys)
    assert "nn.BatchNorm2d" in (tmp_path / "pnnxparam").read_text()


BAD = {
    "missing": (["missing.pt2"], "missing.pt2: no such file"),
    "empty": (["empty.pt2"], "empty.pt2: is empty"),
    "truncated": (["cut.pt2"], "cut.pt2: is cut off"),
    "no zip": (["text.pt2"], "text.pt2: is not an exported program"),
    "TorchScript": (["script.pt"], "script.pt: is a TorchScript model"),
    "folder": (["."], "."),
    "unknown key": (["net.pt2", "fp61=1"], "unknown key 'fp61'; did you mean fp16?"),
    "no value": (["net.pt2", "fp16"], "'fp16' is not key=value"),
    "spaces": (["net.pt2", "inputshape=[1,", "3]"], "'3]' is not key=value; write key=value"),
    "bad value": (["net.pt2", "optlevel=3"], "optlevel=3 is not 0, 1 or 2"),
    "twice": (["net.pt2", "fp16=0", "fp16=1"], "fp16 is given twice"),
    "bad shape": (["net.pt2", "inputshape=[1,3"], "inputshape=[1,3 cannot be read"),
    "too few shapes": (["net.pt2", "inputshape=[1],[1]"], "inputshape has 2 shapes"),
    "rank": (["net.pt2", "inputshape=[1,3,8]"], "[1,3,8] has 3 dims, x 4"),
    "size": (["net.pt2", "inputshape=[1,3,9,9]"], "does not fit x, which was exported as"),
    "dtype": (["net.pt2", "inputshape=[1,3,8,8]i64"], "whose dtype is f32"),
    "no npy": (["net.pt2", "input=text.pt2"], "text.pt2 is no .npy file"),
    "no folder": (["net.pt2", "pnnxparam=absent/x"], "cannot write"),
    "the model": (["net.pt2", "pnnxbin=./net.pt2"], "it is the model itself"),
    "one name": (["net.pt2", "pnnxparam=same", "ncnnpy=./same"], "two outputs have this name"),
    "a folder": (["net.pt2", "pnnxparam=."], "it is a folder"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_one_line_and_status_2(
    kind: str, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (model, *words), told = BAD[kind]
    before = set(models.rglob("*"))
    monkeypatch.chdir(models)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    done = pt2pnnx(model, *words)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("pt2pnnx: ")
    assert done.stderr.count("\n") == 1
    assert told in done.stderr
    assert set(models.rglob("*")) == before


def test_what_has_no_conversion_is_refused_with_its_line(models: Path) -> None:
    before = set(models.iterdir())
    done = pt2pnnx(models / "unknown.pt2")
    assert done.returncode == 1
    assert "test_cli.doubled" in done.stderr
    assert "test_cli.py:" in done.stderr
    assert "return x + doubled(x)" in done.stderr
    assert set(models.iterdir()) == before


def test_nobody_may_read_what_is_printed(models: Path, tmp_path: Path) -> None:
    model = tmp_path / "net.pt2"
    model.write_bytes((models / "net.pt2").read_bytes())
    unread, printed = os.pipe()
    os.close(unread)
    command = [sys.executable, "-c", PROGRAM, str(model)]
    done = subprocess.run(command, stdout=printed, stderr=subprocess.PIPE, timeout=60)
    os.close(printed)
    assert (done.returncode, done.stderr) == (1, b"")
    assert (tmp_path / "net.pnnx.param").exists()


def test_no_arguments_shows_the_usage() -> None:
    done = pt2pnnx()
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: pt2pnnx model.pt2")
    for words in (["--help"], ["-h"], ["m.pt2", "--help"], ["m.pt2", "fp16=0", "-h"]):
        helped = pt2pnnx(*words)
        assert (helped.returncode, helped.stdout) == (0, done.stderr)
