"""Samples that misuse the process they run in, as crashing operators and careless models do."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import torch
from torch import nn

from suites.case import case
from suites.selfcheck.samples import recorded
from suites.system import system

FAULT = "PNNX_PARITY_FAULT"
"""An environment variable: `always`, or a file that is made at the first fault, to have but one."""


@case(inputs=[(2, 3)])
class selfcheck_crash(nn.Module):
    def forward(self, x):
        if recorded():
            print("about to crash", flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)
        return x + 1


@case(inputs=[(2, 3)], limit=1.5)
class selfcheck_hang(nn.Module):
    """Hangs in a program that it started."""

    def forward(self, x):
        subprocess.run([sys.executable, "-c", "import time; time.sleep(3600)"], check=True)
        return x + 1


@case(inputs=[(2, 3)])
class selfcheck_orphan(nn.Module):
    """Leaves a program behind, which holds its output open."""

    def forward(self, x):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        return x + 1


@case(inputs=[(2, 3)])
class selfcheck_exit(nn.Module):
    def forward(self, x):
        os._exit(0)


@case(inputs=[(2, 3)])
class selfcheck_noise(nn.Module):
    """Prints more than a pipe holds, to every descriptor that it inherited."""

    def forward(self, x):
        for descriptor in (1, 2):
            for _ in range(64):
                os.write(descriptor, b"noise\n" * 4096)
        return x + 1


@case(inputs=[(2, 3)])
class selfcheck_closed(nn.Module):
    """Closes what it did not open: its result can reach nobody."""

    def forward(self, x):
        os.closerange(3, 256)
        return x + 1


@case(inputs=[(2, 3)])
class selfcheck_long(nn.Module):
    """Fails with a text longer than a pipe holds."""

    def forward(self, x):
        raise ValueError("long " * 100_000)


@case(inputs=[(2, 3)], limit=20.0)
class selfcheck_threads(nn.Module):
    """Uses native threads in each way that hangs where the parent has used them before the fork."""

    def forward(self, x):
        if not recorded():
            with torch.enable_grad():
                weight = torch.rand(512, 512, requires_grad=True)
                (weight @ weight).sum().backward()
            torch.fft.fft2(torch.rand(512, 512))
        return x + 1


@case(inputs=[(2, 3)])
class selfcheck_fault(nn.Module):
    """Kills its runner, where the environment asks for that."""

    def forward(self, x):
        fault = os.environ.get(FAULT)
        if fault and (fault == "always" or not Path(fault).exists()):
            if fault != "always":
                Path(fault).touch()
            system.kill(os.getppid())
            time.sleep(3600)
        return x + 1
