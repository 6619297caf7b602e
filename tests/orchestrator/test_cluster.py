"""Clusters: joined, short of GPUs, and with nodes that are lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
from live import CELL, TAG, Command, eventually
from ray.cluster_utils import Cluster

from orchestrator import journal
from suites.trial import Result


@pytest.fixture
def command() -> Iterator[Command]:
    with Command() as made:
        yield made


@pytest.fixture
def cluster(command: Command, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A head that does no work, and two nodes of one CPU each, all on this machine."""
    monkeypatch.setenv(TAG, command.tag)
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(2):
        made.add_node(num_cpus=1)
    yield made
    ray.shutdown()
    made.shutdown()


def parent(process: int) -> int:
    text = Path(f"/proc/{process}/stat").read_text()
    return int(text.rpartition(")")[2].split()[1])


def results(folder: Path) -> dict[str, Result]:
    return {result.trial.case: result for result in journal.read(folder / journal.NAME)}


def test_trials_of_a_lost_node_go_to_another(
    command: Command, cluster: Cluster, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    words = ["run", "--address", cluster.address, "--cell", CELL, "--output", str(folder)]
    words += ["--suite", "selfcheck", "-k", "dtype or hang", "--frontend", "ts", "--limit", "15"]
    with command.start(*words) as process:
        assert eventually(lambda: command.of("time.sleep"), 120)
        runner = min(command.of("orchestrator.runner"))
        raylet = parent(parent(runner))
        lost = next(node for node in cluster.worker_nodes if raylet_of(node) == raylet)
        cluster.remove_node(lost, allow_graceful=False)
        assert eventually(lambda: runner not in command.processes(), 10)
        printed, _ = process.communicate(timeout=120)
    assert process.returncode == 1, printed
    found = results(folder)
    assert (found["selfcheck_dtype"].outcome, found["selfcheck_dtype"].attempts) == ("failed", 1)
    assert (found["selfcheck_hang"].outcome, found["selfcheck_hang"].attempts) == ("timed_out", 2)
    assert not command.of("orchestrator.runner")


def raylet_of(node: object) -> int:
    processes = node.all_processes  # type: ignore[attr-defined]
    return int(processes["raylet"][0].process.pid)


@pytest.mark.skipif(os.path.exists("/dev/nvidia0"), reason="this machine has a GPU")
def test_without_a_gpu_its_trials_are_skipped(command: Command, tmp_path: Path) -> None:
    """They are in the journal, and unexpected: nothing is dropped."""
    folder = tmp_path / "run"
    words = ["run", "--cell", CELL, "-k", "F_relu6", "--device", "cuda", "--frontend", "pt2"]
    words += ["--target", "pnnx"]
    status, printed = command.run(*words, "--output", str(folder))
    assert status == 1, printed
    assert results(folder)["F_relu6"].outcome == "skipped"
    assert results(folder)["F_relu6"].diagnostic == "needs a CUDA device, and no worker has one"
    assert "1 unexpected" in printed
