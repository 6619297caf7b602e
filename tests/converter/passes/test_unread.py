"""Operators and results that nobody reads."""

from __future__ import annotations

import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.dead_code import DeadCode
from converter.passes.unread_outputs import UnreadOutputs


def test_dead_operators_go_with_all_that_only_they_read() -> None:
    made = graph(
        """
        pnnx.Input     in  0 1 0
        pnnx.Input     odd 0 1 1
        F.relu         a   1 1 0 2
        F.tanh         b   1 1 2 3
        torch.add      c   2 1 3 1 4
        torch.split    d   1 2 2 5 6
        pnnx.Output    out 1 0 6
        """
    )
    assert DeadCode()(made) == 2
    assert [op.name for op in made.operators] == ["in", "odd", "a", "d", "out"]
    assert DeadCode()(made) == 0


WITH_BY_PRODUCTS = [
    ("F.max_pool2d", "kernel_size=(2,2)", True, 2),
    ("F.adaptive_max_pool1d", "output_size=(2)", True, 2),
    ("torch.max", "dim=1 keepdim=False", False, 2),
    ("nn.LSTM", "input_size=4 hidden_size=4", False, 3),
]


@pytest.mark.parametrize(("type", "params", "has_flag", "results"), WITH_BY_PRODUCTS)
def test_by_products_that_nobody_reads_are_dropped(
    type: str, params: str, has_flag: bool, results: int
) -> None:
    def text(results: int, read: int) -> str:
        flag = f"return_indices={results > 1}" if has_flag else ""
        names = " ".join(str(name) for name in range(1, results + 1))
        return f"""
            pnnx.Input  in 0 1 0
            {type}      op 1 {results} 0 {names} {params} {flag}
            pnnx.Output out 1 0 {read}
        """

    assert_becomes(UnreadOutputs(), graph(text(results, 1)), text(1, 1))
    assert_stays(UnreadOutputs(), text(results, results))


def test_other_operators_keep_their_results() -> None:
    assert_stays(
        UnreadOutputs(),
        """
        pnnx.Input  in 0 1 0
        torch.topk  t  1 2 0 1 2 k=2
        pnnx.Output out 1 0 1
        """,
    )
