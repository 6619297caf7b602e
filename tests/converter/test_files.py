"""Outputs appear whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from converter.errors import UsageError
from converter.files import Outputs


def test_files_get_their_names_together(tmp_path: Path) -> None:
    wanted = [tmp_path / "a.param", tmp_path / "b.bin"]
    wanted[0].write_text("old")
    with Outputs(tmp_path / "model.pt2") as outputs:
        for place, path in enumerate(wanted):
            outputs.path(path).write_text(f"new {place}")
        assert wanted[0].read_text() == "old"
        assert not wanted[1].exists()
        assert outputs.commit() == tuple(wanted)
    assert [path.read_text() for path in wanted] == ["new 0", "new 1"]
    assert sorted(os.listdir(tmp_path)) == ["a.param", "b.bin"]


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


def test_files_have_the_modes_of_any_other(tmp_path: Path) -> None:
    with Outputs(tmp_path / "model.pt2") as outputs:
        outputs.path(tmp_path / "a").write_text("")
        outputs.commit()
    (tmp_path / "b").write_text("")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "ab"}
    assert len(modes) == 1


def test_a_folder_that_refuses_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match=r"cannot write .*missing"),
        Outputs(tmp_path / "model.pt2") as outputs,
    ):
        outputs.path(tmp_path / "missing" / "a")
