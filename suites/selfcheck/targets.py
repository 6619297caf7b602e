"""Samples with two targets, of which one conversion makes the files."""

import os
import signal
import sys
import time

from torch import nn

from suites.case import case
from suites.selfcheck.samples import recorded


@case(inputs=[(2, 3)], targets=("pnnx", "ncnn"))
class selfcheck_both(nn.Module):
    def forward(self, x):
        return x * 2 + 1


@case(inputs=[(2, 3)], ncnn_inputs=[(3,)])
class selfcheck_slow(nn.Module):
    """Takes a second and a half for each target, which has inputs of its own."""

    def forward(self, x):
        if not recorded():
            time.sleep(1.5)
        return x * 2 + 1


@case(inputs=[(2, 3)], targets=("pnnx", "ncnn"))
class selfcheck_late(nn.Module):
    """Crashes where ncnn's module is loaded: what came of the other target before that counts."""

    def forward(self, x):
        sys.addaudithook(crash_at_ncnn)
        return x * 2 + 1


def crash_at_ncnn(event, arguments):
    name = "selfcheck_late_ncnn.py"
    if event == "open" and arguments[1] == "r" and str(arguments[0]).endswith(name):
        os.kill(os.getpid(), signal.SIGSEGV)
