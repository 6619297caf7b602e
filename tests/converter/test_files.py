"""Outputs appear together or not at all."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from converter.errors import UsageError
from converter.files import Outputs

posix = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has other modes, links, signals, and no locks"
)
NAMES = ("m.param", "m.bin", "m.new", "m.dropped")


def test_files_get_their_names_together(tmp_path: Path) -> None:
    wanted = [tmp_path / "a.param", tmp_path / "b.bin"]
    wanted[0].write_text("old")
    with Outputs(tmp_path / "model.pt2") as outputs:
        for place, path in enumerate(wanted):
            outputs.path(path).write_text(f"new {place}")
        assert wanted[0].read_text() == "old"
        assert not wanted[1].exists()
        assert outputs.commit() == (tuple(wanted), ())
    assert [path.read_text() for path in wanted] == ["new 0", "new 1"]
    assert sorted(os.listdir(tmp_path)) == ["a.param", "b.bin"]


def test_what_is_dropped_takes_the_older_file_along(tmp_path: Path) -> None:
    wanted = [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
    wanted[1].write_text("old")
    with Outputs(tmp_path / "model.pt2") as outputs:
        for path in wanted:
            outputs.path(path).write_text("new")
        outputs.drop(wanted[1])
        outputs.drop(wanted[2])
        assert wanted[1].read_text() == "old"
        assert outputs.commit() == ((wanted[0],), (wanted[1],))
    assert os.listdir(tmp_path) == ["a"]


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "a.param").write_text("old")

    def write(outputs: Outputs) -> None:
        with outputs:
            outputs.path(tmp_path / "a.param").write_text("new")
            outputs.path(tmp_path / "b.bin").write_text("new")
            raise ValueError("halfway")

    with pytest.raises(ValueError, match="halfway"):
        write(Outputs(tmp_path / "model.pt2"))
    assert os.listdir(tmp_path) == ["a.param"]
    assert (tmp_path / "a.param").read_text() == "old"


def write(*wanted: Path, text: str = "new") -> None:
    with Outputs(wanted[0].parent / "model.pt2") as outputs:
        for path in wanted:
            outputs.path(path).write_text(text)
        outputs.commit()


@posix
def test_new_files_have_the_modes_of_any_other_and_old_ones_keep_theirs(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    (tmp_path / "old").touch(0o640)
    os.chmod(tmp_path / "old", 0o750)
    write(tmp_path / "new", tmp_path / "old")
    mode = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in os.listdir(tmp_path)}
    assert mode == {"other": mode["other"], "new": mode["other"], "old": 0o750}


@posix
def test_links_are_followed(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "there").write_text("old")
    for name in ("there", "not_yet"):
        (tmp_path / name).symlink_to(Path("folder") / name)
    write(tmp_path / "there", tmp_path / "not_yet")
    assert (tmp_path / "there").is_symlink()
    assert (tmp_path / "not_yet").is_symlink()
    assert [(folder / name).read_text() for name in ("there", "not_yet")] == ["new", "new"]
    assert sorted(os.listdir(folder)) == ["not_yet", "there"]


def special(kind: str, path: Path) -> Path:
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "socket":
            socket.socket(socket.AF_UNIX).bind(str(path))
        case "device":
            path.symlink_to("/dev/null")
        case "the model itself":
            os.link(path.with_name("model.pt2"), path)
        case "symbolic links":
            path.symlink_to(path.name)
    return path


@posix
@pytest.mark.parametrize(
    "kind", ["folder", "pipe", "socket", "device", "the model itself", "symbolic links"]
)
def test_what_is_no_file_is_refused_by_name(kind: str, tmp_path: Path) -> None:
    (tmp_path / "model.pt2").touch()
    path = special(kind, tmp_path / "out")
    before = path.lstat()
    with pytest.raises(UsageError, match=rf"cannot write .*out: .*{kind}"):
        write(path)
    assert path.lstat() == before
    assert sorted(os.listdir(tmp_path)) == ["model.pt2", "out"]


def test_a_folder_that_refuses_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write .*missing"):
        write(tmp_path / "missing" / "a")
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"cannot write .*file.a: Not a directory"):
        write(tmp_path / "file" / "a")


# --- in processes of their own, stopped where it matters

PROGRAM = """
import os, signal, sys
from pathlib import Path
from converter.files import Outputs
from converter.signals import end_cleanly

place, event, count, action, text = sys.argv[1:]
left = int(count)

def watch(name, arguments):
    global left
    if name != event or left < 0:
        return
    left -= 1
    if left == -1:
        if action == "fail":
            raise OSError(5, "Input/output error")
        if action == "wait":
            print("waiting", flush=True)
            sys.stdin.readline()
        else:
            os.kill(os.getpid(), getattr(signal, action))

end_cleanly()
with Outputs(Path(place, "model.pt2")) as outputs:
    for name in ("m.param", "m.bin", "m.new", "m.dropped"):
        outputs.path(Path(place, name)).write_text(text)
    outputs.drop(Path(place, "m.dropped"))
    sys.addaudithook(watch)
    outputs.commit()
