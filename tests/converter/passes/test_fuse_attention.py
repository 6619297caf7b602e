"""Attention that models spell out, as nn.MultiheadAttention."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from converter import load

F = torch.nn.functional
WIDTH, HEADS = 16, 4
LENGTH, SOURCE, BATCH = 6, 5, 2
SCALE = 1 / math.sqrt(WIDTH // HEADS)


class Attention(torch.nn.Module):
    """Projections around `core(query, key, value, mask)` of tensors split into heads."""

    def __init__(self, core, *, bias=(True,) * 4, width=WIDTH):
        super().__init__()
        self.core = core
        self.q = torch.nn.Linear(WIDTH, WIDTH, bias=bias[0])
        self.k = torch.nn.Linear(width, WIDTH, bias=bias[1])
        self.v = torch.nn.Linear(width, WIDTH, bias=bias[2])
        self.o = torch.nn.Linear(WIDTH, WIDTH, bias=bias[3])

    def split(self, x):
        return x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)

    def forward(self, x, y, mask=None):
        q, k, v = (self.split(f(z)) for f, z in ((self.q, x), (self.k, y), (self.v, y)))
        return self.o(self.core(q, k, v, mask).transpose(1, 2).reshape(x.shape))


class Scaled(Attention):
    """The projection of the query is scaled, and not the scores."""

    def forward(self, x, y, mask=None):
        q, k, v = self.split(self.q(x) * SCALE), self.split(self.k(y)), self.split(self.v(y))
        return self.o(self.core(q, k, v, mask).transpose(1, 2).reshape(x.shape))


def unscaled(q, k, v, mask):
    """Of batches that are one with the heads, as CLIP and BART have it."""
    shape = (*q.shape[:3], k.shape[2])
    q, k, v = (one.reshape(-1, *one.shape[2:]) for one in (q, k, v))
    scores = torch.bmm(q, k.transpose(1, 2))
    if mask is not None:
        scores = (scores.view(shape) + mask).view(scores.shape)
    return torch.bmm(F.softmax(scores, -1), v).view(*shape[:3], -1)


def composed(q, k, v, mask):
    scores = q @ k.transpose(-1, -2) * SCALE
    return F.softmax(scores if mask is None else scores + mask, -1) @ v


def torchs(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def scaled(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=SCALE)


MASK = torch.rand(BATCH, 1, LENGTH, LENGTH)
FUSED = {
    "composed": (Attention(composed), "xx"),
    "torchs": (Attention(torchs), "xx"),
    "scaled": (Attention(scaled), "xx"),
    "cross": (Attention(composed), "xy"),
    "cross_torchs": (Attention(torchs), "xy"),
    "widths": (Attention(composed, width=8), "xz"),
    "no_bias": (Attention(composed, bias=(False,) * 4), "xx"),
    "bias_of_the_output": (Attention(composed, bias=(False, False, False, True)), "xx"),
    "some_bias": (Attention(torchs, bias=(True, False, True, False)), "xy"),
    "scaled_query": (Scaled(unscaled), "xx"),
    "scaled_query_cross": (Scaled(unscaled, width=8), "xz"),
    "scaled_query_masked": (Scaled(unscaled), "xxm"),
    "scaled_query_mask_of_batches": (
        Scaled(lambda q, k, v, m: unscaled(q, k, v, m[:, 0][:, None])),
        "xxm",
    ),
    "one_for_key_and_value": (Attention(lambda q, k, v, m: composed(q, v, v, m)), "xx"),
    "masked": (Attention(composed), "xxm"),
    "masked_torchs": (Attention(scaled), "xxm"),
}
LEFT = {
    "other_scale": (Attention(lambda q, k, v, m: F.softmax(q @ k.mT * 0.3, -1) @ v), "xx"),
    "other_dim": (Attention(lambda q, k, v, m: F.softmax(q @ k.mT * SCALE, -2) @ v), "xx"),
    "causal": (
        Attention(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, is_causal=True)),
        "xx",
    ),
    "time_mixed": (Attention(lambda q, k, v, m: composed(q.flip(2), k, v, m)), "xx"),
    "bool_mask": (Attention(scaled), "xxb"),
    "mask_of_heads": (Attention(composed), "xxh"),
    "scaled_twice": (Scaled(composed), "xx"),
    "not_scaled": (Attention(unscaled), "xx"),
    "part_of_a_scaled_query": (Scaled(lambda q, k, v, m: unscaled(q * 1, k, v * 2, m)), "xx"),
}


class Model(torch.nn.Module):
    """All attentions, in one program."""

    def __init__(self):
        super().__init__()
        self.calls = {**FUSED, **LEFT}
        for name, (module, _) in self.calls.items():
            self.add_module(name, module)

    def forward(self, x, y, z, mask, heads):
        inputs = {"x": x, "y": y, "z": z, "m": mask, "b": mask > 0.5, "h": heads}
        return [
            getattr(self, name)(*(inputs[letter] for letter in letters))
            for name, (_, letters) in self.calls.items()
        ]


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    inputs = (
        torch.rand(BATCH, LENGTH, WIDTH),
        torch.rand(BATCH, SOURCE, WIDTH),
        torch.rand(BATCH, SOURCE, 8),
        torch.rand(BATCH, 1, LENGTH, LENGTH),
        torch.rand(BATCH, HEADS, LENGTH, LENGTH),
    )
    file = tmp_path_factory.mktemp("attention") / "m.pt2"
    with torch.no_grad():
        torch.export.save(torch.export.export(Model().eval(), inputs), file)
    return file


@pytest.fixture(scope="module")
def modules(path):
    graph = load(path)
    return {
        op.name.removesuffix(".o_attention"): op for op in graph.of_type("nn.MultiheadAttention")
    }


def test_which_are_fused(modules):
    assert modules.keys() == FUSED.keys()


def test_what_rounds_otherwise_is_left_below_the_highest_level(path):
    assert not load(path, optlevel=1).of_type("nn.MultiheadAttention")


@pytest.mark.parametrize("name", FUSED)
def test_what_is_written(name, modules):
    op, (module, letters) = modules[name], FUSED[name]
    names = ["input"] if letters[0] == letters[1] else ["query", "key", "value"]
    assert op.input_names == names + ["attn_mask"] * (len(letters) > 2)
    assert op.params == {
        "add_bias_kv": False,
        "add_zero_attn": False,
        "batch_first": True,
        "bias": any("bias" in key for key in module.state_dict()),
        "embed_dim": WIDTH,
        "kdim": module.k.in_features,
        "num_heads": HEADS,
        "vdim": module.v.in_features,
    }


@pytest.mark.parametrize("name", FUSED)
def test_the_module_computes_what_the_model_did(name, modules):
    """As torch does with the weights that the graph stores."""
    op, (module, letters) = modules[name], FUSED[name]
    torch.manual_seed(0)
    drawn = {
        "x": torch.rand(BATCH, LENGTH, WIDTH),
        "y": torch.rand(BATCH, SOURCE, WIDTH),
        "z": torch.rand(BATCH, SOURCE, 8),
        "m": torch.rand(BATCH, 1, LENGTH, LENGTH),
    }
    attention = torch.nn.MultiheadAttention(
        **{key: value for key, value in op.params.items() if not key.startswith("add_")}
    ).eval()
    state = {key: torch.from_numpy(value.array()) for key, value in op.attrs.items()}
    attention.load_state_dict(state)
    given = [drawn[letter] for letter in letters]
    mask = None
    if len(given) > 2:
        mask = given[2].expand(-1, HEADS, -1, -1).reshape(-1, LENGTH, LENGTH)
    with torch.no_grad():
        result, _ = attention(given[0], given[1], given[1], attn_mask=mask, need_weights=False)
        torch.testing.assert_close(result, module(*given))


def test_a_mask_is_spread_over_the_heads(modules):
    mask = modules["masked"].input("attn_mask")
    assert mask.shape == (BATCH * HEADS, LENGTH, LENGTH)
    assert mask.producer.type == "Tensor.reshape"
    assert mask.producer.inputs[0].producer.params == {"sizes": (BATCH, HEADS, LENGTH, LENGTH)}
