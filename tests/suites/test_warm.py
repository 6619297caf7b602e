"""What a warmed process has done, and what it must not have done before it forks."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys, threading
from suites.warm import warm
warm()
import torch
assert torch.get_num_threads() == 1
assert not torch.cuda.is_initialized()
assert threading.active_count() == 1
imported = {"suites.execute", "converter.pnnx.python", "converter.ncnn", "torch.export"}
assert imported <= set(sys.modules), imported - set(sys.modules)
"""


def test_a_warmed_process_is_ready_to_fork():
    subprocess.run([sys.executable, "-c", CODE], check=True, timeout=120)
