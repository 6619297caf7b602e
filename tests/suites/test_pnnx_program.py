"""How the pnnx program ends, and what is told of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from suites import pnnx_program
from suites.pnnx_program import PnnxError, convert

LIMIT = 60.0


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Put a shell script in the program's place, for ends that pnnx cannot be brought to."""
    if os.name != "posix":
        pytest.skip("shell scripts are POSIX")

    def write(text):
        path = tmp_path / "script"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        monkeypatch.setattr(pnnx_program, "program", lambda: path)

    return write


def test_the_program_is_found_without_importing_its_package():
    code = (
        "import sys; from suites.pnnx_program import program; assert program().is_file(); "
        "assert not {'pnnx', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_model_is_converted(tmp_path):
    model = tmp_path / "one.pt"
    torch.jit.save(torch.jit.trace(torch.nn.ReLU(), torch.rand(2, 3)), model)
    outputs = [tmp_path / "one.pnnx.param", tmp_path / "one_pnnx.py"]
    assert "pass_level5" in convert(model, ["fp16=0"], outputs, LIMIT)
    assert all(path.is_file() for path in outputs)


def test_a_file_that_is_no_model_is_told_with_the_last_words(tmp_path):
    model = tmp_path / "no.pt"
    model.write_text("nothing")
    with pytest.raises(PnnxError) as error:
        convert(model, [], [tmp_path / "no.pnnx.param"], LIMIT)
    assert str(error.value).startswith("pnnx ")
    assert "no.pnnx.param" in str(error.value)


def test_what_was_not_written_is_told(tmp_path, script):
    script("echo converting $1")
    with pytest.raises(PnnxError) as error:
        convert(tmp_path / "a.pt", [], [tmp_path / "a.param", tmp_path / "a.bin"], LIMIT)
    assert str(error.value) == "pnnx wrote no a.param, a.bin\nconverting a.pt"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("echo words; exit 7", "pnnx ended with exit status 7\nwords"),
        ("echo words >&2; kill -SEGV $$", "pnnx was ended by SIGSEGV\nwords"),
    ],
)
def test_a_bad_end_is_told(tmp_path, script, text, says):
    script(text)
    with pytest.raises(PnnxError) as error:
        convert(tmp_path / "a.pt", [], [], LIMIT)
    assert str(error.value) == says


def test_a_program_that_hangs_is_killed_at_the_limit(tmp_path, script):
    script("echo waiting; exec sleep 60")
    since = time.monotonic()
    with pytest.raises(PnnxError, match=r"pnnx took more than 0\.2 s\nwaiting"):
        convert(tmp_path / "a.pt", [], [], 0.2)
    assert time.monotonic() - since < 10


def test_only_the_last_lines_are_kept_and_no_addresses(tmp_path, script):
    script("seq 1000; echo 'frame #0: pnnx() [0x37f69bd]'; exit 1")
    with pytest.raises(PnnxError) as error:
        convert(tmp_path / "a.pt", [], [], LIMIT)
    lines = str(error.value).splitlines()
    assert lines[1:] == [str(number) for number in range(1001 - pnnx_program.TAIL, 1001)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_the_program_ends_with_whoever_runs_it(tmp_path):
    """The parent is killed so that it can do nothing about it."""
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\necho $$ > pid\nexec sleep 60\n")
    script.chmod(0o755)
    code = (
        "import pathlib, sys; from suites import pnnx_program as p; "
        "folder = pathlib.Path(sys.argv[1]); "
        "p.program = lambda: folder / 'script'; p.convert(folder / 'a.pt', [], [], 60.0)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    pid = int(_awaited(lambda: (tmp_path / "pid").read_text()))
    parent.send_signal(signal.SIGKILL)
    parent.wait(timeout=10)
    assert _awaited(lambda: not _runs(pid))


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().split()[2] != "Z"
    except FileNotFoundError:
        return False


def _awaited(found, limit=20.0):
    """What a probe finds, once it finds something."""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        try:
            value = found()
        except FileNotFoundError:
            value = None
        if value:
            return value
        time.sleep(0.02)
    raise TimeoutError(f"nothing within {limit} s")
