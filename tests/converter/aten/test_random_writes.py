"""Random programs of views and writes: after each write, every tensor holds what eager says."""

from __future__ import annotations

import torch
from equality import AS_EXPORTED, check
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

VIEWS = (
    "{0}[0]",
    "{0}[-1]",
    "{0}[..., 1:]",
    "{0}[::2]",
    "{0}.transpose(0, -1)",
    "{0}.unsqueeze(0)",
    "{0}.flatten()",
    "{0}.reshape(-1, 2)",
    "{0}.view({0}.shape)",
    "{0}.permute(*reversed(range({0}.dim())))",
    "{0}.narrow(-1, 0, 1)",
    "{0}.chunk(2, -1)[-1]",
    "{0}.unbind(0)[-1]",
    "{0}.contiguous()",
    "{0}.detach()",
    "{0}.double().float()",
    "{0}.clone()",
    "{0} * 2",
)
WRITES = (
    "{0}.add_(1)",
    "{0}.mul_({0})",
    "{0}.fill_(3)",
    "{0}.zero_()",
    "{0}[0].neg_()",
    "{0}.copy_({0} + 0.5)",
    "{0}.clamp_(max=2)",
    "{0}.relu_()",
    "{0}[..., 0].add_(2)",
    "{0}.masked_fill_({0} > 1, -1)",
    "{0}.unsqueeze_(0)",
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A list expression: names for views and writes of earlier names, then all of them."""
    lines, names = ["v0 := x + 0"], ["v0"]
    for step in range(1, draw(st.integers(3, 9))):
        source = draw(st.sampled_from(names))
        template = draw(st.sampled_from(VIEWS + WRITES))
        lines.append(f"v{step} := {template.format(source)}")
        names.append(f"v{step}")
    return f"[{', '.join(lines)}, {', '.join(f'{name} + 0' for name in names)}]"


def runs(program: str, x: torch.Tensor) -> bool:
    """Whether eager accepts it: not every view fits every shape."""
    try:
        eval(program, {"torch": torch, "x": x})
    except (RuntimeError, IndexError, ValueError):
        return False
    return True


@settings(
    max_examples=12,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(st.lists(programs(), min_size=4, max_size=8))
def test_random_writes(candidates: list[str]) -> None:
    x = torch.arange(12.0).reshape(2, 3, 2) - 5
    accepted = [program for program in candidates if runs(program, x)]
    if accepted:
        check(*accepted, x=x, how=AS_EXPORTED)
