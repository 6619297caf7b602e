"""A run without an address starts a Ray of its own, whatever else runs on the machine."""

from __future__ import annotations

import tempfile
from pathlib import Path

from live import CELL, Command


def test_another_cluster_on_the_machine_is_left_alone(tmp_path: Path) -> None:
    """`ray start` leaves the cluster's address in this file, where `ray.init()` looks for one."""
    with tempfile.TemporaryDirectory(dir="/tmp") as short, Command() as command:
        folder = Path(short, "ray")  # sockets lie here: their paths must be short
        folder.mkdir()
        (folder / "ray_current_cluster").write_text("127.0.0.1:1")
        words = ["run", "--cell", CELL, "-k", "F_relu6", "--frontend", "pt2", "--target", "pnnx"]
        status, printed = command.run(*words, "--output", str(tmp_path / "run"), RAY_TMPDIR=short)
    assert status == 0, printed
