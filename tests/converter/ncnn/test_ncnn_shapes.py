"""Views, slices, joins, reductions and products compute what eager does."""

from pathlib import Path

import pytest
import torch
from ncnn_runs import Calls, check

nn, F = torch.nn, torch.nn.functional


def written(x, place, value):
    """A copy of a tensor with other values in a place."""
    y = x.clone()
    y[place] = value
    return y


VIEWS = [
    lambda x: x.view(2, 24, 5),
    lambda x: x.reshape(-1, 10),
    lambda x: x.flatten(1),
    lambda x: x.flatten(),
    lambda x: x.unflatten(1, (2, 3)),
    lambda x: x.permute(0, 2, 3, 1),
    lambda x: x.permute(3, 1, 0, 2),
    lambda x: x[0].permute(2, 0, 1),
    lambda x: x.transpose(1, 2),
    lambda x: x.unsqueeze(1),
    lambda x: x.unsqueeze(-1) * 2,
    lambda x: x[:, :1].squeeze(1),
    lambda x: x.reshape_as(x.flatten(2)),
    lambda x: x.contiguous(),
    lambda x: x.clone(),
    lambda x: x.reshape(2, 2, 3, 4, 5).permute(0, 3, 2, 1, 4).reshape(2, -1),
    lambda x: x.sum().reshape(1, 1),
    lambda x: x,
]
SLICES = [
    lambda x: x[:, 1:5:2],
    lambda x: x[:, 1::2],
    lambda x: x[:, ::4],
    lambda x: x[..., ::3],
    lambda x: x[:, :, 1:4:2, ::2],
    lambda x: x[:, 1],
    lambda x: x[..., -1],
    lambda x: x[1, 2, :2],
    lambda x: x[:, :, 1:3, 2:],
    lambda x: x[:, -3:-1],
    lambda x: x.select(1, -1),
    lambda x: x.narrow(2, 1, 2),
    lambda x: torch.chunk(x, 2, 1),
    lambda x: torch.chunk(x, 4, 1),
    lambda x: torch.split(x, (1, 2, 3), 1),
    lambda x: torch.split(x, 4, 1),
    lambda x: torch.tensor_split(x, 4, 1),
    lambda x: torch.tensor_split(x, (1, 3), 1),
    lambda x: torch.unbind(x, 2)[:2],
    lambda x: torch.unbind(x, 0)[1],
]
JOINS = [
    lambda x: torch.cat((x, x * 2), 1),
    lambda x: torch.cat((x, x * 2, x), -1),
    lambda x: torch.cat((x, x + 1)),
    lambda x: torch.cat((x, torch.zeros(2, 0, 4, 5), x), 1),
    lambda x: torch.stack((x[:, 0], x[:, 1]), 1),
    lambda x: torch.stack((x[:, 0], x[:, 1]), 3),
    lambda x: torch.stack((x[:, 0], x[:, 1])),
    lambda x: x[:, :1].expand(2, 3, 4, 5),
    lambda x: x[:, :1].expand(-1, 3, -1, -1),
    lambda x: x[0, 0].expand(2, 3, 4, 5),
    lambda x: x.repeat(1, 2, 1, 1),
    lambda x: x[0, 0].repeat(2, 3, 1),
    lambda x: torch.tile(x, (1, 2, 1, 1)),
    lambda x: x.repeat_interleave(2, 1),
    lambda x: torch.roll(x, 1, 2),
    lambda x: torch.roll(x, (1, 2), (2, 3)),
    lambda x: torch.roll(x, 3),
    lambda x: torch.flip(x, (2, 3)),
    lambda x: torch.flip(x, (0,)),
    lambda x: torch.slice_scatter(x, x[:, :2] * 2, 1, 2, 4),
    lambda x: written(x, (slice(None), slice(2, 4)), 0.5),
    lambda x: written(x, (..., slice(1, -1)), x[..., :3] * 2),
    lambda x: written(x, (slice(None), 0), -1),
    lambda x: torch.slice_scatter(x, x[:, :3] * 2, 1, 0, 6, 2),
    lambda x: torch.slice_scatter(x, x[:, :2] * 2, 1, 1, 6, 3),
    lambda x: torch.slice_scatter(x, x[:, :2] * 2, 1, 2, 6, 3),
    lambda x: torch.slice_scatter(x, x[..., :1] * 2, -1, 1, 3, 7),
    lambda x: torch.slice_scatter(x, x[..., :2] * 2, -1, 0, 4, 3),
    lambda x: torch.slice_scatter(x, x[..., :2] * 2, -1, 1, step=3),
    lambda x: torch.slice_scatter(x, x[:1] * 2, 0, 1, step=2),
    lambda x: written(x, (slice(None), slice(None, None, 2), slice(1, 3)), x[:, :3, :2]),
    lambda x: written(x, (1, slice(1, None, 2), slice(None, None, 3)), x[0, :3, :2]),
    lambda x: written(x, (slice(None), slice(1, None, 4), -1), x[:, 1:3, 0]),
    lambda x: written(x, (..., slice(1, None, 2)), 7.0),
]
REDUCTIONS = [
    lambda x: x.sum(),
    lambda x: x.sum(1),
    lambda x: x.sum((0, 2)),
    lambda x: x.sum((1, 3), keepdim=True),
    lambda x: x.mean(),
    lambda x: x.mean((2, 3)),
    lambda x: x.mean((2, 3), keepdim=True),
    lambda x: x.mean((0, 1, 2, 3)),
    lambda x: torch.amax(x, 1),
    lambda x: torch.amin(x, (1, 2)),
    lambda x: torch.max(x),
    lambda x: torch.max(x, 1)[0],
    lambda x: torch.min(x, 1, keepdim=True)[0],
    lambda x: torch.prod(x, 1),
    lambda x: torch.norm(x),
    lambda x: torch.norm(x, 2, 1),
    lambda x: torch.norm(x, 1, 1),
    lambda x: torch.norm(x, float("inf"), 1),
    lambda x: torch.logsumexp(x, 1),
    lambda x: torch.logsumexp(x * 100, (1, 2), keepdim=True),
    lambda x: torch.cumsum(x, 0),
    lambda x: torch.cumsum(x, 1),
    lambda x: x.std(1),
    lambda x: x.var(1, keepdim=True),
    lambda x: x.var((1, 2), unbiased=False),
]


