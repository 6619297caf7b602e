"""Comparisons, masks and integers compute what eager does, or are refused."""

from pathlib import Path
from typing import Any

import pytest
import torch
from ncnn_runs import Calls, check, graph_of

from converter.errors import UnsupportedError
from converter.ncnn import lower

nn, F = torch.nn, torch.nn.functional

INF = float("inf")
LOGIC = [
    lambda x, y: x > y,
    lambda x, y: (x > 0.5) & (y <= 0.2),
    lambda x, y: ~(x >= y) | (x != y),
    lambda x, y: torch.logical_not(x > y) ^ (x < y),
    lambda x, y: (x == y).float(),
    lambda x, y: (x > y).float() + x.bool().float(),
    lambda x, y: x * (y > 0),
    lambda x, y: (x * 3).to(torch.int64).float(),
    lambda x, y: torch.where(x > 0.5, x, y),
    lambda x, y: torch.where(x > 0.5, x, 2.0),
    lambda x, y: torch.where(x > y, 3.0, y),
    lambda x, y: torch.where(x > y, x, -INF),
    lambda x, y: torch.where(x > y, INF, x),
    lambda x, y: x.masked_fill(y == 0, -1e9),
    lambda x, y: x.masked_fill(y > 0, -INF),
    lambda x, y: x.masked_fill(y > 0, INF),
    lambda x, y: F.softmax(x.masked_fill((y > 0)[:, :1], torch.finfo(torch.float32).min), -1),
    lambda x, y: (x > y)[:, 1:].expand(2, 2, 4),
]


def test_logic(tmp_path: Path) -> None:
    torch.manual_seed(0)
    x, y = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    x[0, 0], y[0, 0, :2] = y[0, 0], 0
    check(Calls(*LOGIC), x, y, folder=tmp_path)


def test_comparisons_at_infinity(tmp_path: Path) -> None:
    x = torch.tensor([INF, -INF, 1.0, INF, -INF])
    y = torch.tensor([INF, INF, INF, 0.0, -INF])
    check(Calls(*LOGIC[:5]), x, y, folder=tmp_path)


def test_triangles() -> None:
    net = lower(
        graph_of("""
pnnx.Input       in  0 1 0 #0=(2,3,4)f32
torch.triu       a   1 1 0 1 diagonal=1 #1=(2,3,4)f32
pnnx.Output      out 1 0 1
""")
    )
    low, high = (layer.attrs["data"].array()[0] for layer in net.layers.of_type("MemoryData"))
    assert low.tolist() == [[0, INF, INF, INF], [0, 0, INF, INF], [0, 0, 0, INF]]
    assert (low == -high).all()


def test_masks_of_attention(tmp_path: Path) -> None:
    torch.manual_seed(0)
    calls = [
        lambda q, k, m: F.scaled_dot_product_attention(q, k, k, m > 0),
        lambda q, k, m: F.scaled_dot_product_attention(q, k, k, (m > 0)[:, :1, :1]),
        lambda q, k, m: F.scaled_dot_product_attention(q, k, k, torch.ones(4, 5).tril().bool()),
    ]
    mask = torch.randn(2, 3, 4, 5)
    mask[..., 0] = 1
    inputs = [torch.randn(2, 3, 4, 8), torch.randn(2, 3, 5, 8), mask]
    check(Calls(*calls), *inputs, folder=tmp_path)


class Positions(nn.Module):
    """Integers that are read as an index, and others that are converted."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 4)

    def forward(self, index: Any, number: Any) -> Any:
        rows = self.table(index.reshape(6)[1:])
        return rows, number[:, :2].float() * 0.5, index[:, :1], number.bool()


def test_integers(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = check(Positions(), torch.randint(10, (2, 3)), torch.randint(10, (2, 3)), folder=tmp_path)
    assert [port.indices for port in net.inputs] == [True, False]
    assert [port.indices for port in net.outputs] == [False, False, True, False]


def test_integers_that_are_indices_and_numbers_are_refused() -> None:
    graph = graph_of("""
