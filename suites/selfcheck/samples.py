"""One sample for each way in which a trial can end; tests/orchestrator/test_selfcheck.py has all.

Most are wrong by computing another thing while they are exported or traced than in eager mode.
"""

import torch
from torch import nn

from suites.case import Missing, case


def recorded() -> bool:
    """Whether torch.export or torch.jit.trace is recording the forward."""
    return torch.compiler.is_exporting() or torch.jit.is_tracing()


@case(inputs=[(2, 3)])
class selfcheck_right(nn.Module):
    def forward(self, x):
        return x * 2 + 1


@case(inputs=[(2, 3)])
class selfcheck_values(nn.Module):
    def forward(self, x):
        return x * 2 if recorded() else x * 3


@case(inputs=[(2, 3)])
class selfcheck_shape(nn.Module):
    def forward(self, x):
        return x.flatten() if recorded() else x * 1


@case(inputs=[(2, 3)])
class selfcheck_dtype(nn.Module):
    def forward(self, x):
        return x.double() if recorded() else x * 1


@case(inputs=[(2, 3)])
class selfcheck_structure(nn.Module):
    def forward(self, x):
        return (x + 1, x + 2) if recorded() else x + 1


@case(inputs=[(2, 3)])
class selfcheck_nan(nn.Module):
    def forward(self, x):
        return torch.log(x - 2) if recorded() else x - 2


@case(inputs=[(2, 3)])
class selfcheck_exception(nn.Module):
    def forward(self, x):
        if recorded():
            raise RuntimeError("raised on purpose")
        return x + 1


@case(inputs=[(2, 3)])
class selfcheck_refused(nn.Module):
    """torch.export refuses the branch; a trace records the side that its inputs take."""

    def forward(self, x):
        if x.sum() > 0:
            return x + 1
        return x - 1


@case(inputs=[(2, 3)])
class selfcheck_skip(nn.Module):
    def __init__(self):
        super().__init__()
        raise Missing("needs what no environment has")


@case(inputs=[(2, 3)])
class selfcheck_stale(nn.Module):
    """Passes, though the table says that it fails."""

    def forward(self, x):
        return x + 3


@case(inputs=[(2, 3)])
class selfcheck_reworded(nn.Module):
    """Fails as the table says, but in other words."""

    def forward(self, x):
        if recorded():
            raise RuntimeError("the new words")
        return x + 4