@pytest.mark.parametrize(
    "calls", [VIEWS, SLICES, JOINS, REDUCTIONS], ids=["views", "slices", "joins", "reductions"]
)
def test_like_eager(calls: list[object], tmp_path: Path) -> None:
    torch.manual_seed(0)
    check(Calls(*calls), torch.randn(2, 6, 4, 5), folder=tmp_path)


def test_diagonals_and_transposes(tmp_path: Path) -> None:
    calls = [
        lambda x, y: torch.diag(x),
        lambda x, y: torch.diag(y),
        lambda x, y: torch.diag(x, 1),
        lambda x, y: torch.diag(y, -2),
        lambda x, y: x.t() + 1,
    ]
    check(Calls(*calls), torch.randn(4, 4), torch.randn(5), folder=tmp_path)


PRODUCTS = [
    lambda a, b, c, d, e: torch.bmm(a, b),
    lambda a, b, c, d, e: torch.mm(c, d),
    lambda a, b, c, d, e: torch.addmm(e, c, d),
    lambda a, b, c, d, e: torch.addmm(e, c, d, beta=0.5, alpha=2),
    lambda a, b, c, d, e: torch.baddbmm(e[None], a, b),
    lambda a, b, c, d, e: torch.matmul(a, d),
    lambda a, b, c, d, e: torch.matmul(c, b),
    lambda a, b, c, d, e: torch.matmul(a, d[:, 0]),
    lambda a, b, c, d, e: torch.matmul(c[0], d),
    lambda a, b, c, d, e: torch.matmul(c[0], b),
    lambda a, b, c, d, e: torch.matmul(c[0], d[:, 0]),
    lambda a, b, c, d, e: torch.matmul(a[:, None], b[:, None]),
    lambda a, b, c, d, e: torch.matmul(a, a.transpose(1, 2)),
    lambda a, b, c, d, e: torch.einsum("bij,bjk->bik", a, b),
    lambda a, b, c, d, e: torch.einsum("ij,kj->ik", c, a[0]),
    lambda a, b, c, d, e: torch.einsum("bij,bjk->b", a, b),
    lambda a, b, c, d, e: torch.einsum("bij,bjk->", a, b),
    lambda a, b, c, d, e: torch.einsum("ij->ji", c),
    lambda a, b, c, d, e: torch.einsum("ij,jk,kl->il", c, d, e.t()),
]


def test_products(tmp_path: Path) -> None:
    torch.manual_seed(0)
    shapes = [(2, 3, 4), (2, 4, 5), (3, 4), (4, 5), (3, 5)]
    check(Calls(*PRODUCTS), *map(torch.randn, shapes), folder=tmp_path)


@pytest.mark.parametrize(
    "shape", [(4,), (3, 4), (2, 3, 4), (1, 5, 3, 4), (2, 5, 3, 4), (2, 2, 5, 3, 4)]
)
def test_linear_of_any_rank(shape: tuple[int, ...], tmp_path: Path) -> None:
    torch.manual_seed(0)
    calls = [nn.Linear(4, 8), nn.Linear(4, 8, bias=False)]
    check(Calls(*calls), torch.randn(shape), folder=tmp_path)


def test_linear_whose_weight_is_an_input(tmp_path: Path) -> None:
    shapes = [(2, 3, 4), (8, 4), (8,)]
    calls = [lambda x, w, b: F.linear(x, w, b), lambda x, w, b: F.linear(x, w)]
    check(Calls(*calls), *map(torch.randn, shapes), folder=tmp_path)


def test_tensors_of_rank_five(tmp_path: Path) -> None:
    torch.manual_seed(0)
    calls = [
        F.relu,
        lambda x: x.mean(0),
        lambda x: x.mean(),
        lambda x: x.sum((0, 1, 2, 3, 4), keepdim=True),
        lambda x: F.softmax(x, 0),
        lambda x: x.permute(1, 2, 0, 3, 4),
        lambda x: x[:, 1],
    ]
    for batch in (1, 2):
        check(Calls(*calls), torch.randn(batch, 3, 4, 5, 6), folder=tmp_path)


def test_constants_of_five_dims(tmp_path: Path) -> None:
    """Blobs have four: another one is the batch, of size 1 or not."""

    class Constants(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("ones", torch.randn(2, 1, 2, 3, 4))
            self.register_buffer("none", torch.randn(2, 3, 2, 3, 4))

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            filled = x.repeat(2, 1, 2, 2, 1).fill_(1.5)
            return (
                torch.cat([filled, filled], dim=1),
                filled.narrow(-1, 0, 1),
                filled.sqrt(),
                torch.cat([self.ones, self.ones], 1) + x.sum(),
                torch.cat([self.none, self.none], 0) + x.sum(),
                self.none * x.sum(),
                self.ones,
                self.none,
            )

    check(Constants(), torch.randn(1, 3, 5, 6), folder=tmp_path)