pnnx.Input            in  0 1 0 #0=(4)i64
nn.Embedding          e   1 1 0 1 embedding_dim=2 num_embeddings=3 @weight=(3,2)f32 #1=(4,2)f32
Tensor.to             t   1 1 0 2 dtype=torch.float #2=(4)f32
prim::TupleConstruct  n   2 1 1 2 3
pnnx.Output           out 1 0 3
""")
    with pytest.raises(UnsupportedError, match="needs indices that are an input of the network"):
        lower(graph)


def test_rows_of_constant_indices_are_a_constant(tmp_path: Path) -> None:
    torch.manual_seed(0)
    table = torch.randn(10, 4)
    call = Calls(lambda x: x + F.embedding(torch.arange(3), table))
    check(call, torch.randn(3, 4), folder=tmp_path)


def test_stored_infinities_are_chosen_or_refused(tmp_path: Path) -> None:
    torch.manual_seed(0)
    least, bias = torch.tensor(-INF), torch.tensor([0.0, -INF, 1.0, 2.0])
    check(Calls(lambda x: torch.where(x > 0, x, least)), torch.randn(3, 4), folder=tmp_path)
    check(Calls(lambda x: torch.where(x > 0, least, x)), torch.randn(3, 4), folder=tmp_path)
    with pytest.raises(UnsupportedError, match="a stored tensor that is not finite"):
        check(Calls(lambda x: torch.where(x > 0, x, bias)), torch.randn(3, 4), folder=tmp_path)


@pytest.mark.parametrize("number", ["0.0", "1e-50", "-1e-39"])
def test_divisions_by_what_is_zero_in_single_precision_are_refused(number: str) -> None:
    graph = graph_of(f"""
pnnx.Input      in  0 1 0 #0=(2,3)f32
pnnx.Expression d   1 1 0 1 expr=div(@0,{number}) #1=(2,3)f32
pnnx.Output     out 1 0 1
""")
    with pytest.raises(UnsupportedError, match="ncnn multiplies with the reciprocal"):
        lower(graph)


@pytest.mark.parametrize("number", ["1e300", "-1e39", "3.5e38"])
def test_numbers_beyond_single_precision_are_refused(number: str) -> None:
    graph = graph_of(f"""
pnnx.Input   in  0 1 0 #0=(2,3)f64
torch.clamp  c   1 1 0 1 min=None max={number} #1=(2,3)f64
pnnx.Output  out 1 0 1
""")
    with pytest.raises(UnsupportedError, match="which ncnn's text cannot hold"):
        lower(graph)


REFUSED = {
    "pnnx.Expression a 2 1 1 1 2 expr=add(@0,@1) #2=(2,3)bool": "add of booleans",
    "torch.bitwise_not a 1 1 0 2 #0=(2,3)i64 #2=(2,3)i64": "inverts i64",
    "torch.where a 3 1 0 0 0 2 #0=(2,3)i64 #2=(2,3)i64": "its mask is of i64",
    "torch.gt a 2 1 0 0 2 #0=(2,3)i64 #2=(2,3)bool": "compares i64",
    "Tensor.to a 1 1 0 2 #0=(2,3)i64 #2=(2,3)c64": "converts i64 to c64",
}


@pytest.mark.parametrize("line", REFUSED)
def test_refused(line: str) -> None:
    graph = graph_of(f"""
pnnx.Input   in  0 1 0 #0=(2,3)i64
pnnx.Input   x   0 1 x #x=(2,3)f32
torch.ne     m   1 1 x 1 other=1.5 #1=(2,3)bool
{line}
pnnx.Output  out 1 0 2
""")
    with pytest.raises(UnsupportedError) as caught:
        lower(graph)
    assert REFUSED[line] in str(caught.value)