"""
OLD = dict.fromkeys(("m.param", "m.bin", "m.dropped"), "old")
NEW = dict.fromkeys(("m.param", "m.bin", "m.new"), "new")
RENAMES = 6
"""Three old files go aside, three new ones take their names."""


def command(folder: Path, event: str, count: int, action: str, text: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM, str(folder), event, str(count), action, text]


def run(folder: Path, event: str, count: int, action: str) -> subprocess.CompletedProcess[str]:
    for name, text in OLD.items():
        (folder / name).write_text(text)
    return subprocess.run(
        command(folder, event, count, action, "new"), capture_output=True, text=True, timeout=60
    )


def held(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in NAMES if (folder / name).exists()}


@pytest.mark.parametrize("count", range(RENAMES))
def test_a_failure_between_renames_undoes_all(count: int, tmp_path: Path) -> None:
    done = run(tmp_path, "os.rename", count, "fail")
    assert done.returncode == 1
    assert "UsageError: cannot write" in done.stderr
    assert "Input/output error" in done.stderr
    assert held(tmp_path) == OLD
    assert set(os.listdir(tmp_path)) == set(OLD)


@posix
@pytest.mark.parametrize("action", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("count", range(RENAMES))
def test_signals_wait_until_all_have_their_names(count: int, action: str, tmp_path: Path) -> None:
    done = run(tmp_path, "os.rename", count, action)
    status = -signal.SIGINT if action == "SIGINT" else 128 + getattr(signal, action)
    assert done.returncode == status
    assert held(tmp_path) == NEW
    assert set(os.listdir(tmp_path)) == set(NEW)


def refuse(folder: Path) -> None:
    """A conversion that comes to nothing, after another was killed."""
    with Outputs(folder / "model.pt2") as outputs:
        outputs.path(folder / "m.param")


@posix
@pytest.mark.parametrize(
    ("event", "count"),
    [*(("os.rename", at) for at in range(RENAMES)), *(("os.remove", at) for at in range(12))],
)
def test_after_a_kill_nothing_is_mixed_and_the_next_one_puts_it_right(
    event: str, count: int, tmp_path: Path
) -> None:
    done = run(tmp_path, event, count, "SIGKILL")
    assert done.returncode in (-signal.SIGKILL, 0)
    assert len(set(held(tmp_path).values())) <= 1
    refuse(tmp_path)
    assert held(tmp_path) in (OLD, NEW)
    assert set(os.listdir(tmp_path)) == set(held(tmp_path))


@posix
def test_a_living_conversion_is_left_alone_and_the_later_one_wins_whole(tmp_path: Path) -> None:
    """The first one stands still between two renames; the second waits for it, and wins."""
    for name, text in OLD.items():
        (tmp_path / name).write_text(text)
    first = subprocess.Popen(
        command(tmp_path, "os.rename", 4, "wait", "new"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert first.stdin
    assert first.stdout
    assert first.stdout.readline() == "waiting\n"
    second = subprocess.Popen(command(tmp_path, "none", 0, "wait", "newer"))
    first.stdin.write("\n")
    first.stdin.close()
    assert (first.wait(60), second.wait(60)) == (0, 0)
    first.stdout.close()
    assert held(tmp_path) == dict.fromkeys(NEW, "newer")
    assert set(os.listdir(tmp_path)) == set(NEW)


@posix
def test_what_a_living_conversion_writes_is_not_left_over(tmp_path: Path) -> None:
    with Outputs(tmp_path / "model.pt2") as outputs:
        outputs.path(tmp_path / "m.param").write_text("first")
        done = run(tmp_path, "none", 0, "wait")
        assert (done.returncode, held(tmp_path)) == (0, NEW)
        outputs.commit()
    assert held(tmp_path) == {**NEW, "m.param": "first"}
    assert set(os.listdir(tmp_path)) == set(NEW)


@posix
def test_files_that_look_alike_stay(tmp_path: Path) -> None:
    others = [".m.param.swp", ".m.param.0123456789ab", ".pt2pnnx-new", ".m.0123.pt2pnnx-old"]
    for name in others:
        (tmp_path / name).touch()
    (tmp_path / ".m.param.0123456789ab.pt2pnnx-old").symlink_to("elsewhere")
    refuse(tmp_path)
    assert set(os.listdir(tmp_path)) == {*others, ".m.param.0123456789ab.pt2pnnx-old"}


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root can give files to others"
)
def test_leftovers_of_another_user_are_not_put_anywhere(tmp_path: Path) -> None:
    (tmp_path / "m.param").write_text("mine")
    for kind in ("old", "new"):
        planted = tmp_path / f".m.param.0123456789ab.pt2pnnx-{kind}"
        planted.write_text("planted")
        os.chown(planted, 1234, -1)
    refuse(tmp_path)
    assert (tmp_path / "m.param").read_text() == "mine"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write all")
def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").touch(0o444)
    with pytest.raises(UsageError, match="it is read-only"):
        write(tmp_path / "a")
