"""Modules that take input without a batch."""

from __future__ import annotations

import pytest
from graphs import assert_becomes, assert_stays, graph

from converter.passes.unbatched import Unbatched

GRU = "nn.GRU gru 1 1 a b batch_first={}"


def recurrent(batch_first: bool, dim: int) -> str:
    wide = "(1,4,8)" if dim == 0 else "(4,1,8)"
    return f"""
    pnnx.Input in 0 1 x #x=(4,8)f32
    torch.unsqueeze u 1 1 x a dim={dim} #x=(4,8)f32 #a={wide}f32
    {GRU.format(batch_first)} #a={wide}f32 #b={wide}f32
    torch.squeeze s 1 1 b y dim={dim} #b={wide}f32 #y=(4,8)f32
    pnnx.Output out 1 0 y #y=(4,8)f32
    """


@pytest.mark.parametrize(("batch_first", "dim"), [(True, 0), (False, 1)])
def test_the_batch_dim_of_a_recurrent_layer_goes(batch_first, dim):
    assert_becomes(
        Unbatched(),
        graph(recurrent(batch_first, dim)),
        f"""
        pnnx.Input in 0 1 x #x=(4,8)f32
        nn.GRU gru 1 1 x y batch_first={batch_first} #x=(4,8)f32 #y=(4,8)f32
        pnnx.Output out 1 0 y #y=(4,8)f32
        """,
    )


@pytest.mark.parametrize(("batch_first", "dim"), [(True, 1), (False, 0)])
def test_another_dim_stays(batch_first, dim):
    assert_stays(Unbatched(), recurrent(batch_first, dim))


def lstm(states: str, outputs: str) -> str:
    return f"""
    pnnx.Input in 0 1 x #x=(4,8)f32
    pnnx.Input in1 0 1 h #h=(2,8)f32
    torch.unsqueeze u 1 1 x a dim=0 #x=(4,8)f32 #a=(1,4,8)f32
    torch.unsqueeze v 1 1 h g dim=1 #h=(2,8)f32 #g=(2,1,8)f32
    nn.LSTM lstm 3 3 a {states} b c d batch_first=True #b=(1,4,8)f32 #c=(2,1,8)f32 #d=(2,1,8)f32
    torch.squeeze s 1 1 b y dim=0 #b=(1,4,8)f32 #y=(4,8)f32
    torch.squeeze t 1 1 c p dim=1 #c=(2,1,8)f32 #p=(2,8)f32
    torch.squeeze w 1 1 d q dim=-2 #d=(2,1,8)f32 #q=(2,8)f32
    pnnx.Output out {outputs}
    """


def test_states_have_their_batch_in_the_middle():
    assert_becomes(
        Unbatched(),
        graph(lstm("g g", "3 0 y p q")),
        """
        pnnx.Input in 0 1 x #x=(4,8)f32
        pnnx.Input in1 0 1 h #h=(2,8)f32
        nn.LSTM lstm 3 3 x h h b c d batch_first=True #b=(4,8)f32 #c=(2,8)f32 #d=(2,8)f32
        pnnx.Output out 3 0 b c d
        """,
    )


@pytest.mark.parametrize(
    ("states", "outputs"), [("h h", "3 0 y p q"), ("g g", "3 0 b p q"), ("g g", "4 0 y p q c")]
)
def test_all_of_them_or_none(states, outputs):
    assert_stays(Unbatched(), lstm(states, outputs))


def test_an_instance_norm_adds_its_batch_in_front():
    norm = "nn.InstanceNorm1d norm 1 1 {} num_features=4"
    assert_becomes(
        Unbatched(),
        graph(
            f"""
            pnnx.Input in 0 1 x #x=(4,8)f32
            torch.unsqueeze u 1 1 x a dim=0 #x=(4,8)f32 #a=(1,4,8)f32
            {norm.format("a b")} #a=(1,4,8)f32 #b=(1,4,8)f32
            torch.squeeze s 1 1 b y dim=0 #b=(1,4,8)f32 #y=(4,8)f32
            pnnx.Output out 1 0 y #y=(4,8)f32
            """
        ),
        f"""
        pnnx.Input in 0 1 x #x=(4,8)f32
        {norm.format("x y")} #x=(4,8)f32 #y=(4,8)f32
        pnnx.Output out 1 0 y #y=(4,8)f32
        """,
    )
