"""Start a local Ray, or join a cluster."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Iterator
from typing import NamedTuple

from orchestrator.cluster.ship import shipment
from orchestrator.errors import UsageError

OBJECT_STORE = 80 << 20
"""Bytes of a local Ray's object store: orders and results are small."""


class Capacity(NamedTuple):
    """How many slots there can be of each kind."""

    cpus: int
    gpus: int


@contextlib.contextmanager
def connected(address: str | None, workers: int | None) -> Iterator[Capacity]:
    """Be connected to the cluster at `address`, or to a local Ray of as many CPUs as `workers`.

    Raises UsageError where there is no such cluster.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray  # half a second: only a run needs it

    logging.getLogger("ray").setLevel(logging.ERROR)
    quiet = {"logging_level": "ERROR", "log_to_driver": False, "configure_logging": False}
    if address is None:
        ray.init(
            # Without this, Ray joins a cluster that happens to run on this machine.
            address="local",
            num_cpus=workers or own_cpus(),
            object_store_memory=OBJECT_STORE,
            include_dashboard=False,
            # A slot's runner ends well by itself; killed, it would leave its trial's programs.
            _system_config={"kill_child_processes_on_worker_exit": False},
            **quiet,
        )
    else:
        try:
            _check_reachable(address)
            with shipment() as code:
                ray.init(address=address, runtime_env={"working_dir": str(code)}, **quiet)
        except (OSError, RuntimeError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise UsageError(f"no Ray cluster at {address!r}: {reason}; check --address") from None
    try:
        resources = ray.cluster_resources()
        cpus, gpus = int(resources.get("CPU", 0)), int(resources.get("GPU", 0))
        yield Capacity(workers or cpus, gpus)
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise OSError where nothing listens: Ray would try for minutes, deaf to Ctrl-C."""
    host, colon, port = address.rpartition(":")
    if address == "auto":
        return
    if not colon or not port.isdecimal() or "/" in host:
        raise ValueError("an address is HOST:PORT of the cluster's head, or auto")
    socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def own_cpus() -> int:
    """The CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
