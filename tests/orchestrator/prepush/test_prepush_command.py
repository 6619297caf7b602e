"""`pnnx-parity prepush` where nothing is to be run, or nothing can be; and a commit's folder."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from repositories import Repository

from orchestrator.cells import ROOT
from orchestrator.cli import main
from orchestrator.prepush import choose
from orchestrator.prepush.tested import checked_out

ZERO = "0" * 40
CELL = 'description = "d"\npython = ">=3.11"\npins = ["torch==2.13.0", "transformers==5.16.1"]\n'
CASE = "@case(inputs=[])\nclass F_relu:\n    pass\n"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path)
    for name, text in (("envs/mine.toml", CELL), ("suites/functional/act.py", CASE)):
        file = made.folder / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
    made.commit()
    monkeypatch.chdir(made.folder)
    monkeypatch.setattr(choose, "ROOT", tmp_path)
    return made


def hook(monkeypatch: pytest.MonkeyPatch, *lines: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    return main(["prepush", "--hook", "origin", "url"])


def test_docs_alone_go_through(
    made: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = made.git("rev-parse", "HEAD")
    commit = made.commit(docs_conf="x")
    assert hook(monkeypatch, f"refs/heads/main {commit} refs/heads/main {before}") == 0
    assert "changes no file that a trial depends on" in capsys.readouterr().out


def test_deleted_branches_go_through(
    made: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = made.git("rev-parse", "HEAD")
    assert hook(monkeypatch, f"(delete) {ZERO} refs/heads/main {commit}") == 0
    assert not capsys.readouterr().out


def test_without_a_cell_the_push_is_blocked_with_the_mend(
    made: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = made.git("rev-parse", "HEAD")
    commit = made.commit(suites_functional_act=CASE + "    x = 1\n")
    assert hook(monkeypatch, f"refs/heads/main {commit} refs/heads/main {before}")
    told = capsys.readouterr().err
    assert "no cell is built" in told
    assert "nox -s 'env(mine)'" in told
    assert "git push --no-verify" in told


def test_without_the_cell_that_a_case_needs_the_mend_is_told(
    made: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = choose.ROOT / ".nox" / "env-mine" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    seeing = CELL.replace("pins = [", 'pins = ["torchvision==0.28.0", ')
    (made.folder / "envs" / "seeing.toml").write_text(seeing)
    before = made.commit()
    case = CASE.replace("inputs=[]", 'inputs=[], needs=("torchvision",)')
    commit = made.commit(suites_functional_act=case)
    assert hook(monkeypatch, f"refs/heads/main {commit} refs/heads/main {before}")
    told = capsys.readouterr().err
    assert "no cell that is built has what F_relu needs; run: nox -s 'env(seeing)'" in told


def test_what_is_wrong_in_the_pushed_files_is_told_by_their_names(
    made: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = made.git("rev-parse", "HEAD")
    (made.folder / "envs" / "mine.toml").write_text("description = 3\n")
    commit = made.commit()
    (made.folder / "envs" / "mine.toml").write_text(CELL)  # what lies about is right
    assert hook(monkeypatch, f"refs/heads/main {commit} refs/heads/main {before}")
    assert "pnnx-parity: envs/mine.toml" in capsys.readouterr().err


def test_outside_a_repository_git_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert main(["prepush"]) == 2
    assert "not a git repository" in capsys.readouterr().err


def test_a_commit_is_checked_out_beside_what_lies_about_and_removed(made: Repository) -> None:
    commit = made.git("rev-parse", "HEAD")
    checkout = made.folder / ".git" / "hooks" / "post-checkout"
    checkout.parent.mkdir(exist_ok=True)
    checkout.write_text("#!/bin/sh\nexit 1\n")
    checkout.chmod(0o755)
    act = Path("suites/functional/act.py")
    act.write_text("other")
    with checked_out(made.git, commit) as tree:
        assert (tree / act).read_text() == CASE
        assert (tree / ".nox").resolve() == (ROOT / ".nox").resolve()
    assert not tree.parent.exists()
    assert (ROOT / ".nox").exists()
    assert act.read_text() == "other"
    assert str(tree) not in made.git("worktree", "list")
