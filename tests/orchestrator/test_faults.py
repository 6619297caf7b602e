"""What faults lead to, counted by node, by cell and by trial."""

from __future__ import annotations

import pytest

from orchestrator.cluster.faults import ATTEMPTS, Faults, Node
from suites.trial import Trial

A, B = Node("1", "alpha"), Node("2", "beta")


@pytest.fixture
def faults() -> Faults:
    return Faults()


def test_a_node_that_refuses_is_left_out_for_that_cell_alone(faults: Faults) -> None:
    assert faults.refused("x", A, "no disk on alpha")
    assert not faults.refused("x", A, "no disk, said another slot"), "it is left out already"
    assert faults.is_left_out("x", A)
    assert not faults.is_left_out("y", A)
    assert not faults.is_left_out("x", B)


def test_a_cell_is_lost_where_every_node_is_left_out(faults: Faults) -> None:
    assert faults.cause("x", [A, B]) == ""
    faults.refused("x", A, "no disk on alpha")
    assert faults.cause("x", [A, B]) == ""
    assert faults.cause("x", [A]) == "no disk on alpha", "the other one is gone"
    faults.refused("x", B, "no network on beta")
    assert faults.cause("x", [A, B]) == "no disk on alpha; no network on beta"
    assert faults.cause("x", []) == "", "no node is no node that refused"


def test_losses_at_the_start_are_counted_by_node_and_cell(faults: Faults) -> None:
    for _ in range(ATTEMPTS - 1):
        for cell in ("x", "y"):
            for node in (A, B):
                assert not faults.lost(cell, node, "its slot was lost")
    assert faults.lost("x", A, "its slot was lost")
    assert faults.cause("x", [A]) == f"its slot was lost, {ATTEMPTS} times"
    assert not any(faults.is_left_out(*place) for place in (("x", B), ("y", A), ("y", B)))


def test_a_start_that_succeeds_ends_the_count(faults: Faults) -> None:
    for _ in range(4):
        assert not faults.lost("x", A, "its slot was lost")
        faults.started("x", A)


def test_a_runner_that_fails_where_others_started_is_tried_again(faults: Faults) -> None:
    faults.started("x", A)
    for _ in range(ATTEMPTS - 1):
        assert not faults.refused("x", A, "killed by SIGKILL")
    assert faults.refused("x", A, "killed by SIGKILL")


def test_a_start_after_a_refusal_takes_the_node_in_again(faults: Faults) -> None:
    faults.refused("x", A, "killed by SIGKILL")
    faults.started("x", A)
    assert not faults.is_left_out("x", A)
    assert not faults.any_left_out


def test_a_trial_is_given_up_after_its_last_attempt(faults: Faults) -> None:
    trial, other = (Trial(case, "x", "ts", "pnnx") for case in ("a", "b"))
    assert [faults.again(trial) for _ in range(ATTEMPTS)] == [True] * (ATTEMPTS - 1) + [False]
    assert faults.again(other)
    assert (faults.attempts(trial), faults.attempts(other)) == (ATTEMPTS, 1)
