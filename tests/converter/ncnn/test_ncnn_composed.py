"""Functions that ncnn has no layer of, and that are a few of its layers."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from suites.testing import Tolerance, check

X, Y = torch.randn(2, 1, 3, 5, generator=torch.Generator().manual_seed(0))


class Calls(nn.Module):
    def __init__(self, call, *held):
        super().__init__()
        self.call = call
        self.held = nn.ModuleList(held)

    def forward(self, *inputs):
        return self.call(*self.held, *inputs)


def written(x, value):
    x = x.clone()
    x[:, 1:, 2] = value
    return x


FUNCTIONS = {
    "addcdiv": lambda x, y: torch.addcdiv(x, y, x.abs() + 1, value=-2),
    "addcmul": lambda x, y: (torch.addcmul(x, y, x, value=2.5), torch.addcmul(x, x, y)),
    "deg2rad": lambda x, y: (torch.deg2rad(x), torch.rad2deg(y)),
    "exp2": lambda x, y: torch.exp2(x) + torch.log2(y.abs() + 0.1),
    "fill": lambda x, y: (written(x, 2.5), y.clone().fill_(-1), x.clone().zero_() + y),
    "flip": lambda x, y: (x.flip(()), y.flip(0, -1), x.amin().flip(0)),
    "frac": lambda x, y: (torch.frac(x), torch.sgn(torch.relu(y))),
    "movedim": lambda x, y: (x.movedim(0, -1) + 1, torch.movedim(y, (2, 0), (0, 1)) * 2),
    "mu_law": lambda x, y: torch.log1p(255 * x.abs()) / torch.log1p(torch.full((), 255.0)),
    "lerp": lambda x, y: (torch.lerp(x, y, 0.3), torch.lerp(x, y, y.sigmoid())),
    "logit": lambda x, y: (torch.logit(x.sigmoid()), torch.logit(y, eps=0.1)),
    "hstack": lambda x, y: (torch.hstack([x, y]), torch.hstack([x[0, 0], y[0, 0]])),
    "hstack_of_numbers": lambda x, y: torch.hstack([x.sum(), y.mean()]),
    "round": lambda x, y: (
        torch.round(x * 9, decimals=0),
        torch.round(x, decimals=2),
        torch.round(y * 999, decimals=-2),
    ),
    "vstack": lambda x, y: (torch.vstack([x[0], y[0]]), torch.vstack([x[0, 0], y[0, 0]])),
    "vstack_of_numbers": lambda x, y: torch.vstack([x.sum(), y.mean()]),
    "broadcast_tensors": lambda x, y: torch.broadcast_tensors(x, y[:, :1], y[0, 0]),
    "ravel": lambda x, y: (torch.ravel(x), torch.atleast_2d(y[0, 0]), torch.atleast_3d(y[0])),
    "var_mean": lambda x, y: (*torch.var_mean(x, 1), *torch.var_mean(y, -1, keepdim=True)),
    "std_mean": lambda x, y: (*torch.std_mean(x), *torch.std_mean(y, 2, correction=0)),
    "cosine_similarity": lambda x, y: (
        F.cosine_similarity(x, y),
        F.cosine_similarity(x, y, dim=-1, eps=1.5),
        F.cosine_similarity(x, y[0, :1], dim=2),
    ),
    "einsum": lambda x, y: (
        torch.einsum("...i,ji->...j", x, y[0]),
        torch.einsum("b...i,b...i->b...", x, y),
        torch.einsum("...ij,...kj", x, y),
        torch.einsum("...i,...i->i", x, y),
        torch.einsum("...i,...i->", x, y),
    ),
    "index": lambda x, y: (x[:, [2, 1, 0]], y[..., [0, 1, 4, 3]], x[[0, 0, -1]], x[:, [1]]),
    "index_select": lambda x, y: (
        torch.index_select(x, -1, torch.tensor([3, 4, 0])),
        torch.index_select(y, 0, torch.tensor(0)),
    ),
    "of one number": lambda x, y: (
        *(x.amin().norm(), x.amin().norm(p=1, dim=0), x.amin().logsumexp(0), x.mean().sum(-1)),
        *(F.normalize(x.amin(), dim=0), x.amin().norm(dim=0, keepdim=True), y.sum().amax(0)),
        *(y.mean().max(-1)[0], y.mean().prod(0), y.amin().max()),
    ),
    "narrow": lambda x, y: (x.narrow(1, -2, 1), y.narrow(2, 1, 3)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    assert check(Calls(FUNCTIONS[name]), (X, Y), target="ncnn")


@pytest.mark.parametrize("divisor", [3.0, 7.0, -7.0, 41.0, 49.0])
def test_whole_numbers_are_divided_exactly(divisor):
    def called(x, y):
        made = [x // divisor, x % divisor, x // y, x % y, divisor // y, divisor % y]
        made += [torch.fmod(x, divisor), torch.fmod(x, y), torch.div(x, y, rounding_mode="trunc")]
        made += [torch.div(divisor * x, divisor, rounding_mode="floor")]
        for rounded in (torch.floor, torch.ceil, torch.trunc):
            made += [rounded(x / divisor), rounded(x * y / y), rounded(divisor / y)]
        made += [(x / divisor).int().float(), (divisor * y / y).long() + x]
        return made

    whole = torch.arange(-98.0, 99.0).reshape(1, 1, -1)
    divisors = torch.full_like(whole, divisor) + (whole % 5)
    exact = Tolerance(0, 0, "whole numbers")
    assert check(Calls(called), (whole, divisors + 60), target="ncnn", tolerance=exact)


@pytest.mark.parametrize("batch", [(), (1,), (2,)], ids=str)
def test_single_steps(batch):
    torch.manual_seed(0)
    x, h, c = torch.randn(*batch, 4), torch.randn(*batch, 3), torch.randn(*batch, 3)

    def called(lstm, gru, rnn, x, h, c):
        hidden, cell = lstm(x, lstm(x * 2, (h, c)))
        return hidden, cell, *lstm(x), gru(x, gru(x * 2, h)), rnn(x, h), rnn(x)

    held = nn.LSTMCell(4, 3), nn.GRUCell(4, 3, bias=False), nn.RNNCell(4, 3)
    assert check(Calls(called, *held), (x, h, c), target="ncnn")


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda x, y: x.narrow(1, 3, 0), "slices a dim of size 3 to nothing"),
        (lambda x, y: x[:, [0, 1], [2, 2]], "index one dim by a stored list"),
        (lambda x, y: x[:, [0] * 40], "picks 40 separate parts"),
        (lambda x, y: torch.einsum("ij,jj->i", x[0, :, :3], y[0, :, :3]), "each letter once"),
        (lambda x, y: torch.einsum("...i,...i", x[:, :1], y), "broadcasts b in"),
    ],
)
def test_refusals(call, why):
    result = check(Calls(call), (X, Y), target="ncnn")
    assert why in result.why


def test_indices_that_are_computed_are_refused():
    result = check(Calls(lambda x, i: x.index_select(1, i)), (X, torch.tensor([1])), target="ncnn")
    assert "its indices are computed" in result.why
