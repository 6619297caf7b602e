"""The sessions: nightly goes on past what cannot be built, and leaves nothing of its own."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import nox
import pytest
from nox.command import CommandFailed
from packaging.specifiers import SpecifierSet

from orchestrator.cells import ROOT, Cell, load_cells


@pytest.fixture(scope="module")
def noxfile() -> ModuleType:
    spec = importlib.util.spec_from_file_location("noxfile", ROOT / "noxfile.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Session:
    """Records what a session would run. A build makes the environment, a run its folder."""

    def __init__(
        self, root: Path, words: list[str], broken: str = "", *, red: bool = False
    ) -> None:
        self.root, self.posargs, self.broken, self.red = root, words, broken, red
        self.commands: list[list[str]] = []
        self.warnings: list[str] = []
        self.environments: list[set[str]] = []
        self.cache_dir = root / ".nox" / ".cache"

    def run(self, *words: object, **options: object) -> None:
        command = list(map(str, words))
        self.commands.append(command[1:])
        if "nox" in command:
            name = command[-1].removeprefix("env(").removesuffix(")")
            if name == self.broken:
                raise CommandFailed
            (self.root / ".nox" / f"env-{name}").mkdir(parents=True, exist_ok=True)
            return
        self.environments.append({path.name for path in (self.root / ".nox").iterdir()})
        if self.red:
            raise CommandFailed
        if "--output" in command:
            folder = self.root / command[command.index("--output") + 1]
            folder.mkdir(parents=True)
            (folder / "run.json").write_text(json.dumps({}))

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def error(self, text: str) -> None:
        raise nox.sessions._SessionQuit(text)


@pytest.fixture
def cells(tmp_path: Path, noxfile: ModuleType, monkeypatch: pytest.MonkeyPatch) -> dict[str, Cell]:
    """Two environments; three cells, of which two share one."""
    main = load_cells()["torch213-tf5"]
    made = {
        name: replace(main, name=name, base=base, file=tmp_path / f"{name}.toml")
        for name, base in (("a", ""), ("b", ""), ("of_a", "a"))
    }
    monkeypatch.setattr(noxfile, "CELLS", made)
    monkeypatch.setattr(noxfile, "ROOT", tmp_path)
    monkeypatch.setattr(
        Cell, "home", lambda self, root=tmp_path: root / ".nox" / f"env-{self.environment}"
    )
    return made


def night(noxfile: ModuleType, session: Session) -> list[list[str]]:
    noxfile.nightly.func(session)
    return session.commands


def planned(run: list[str]) -> list[str]:
    """The words that select trials."""
    return run[3 : run.index("--output")]


def folder_of(run: list[str]) -> str:
    return run[run.index("--output") + 1]


def test_a_night(tmp_path: Path, noxfile: ModuleType, cells: dict[str, Cell]) -> None:
    build_a, build_b, run = night(noxfile, Session(tmp_path, ["--suite", "models"]))
    assert build_a[-1] == "env(a)"
    assert build_b[-1] == "env(b)"
    words = ["--every-cell", "--cell=a", "--cell=b", "--cell=of_a", "--suite", "models"]
    assert planned(run) == words
    assert folder_of(run).startswith("results/nightly-")


def test_one_environment_at_a_time(
    tmp_path: Path, noxfile: ModuleType, cells: dict[str, Cell]
) -> None:
    session = Session(tmp_path, ["--low-disk", "--limit", "30", "--workers=1"])
    _, run, _, resumed = night(noxfile, session)
    assert resumed[2:5] == ["run", "--resume", folder_of(run)]
    assert run[-3:] == resumed[-3:] == ["--keep-going", "--workers=1", "--limit=30"]
    assert session.environments == [{"env-a"}, {"env-b"}]
    assert not any((tmp_path / ".nox").iterdir())


def test_what_was_there_before_stays(
    tmp_path: Path, noxfile: ModuleType, cells: dict[str, Cell]
) -> None:
    (tmp_path / ".nox" / "env-a").mkdir(parents=True)
    night(noxfile, Session(tmp_path, ["--low-disk"]))
    assert [path.name for path in (tmp_path / ".nox").iterdir()] == ["env-a"]


def test_a_cell_that_cannot_be_built_is_left_to_the_run(
    tmp_path: Path, noxfile: ModuleType, cells: dict[str, Cell]
) -> None:
    *_, run = night(noxfile, Session(tmp_path, ["--cell", "a", "--cell", "b"], broken="a"))
    assert planned(run) == ["--every-cell", "--cell=a", "--cell=b"]


def test_a_cell_without_a_python_is_left_out(
    tmp_path: Path, noxfile: ModuleType, cells: dict[str, Cell]
) -> None:
    cells["b"] = replace(cells["b"], python=SpecifierSet("==3.99.*"))
    session = Session(tmp_path, [])
    *_, run = night(noxfile, session)
    assert planned(run) == ["--every-cell", "--cell=a", "--cell=of_a"]
    (warning,) = session.warnings
    assert warning.startswith("cell b is left out: this machine has no Python ==3.99.*")
    with pytest.raises(nox.sessions._SessionQuit, match="no cell is left"):
        night(noxfile, Session(tmp_path, ["--cell", "b"]))


def test_a_cell_that_there_is_not(
    tmp_path: Path, noxfile: ModuleType, cells: dict[str, Cell]
) -> None:
    with pytest.raises(nox.sessions._SessionQuit, match="unknown cell 'c'; there are: a, b, of_a"):
        night(noxfile, Session(tmp_path, ["--cell", "c"]))


def test_a_bad_night_leaves_no_environment_either(
    tmp_path: Path, noxfile: ModuleType, cells: dict[str, Cell]
) -> None:
    session = Session(tmp_path, ["--low-disk", "--cell", "b"], red=True)
    with pytest.raises(CommandFailed):
        night(noxfile, session)
    assert not any((tmp_path / ".nox").iterdir())


def test_one_cells_folder_bears_its_name(
    tmp_path: Path, noxfile: ModuleType, cells: dict[str, Cell]
) -> None:
    *_, run = night(noxfile, Session(tmp_path, ["--cell", "b"]))
    assert folder_of(run).endswith("-b")


def test_every_cell_has_a_session(noxfile: ModuleType) -> None:
    own = {cell.session for cell in load_cells().values()}
    assert own <= set(nox.registry.get())
    assert sys.modules.get("noxfile") is None


@pytest.mark.parametrize("file", sorted((ROOT / ".github" / "workflows").glob("*.yml")))
def test_workflows_run_sessions_that_there_are(noxfile: ModuleType, file: Path) -> None:
    said = re.findall(r"nox -s ([a-z0-9_ ]+)", file.read_text())
    sessions = {name for words in said for name in words.split()}
    assert sessions
    assert sessions <= set(nox.registry.get())


@pytest.mark.parametrize("file", sorted((ROOT / ".github" / "workflows").glob("*.yml")))
def test_cached_environments_belong_to_one_exact_python(file: Path) -> None:
    """An environment links to the Python that made it: 3.11.8 is gone where 3.11.9 has come."""
    keys = re.findall(r"key: (.*)", file.read_text())
    assert keys
    for key in keys:
        assert "steps.python.outputs.python-version" in key
        assert re.search(r"hashFiles\(.*envs/.*\.toml.*, 'pyproject.toml'\)", key)
