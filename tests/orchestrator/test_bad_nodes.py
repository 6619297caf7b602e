"""One bad node never ends the others: it is left out for a cell, and they take over."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
from checkout import TRIAL, Checkout, checkout
from live import TAG, eventually
from ray.cluster_utils import Cluster

from orchestrator import journal
from orchestrator.cells import ROOT, load_cell
from orchestrator.cluster import build


@pytest.fixture
def made() -> Iterator[Checkout]:
    with checkout() as copy:
        yield copy


@pytest.fixture
def cluster(made: Checkout, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A head that does no work; tests add the nodes."""
    monkeypatch.setenv(TAG, made.command.tag)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def has_built(made: Checkout, cells: list[str], cache: Path) -> None:
    """Let a node's cache have the environments: the main cell's, under other names."""
    main = (ROOT / ".nox" / "env-torch213-tf5").resolve()
    for name in cells:
        cell = load_cell(made.root / "envs" / f"{name}.toml")
        wanted = [*cell.pins, *build._requirements()]
        home = cache / "pnnx-parity" / f"{name}-{build._digest(wanted)}"
        (home / "bin").mkdir(parents=True)
        python = home / "bin" / "python"
        python.write_text(f'#!/bin/sh\nexec {main}/bin/python "$@"\n')
        python.chmod(0o755)
        (home / build.COMPLETE).touch()


def outcome(folder: Path) -> dict[str, str]:
    return {result.trial.cell: result.outcome for result in journal.read(folder / journal.NAME)}


def test_a_node_that_cannot_build_a_cell_is_left_out(
    made: Checkout, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only slot is on that node at first; then no node is left that can."""
    made.cell("elsewhere")
    has_built(made, ["elsewhere"], tmp_path / "good")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "bad"))
    cluster.add_node(num_cpus=1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "good"))
    good = cluster.add_node(num_cpus=1)
    folder = tmp_path / "run"
    words = ["run", "--address", cluster.address, "--cell=elsewhere", *TRIAL]
    status, printed = made.command.run(*words, "--workers", "2", "--output", str(folder))
    assert status == 0, printed
    assert outcome(folder) == {"elsewhere": "passed"}

    cluster.remove_node(good)
    folder = tmp_path / "alone"
    status, printed = made.command.run(*words, "--output", str(folder))
    assert status == 2, printed
    assert "cell elsewhere cannot be built on" in printed
    assert not folder.exists()


def test_a_slot_moves_to_a_node_that_can(
    made: Checkout, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two cells and one slot: each node can run but one of them, and one cell cannot be run."""
    cells = [made.cell(name) for name in ("first", "second", "third")]
    for name in cells[:2]:
        has_built(made, [name], tmp_path / name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    for name in cells[:2]:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
        cluster.add_node(num_cpus=1)
    folder = tmp_path / "run"
    words = ["run", "--address", cluster.address, *[f"--cell={name}" for name in cells], *TRIAL]
    status, printed = made.command.run(*words, "--workers", "1", "--output", str(folder))
    assert status == 3, printed
    assert outcome(folder) == {"first": "passed", "second": "passed"}
    (missing,) = json.loads((folder / "report.json").read_text())["missing"]
    assert missing["cell"] == "third"
    assert "cell third cannot be built on" in missing["cause"]
    assert "left out: cell first cannot be built" in printed or "left out: cell second" in printed


def test_a_node_that_dies_while_its_slots_build(
    made: Checkout, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three slots are lost at once, each as it waits for an index that never answers."""
    cells = [made.cell(name) for name in ("first", "second", "third", "fourth")]
    has_built(made, cells, tmp_path / "good")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "bad"))
        bad = cluster.add_node(num_cpus=3)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "good"))
        cluster.add_node(num_cpus=1)
        folder = tmp_path / "run"
        words = ["run", "--address", cluster.address, *[f"--cell={name}" for name in cells]]
        with made.command.start(*words, *TRIAL, "--output", str(folder)) as process:
            building = eventually(lambda: len(made.command.of("pip install --quiet")) >= 3, 120)
            cluster.remove_node(bad, allow_graceful=False)
            printed, _ = process.communicate(timeout=240)
    assert building, printed
    assert process.returncode == 0, printed
    assert outcome(folder) == dict.fromkeys(cells, "passed")
