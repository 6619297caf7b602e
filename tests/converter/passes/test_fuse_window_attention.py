"""Attention within windows, as nn.MultiheadAttention."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from converter import load

WIDTH, HEADS, LENGTH, WINDOWS, BATCH = 16, 4, 6, 3, 2
DEPTH = WIDTH // HEADS


class WindowAttention(torch.nn.Module):
    """As in Swin transformers; `sizes` and `order` tell query, key and value, and the heads."""

    def __init__(
        self,
        *,
        shifted=False,
        bias=True,
        scale=DEPTH**-0.5,
        rows=HEADS,
        sizes=(3, HEADS),
        order=(2, 0, 3, 1, 4),
    ):
        super().__init__()
        self.scale, self.sizes, self.order = scale, sizes, order
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH, bias=bias)
        self.proj = torch.nn.Linear(WIDTH, WIDTH, bias=bias)
        self.bias = torch.nn.Parameter(torch.rand(1, rows, LENGTH, LENGTH))
        mask = torch.rand(WINDOWS, LENGTH, LENGTH) if shifted else None
        self.register_buffer("mask", mask)

    def forward(self, x):
        sizes = (x.shape[0], LENGTH, *self.sizes, DEPTH)
        q, k, v = self.qkv(x).reshape(sizes).permute(self.order)
        scores = (q * self.scale) @ k.transpose(-2, -1) + self.bias
        if self.mask is not None:
            scores = scores.view(-1, WINDOWS, HEADS, LENGTH, LENGTH)
            scores = scores + self.mask.unsqueeze(1).unsqueeze(0)
            scores = scores.view(-1, HEADS, LENGTH, LENGTH)
        return self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape))


FUSED = {
    "plain": WindowAttention(),
    "no_bias": WindowAttention(bias=False),
    "shifted": WindowAttention(shifted=True),
}
LEFT = {
    "other_scale": WindowAttention(scale=0.3),
    "one_bias_for_all_heads": WindowAttention(rows=1),
    "heads_before_the_three": WindowAttention(sizes=(HEADS, 3), order=(3, 0, 2, 1, 4)),
}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = torch.nn.ModuleDict({**FUSED, **LEFT})

    def forward(self, x):
        return [call(x) for call in self.calls.values()]


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("windows") / "m.pt2"
    with torch.no_grad():
        x = torch.rand(BATCH * WINDOWS, LENGTH, WIDTH)
        torch.export.save(torch.export.export(Model().eval(), (x,)), file)
    return file


@pytest.fixture(scope="module")
def modules(path):
    graph = load(path)
    return dict(zip(FUSED, graph.of_type("nn.MultiheadAttention"), strict=True))


def test_what_rounds_otherwise_is_left_below_the_highest_level(path):
    assert not load(path, optlevel=1).of_type("nn.MultiheadAttention")


@pytest.mark.parametrize("name", FUSED)
def test_the_module_computes_what_the_model_did(name, modules):
    """As torch does with the weights, and the mask, that the graph stores."""
    op, module = modules[name], FUSED[name]
    mask = op.input("attn_mask").stored
    assert mask.shape == (BATCH * WINDOWS * HEADS, LENGTH, LENGTH)
    attention = torch.nn.MultiheadAttention(
        **{key: value for key, value in op.params.items() if not key.startswith("add_")}
    ).eval()
    state = {key: torch.from_numpy(value.array()) for key, value in op.attrs.items()}
    attention.load_state_dict(state)
    x = torch.rand(BATCH * WINDOWS, LENGTH, WIDTH)
    with torch.no_grad():
        result, _ = attention(x, x, x, attn_mask=torch.from_numpy(mask.array()), need_weights=False)
        torch.testing.assert_close(result, module(x))
