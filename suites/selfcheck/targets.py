"""Samples with two targets, of which one conversion makes the files."""

import os
import signal
import sys

from torch import nn

from suites.case import case


@case(inputs=[(2, 3)], targets=("pnnx", "ncnn"))
class selfcheck_both(nn.Module):
    def forward(self, x):
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
