"""`pt2pnnx`: what it writes, and what it says of bad input, in its own process as users run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from converter import cli
from converter.errors import ConvertError

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


class Refused(nn.Module):
    """ncnn has no layer for what it computes."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.special.bessel_j0(x)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    x = torch.rand(1, 3, 8, 8)
    for model in (Net(), Unknown(), Refused()):
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


def copied(models: Path, path: Path, name: str = "net") -> Path:
    path.write_bytes((models / f"{name}.pt2").read_bytes())
    return path


def converted(*words: str | Path, **how: Any) -> subprocess.CompletedProcess[bytes]:
    """As users run it, with what they may do to its streams, its locale and its limits."""
    command = [sys.executable, "-m", "converter.cli", *map(str, words)]
    return subprocess.run(command, **{"stderr": subprocess.PIPE, "timeout": 60, **how})


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize("words", [["net.pt2"], ["--help"]])
def test_a_full_disk_for_what_is_printed(words: list[str], models: Path, tmp_path: Path) -> None:
    copied(models, tmp_path / "net.pt2")
    with Path("/dev/full").open("wb") as full:
        done = converted(*words, cwd=tmp_path, stdout=full)
        assert (done.returncode, done.stderr) == (
            1, b"pt2pnnx: cannot print: No space left on device\n"
        )  # fmt: skip
        silent = converted(*words, cwd=tmp_path, stdout=full, stderr=full)
        assert silent.returncode == 1
    assert (words == ["--help"]) != (tmp_path / "net_ncnn.py").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell of POSIX")
def test_streams_that_are_closed(models: Path, tmp_path: Path) -> None:
    model = copied(models, tmp_path / "net.pt2")
    shell = ["sh", "-c", '"$0" -m converter.cli "$1" >&- 2>&-', sys.executable, str(model)]
    assert subprocess.run(shell, timeout=60).returncode == 0
    assert (tmp_path / "net_ncnn.py").exists()
    shell[3:] = [sys.executable, str(tmp_path / "absent.pt2")]
    assert subprocess.run(shell, timeout=60).returncode == 2


@pytest.mark.skipif(sys.platform == "win32", reason="names are no bytes on Windows")
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_names_that_the_terminal_lacks(encoding: str, models: Path, tmp_path: Path) -> None:
    """And those that would move its cursor, or look like several lines."""
    names = ["modèle.pt2", os.fsdecode(b"m\xff.pt2"), "m\x1b[2J\nmore.pt2"]
    for name in names:
        copied(models, tmp_path / name)
        env = {**os.environ, "PYTHONIOENCODING": encoding}
        done = converted(name, cwd=tmp_path, env=env, stdout=subprocess.PIPE)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count(b"\n") == 6
        assert b"\x1b" not in done.stdout + done.stderr
        missing = converted(f"absent {name}", cwd=tmp_path, env=env)
        assert missing.returncode == 2
        assert missing.stderr.count(b"\n") == 1
        assert b"\x1b" not in missing.stderr
    assert len(list(tmp_path.iterdir())) == 7 * len(names)


@pytest.mark.parametrize("key", ["inputshape", "moduleop", "customop", "input", "fp16", "what"])
@pytest.mark.parametrize("value", ["a\nb\x1b[31m", "é" * 50_000, "\udcff"])
def test_what_the_user_gives_is_told_on_one_short_line(
    key: str, value: str, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([str(models / "net.pt2"), f"{key}={value}"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()
    assert len(line) < 3000


INTERRUPTED = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.{signal})

sys.meta_path.insert(0, Finder())
from converter.cli import main
sys.exit(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
@pytest.mark.parametrize("module", ["numpy", "msgspec", "converter.pnnx.param", "converter.ncnn"])
def test_signals_leave_nothing_and_say_nothing(
    module: str, name: str, status: int, models: Path, tmp_path: Path
) -> None:
    """While it imports, reads and writes: what is left is what was there."""
    model = copied(models, tmp_path / "net.pt2")
    program = INTERRUPTED.format(module=module, signal=name)
    done = subprocess.run(
        [sys.executable, "-c", program, str(model)], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")
    assert list(tmp_path.iterdir()) == [model]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits")
def test_a_disk_that_is_full_leaves_what_was_there(models: Path, tmp_path: Path) -> None:
    """Files of more than 1000 bytes are too large: the kernel says so, as of a full disk."""
    import resource

    model = copied(models, tmp_path / "net.pt2")
    (tmp_path / "net.pnnx.param").write_text("old")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = converted(model, preexec_fn=limit)
    assert done.returncode == 2
    assert done.stderr == b"pt2pnnx: cannot write pnnx's files: File too large\n"
    assert (tmp_path / "net.pnnx.param").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"net.pt2", "net.pnnx.param"}


def test_older_ncnn_files_do_not_stay_beside_new_files_of_pnnx(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = copied(models, tmp_path / "m.pt2")
    assert cli.main([str(model)]) == 0
    copied(models, model, "refused")
    capsys.readouterr()
    assert cli.main([str(model)]) == 1
    told = capsys.readouterr().err.splitlines()[-2:]
    names = [str(tmp_path / name) for name in ("m.ncnn.param", "m.ncnn.bin", "m_ncnn.py")]
    assert told[0].startswith(f"pt2pnnx: note: removed {', '.join(names)}, which an earlier")
    assert told[1].startswith("pt2pnnx: no ncnn files: ")
    left = {"m.pt2", "m.pnnx.param", "m.pnnx.bin", "m_pnnx.py"}
    assert {path.name for path in tmp_path.iterdir()} == left


@pytest.mark.parametrize("raised", [ZeroDivisionError, MemoryError, ConvertError("too many")])
def test_what_goes_wrong_for_ncnn_does_not_lose_the_files_of_pnnx(
    raised: BaseException,
    models: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr("converter.ncnn.write_bin", fail)
    model = copied(models, tmp_path / "m.pt2")
    assert cli.main([str(model)]) == 1
    assert "pt2pnnx: no ncnn files: " in capsys.readouterr().err.splitlines()[-1]
    left = {"m.pt2", "m.pnnx.param", "m.pnnx.bin", "m_pnnx.py"}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_no_arguments_shows_the_usage() -> None:
    done = pt2pnnx()
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: pt2pnnx model.pt2")
    for words in (["--help"], ["-h"], ["m.pt2", "--help"], ["m.pt2", "fp16=0", "-h"]):
        helped = pt2pnnx(*words)
        assert (helped.returncode, helped.stdout) == (0, done.stderr)
