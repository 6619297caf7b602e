"""Recurrent layers, attention and embeddings compute what eager does."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ncnn_runs import ATOL, RTOL, Calls, check, run

from converter import load
from converter.ncnn import lower

nn, F = torch.nn, torch.nn.functional


class Recurrent(nn.Module):
    """Modules on the same sequence, from the same states; `ends` returns states too."""

    def __init__(self, *held: Any, ends: bool = False) -> None:
        super().__init__()
        self.held = nn.ModuleList(held)
        self.ends = ends

    def forward(self, x: Any, *states: Any) -> Any:
        results = []
        for module in self.held:
            begin = () if not states else (states if len(states) > 1 else states[0],)
            sequence, end = module(x, *begin)
            results += [sequence, *(end if isinstance(end, tuple) else [end])][
                : None if self.ends else 1
            ]
        return tuple(results)


def test_sequences_in_both_layouts(tmp_path: Path) -> None:
    torch.manual_seed(0)
    module = Recurrent(
        nn.LSTM(5, 7),
        nn.LSTM(5, 7, bidirectional=True, bias=False, num_layers=2),
        nn.LSTM(5, 7, proj_size=3),
        nn.LSTM(5, 7, batch_first=True),
        nn.GRU(5, 7),
        nn.GRU(5, 7, bidirectional=True, bias=False, num_layers=2),
        nn.GRU(5, 7, batch_first=True),
        nn.RNN(5, 7),
        nn.RNN(5, 7, batch_first=True, bidirectional=True, num_layers=2),
    )
    check(module, torch.randn(3, 2, 5), folder=tmp_path)


def test_sequences_without_a_batch(tmp_path: Path) -> None:
    torch.manual_seed(0)
    module = Recurrent(nn.LSTM(5, 7), nn.GRU(5, 7), nn.RNN(5, 7))
    check(module, torch.randn(3, 5), folder=tmp_path)


STATES = {
    "lstm": (nn.LSTM(5, 7), [(1, 2, 7)] * 2),
    "lstm of two layers": (nn.LSTM(5, 7, bidirectional=True, num_layers=2), [(4, 2, 7)] * 2),
    "lstm projected": (nn.LSTM(5, 7, proj_size=3), [(1, 2, 3), (1, 2, 7)]),
    "gru": (nn.GRU(5, 7, bidirectional=True), [(2, 2, 7)]),
    "gru batch first": (nn.GRU(5, 7, batch_first=True), [(1, 3, 7)]),
    "rnn": (nn.RNN(5, 7, num_layers=2), [(2, 2, 7)]),
}


@pytest.mark.parametrize("name", STATES)
def test_states(name: str, tmp_path: Path) -> None:
    module, shapes = STATES[name]
    torch.manual_seed(0)
    states = [torch.randn(shape) for shape in shapes]
    check(Recurrent(module, ends=True), torch.randn(3, 2, 5), *states, folder=tmp_path)


def test_states_that_begin_at_zero(tmp_path: Path) -> None:
    torch.manual_seed(0)
    module = Recurrent(nn.LSTM(5, 7), nn.GRU(5, 7, batch_first=True), ends=True)
    check(module, torch.randn(3, 2, 5), folder=tmp_path)


class Attention(nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.held = nn.MultiheadAttention(8, 2, **options)

    def forward(self, query: Any, key: Any = None, value: Any = None, mask: Any = None) -> Any:
        key = query if key is None else key
        value = key if value is None else value
        return self.held(query, key, value, need_weights=False, attn_mask=mask)[0]


ATTENTION = {
    "self": (Attention(), [(3, 2, 8)]),
    "batch first": (Attention(batch_first=True), [(2, 3, 8)]),
    "no bias": (Attention(batch_first=True, bias=False), [(2, 3, 8)]),
    "no batch": (Attention(), [(3, 8)]),
    "keys": (Attention(batch_first=True), [(2, 3, 8), (2, 4, 8)]),
    "mask": (Attention(batch_first=True), [(2, 3, 8), (2, 4, 8), (2, 4, 8), (3, 4)]),
    "mask of heads": (Attention(batch_first=True), [(2, 3, 8), (2, 4, 8), (2, 4, 8), (4, 3, 4)]),
}


@pytest.mark.parametrize("name", ATTENTION)
def test_multihead_attention(name: str, tmp_path: Path) -> None:
    module, shapes = ATTENTION[name]
    torch.manual_seed(0)
    check(module, *map(torch.randn, shapes), folder=tmp_path)


class SpelledAttention(nn.Module):
    """What becomes a module whose only sequence is named `input`."""

    def __init__(self) -> None:
        super().__init__()
        self.projections = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
        self.output = nn.Linear(8, 8)

    def forward(self, x: Any, *masks: Any) -> Any:
        q, k, v = (f(x).view(2, 3, 2, 4).transpose(1, 2) for f in self.projections)
        scores = q @ k.transpose(-1, -2) * 0.5
        for mask in masks:
            scores = scores + mask
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).reshape(2, 3, 8))


@pytest.mark.parametrize("shapes", [[(2, 3, 8)], [(2, 3, 8), (2, 1, 3, 3)]])
def test_attention_that_is_spelled_out(shapes: list[tuple[int, ...]], tmp_path: Path) -> None:
    torch.manual_seed(0)
    module, inputs = SpelledAttention().eval(), tuple(map(torch.randn, shapes))
    with torch.no_grad():
        torch.export.save(torch.export.export(module, inputs), tmp_path / "m.pt2")
        expected = module(*inputs)
    graph = load(tmp_path / "m.pt2")
    assert graph.of_type("nn.MultiheadAttention")
    (actual,) = run(lower(graph), [x.numpy() for x in inputs], tmp_path)
    np.testing.assert_allclose(actual, expected.numpy(), RTOL, ATOL)


def _sdpa(**options: Any) -> Any:
    return lambda q, k, v, *masks: F.scaled_dot_product_attention(q, k, v, **options)


def test_scaled_dot_products(tmp_path: Path) -> None:
    torch.manual_seed(0)
    masks = [(4, 5), (2, 1, 4, 5), (1, 3, 4, 5), (2, 3, 4, 5), (1, 5)]
    masked = [
        lambda q, k, v, *masks, i=index: F.scaled_dot_product_attention(q, k, v, masks[i])
        for index in range(len(masks))
    ]
    calls = [
        _sdpa(),
        _sdpa(scale=0.3),
        _sdpa(is_causal=True),
        lambda q, k, v, *masks: F.scaled_dot_product_attention(q[0], k[0], v[0]),
        lambda q, k, v, *masks: F.scaled_dot_product_attention(q[0, 0], k[0, 0], v[0, 0]),
    ]
    shapes = [(2, 3, 4, 8), (2, 3, 5, 8), (2, 3, 5, 6), *masks]
    check(Calls(*calls, *masked), *map(torch.randn, shapes), folder=tmp_path)


def test_grouped_queries(tmp_path: Path) -> None:
    torch.manual_seed(0)
    calls = [
        lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m, enable_gqa=True),
    ]
    shapes = [(2, 4, 4, 8), (2, 2, 5, 8), (2, 2, 5, 8), (2, 4, 4, 5)]
    check(Calls(*calls), *map(torch.randn, shapes), folder=tmp_path)


@pytest.mark.parametrize("shape", [(4,), (2, 4), (2, 4, 3)])
def test_embeddings(shape: tuple[int, ...], tmp_path: Path) -> None:
    torch.manual_seed(0)
    table = nn.Parameter(torch.randn(10, 6))
    calls = [
        nn.Embedding(10, 6),
        nn.Embedding(10, 6, padding_idx=1),
        lambda i: table[:6].sum() * F.embedding(i, table),
    ]
    check(Calls(*calls[:2]), torch.randint(10, shape), folder=tmp_path)
