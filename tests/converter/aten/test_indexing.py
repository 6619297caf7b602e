"""Reading and writing parts of tensors: slices, indices, masks, gathers, scatters, embeddings."""

from __future__ import annotations

import sys

import torch
from equality import check
from torch import nn

torch.manual_seed(0)
x = torch.randn(3, 4, 5)
y = torch.randn(3, 4, 5)
rows = torch.tensor([2, 0, -1])
grid = torch.tensor([[0, 1], [3, 2]])
point = torch.tensor(1)
mask = x[..., 0] > 0
full_mask = x > 0
choice = torch.randint(0, 3, (3, 4, 5))
words = torch.randint(0, 7, (2, 3))
bag = torch.tensor([0, 2, 4])


def test_slices() -> None:
    check(
        "x[0], x[-1], x[1:], x[:-1], x[:, 1], x[:, 1:3], x[..., -1], x[..., ::2], x[1:100]",
        "x[-100:2]",
        "x[:, :, 1:-1], x[0, 1], x[0, :, 2], x[5:], x[2:1], x[:0], x[1, 2, 3], x[:, 1::2, ::3]",
        "x[None], x[:, None, 1], x[..., None], x[0, None, ..., 0], x[:], x[...], x[sys.maxsize:]",
        "x[: sys.maxsize], x[-2:sys.maxsize, 1:], x.select(1, -2), x.select(-1, 0), x[True]",
        "x[2:][:1]",
        "x[1:][0, 2:], x[:, 2:][..., 1:][0], x[-2:-1, -3:], x[:, -1:], x[:, :-4], x[:, -1:1]",
        x=x,
        sys=sys,
    )


def test_indices() -> None:
    check(
        "x[rows], x[:, rows], x[..., rows], x[rows, rows], x[rows, :, rows], x[:, rows, rows]",
        "x[grid[:, :1] % 3, grid], x[:, grid], x[grid % 3, :, grid], x[rows][:, rows], x[[0, 2]]",
        "x[:, [1, 2]], x[rows, 1], x[1, rows], x[rows, 1:3], x[0, :, rows], x[:, None, rows]",
        "x[rows, None]",
        "x[rows, ..., rows], x[mask], x[full_mask], x[0, mask[0]], x[:, mask[0]]",
        "x[full_mask.any(2)], x[:2, mask[0]], x[mask.any(1)][:, rows]",
        "x[point[None], :, rows[:1]], x[rows.int()], x[rows[None]], rows[rows], mask[rows]",
        x=x,
        rows=rows,
        grid=grid,
        mask=mask,
        full_mask=full_mask,
        point=point,
    )


def test_puts() -> None:
    check(
        "x.index_put((rows,), y), x.index_put((rows % 3, rows), y[:, 0])",
        "x.index_put((mask,), y[0, 0, 0])",
        "x.index_put((rows,), y, accumulate=True), torch.index_put(x, [rows], y[0])",
        "[a := x + 0, a.__setitem__((slice(None), rows), y[:, :3]), a]",
        "[a := x + 0, a.__setitem__((rows, slice(1, 3)), 2), a]",
        "[a := x + 0, a.__setitem__(full_mask, 0.5), a]",
        "[a := x + 0, a.__setitem__((mask, 0), 1), a]",
        "[a := x + 0, a.__setitem__((0, rows), y[0, :3]), a]",
        "[a := x + 0, a.__setitem__((..., -1), y[..., 0]), a]",
        x=x,
        y=y,
        rows=rows,
        mask=mask,
        full_mask=full_mask,
    )


def test_gathers_and_scatters() -> None:
    check(
        "x.gather(0, choice), x.gather(-1, choice)",
        "torch.gather(x, 1, choice[:, :2], sparse_grad=True)",
        "x.index_select(0, rows.abs()), x.index_select(-1, grid[0])",
        "torch.index_select(x, 1, rows.abs().int())",
        "x.take_along_dim(choice, 1), x.take_along_dim(choice.flatten()), torch.take(x, grid)",
        "x.scatter(0, choice, y), x.scatter(-1, choice, 2.0)",
        "x.scatter(1, choice, y, reduce='add')",
        "x.scatter(1, choice, 3.0, reduce='multiply'), x.scatter_add(0, choice, y)",
        *[
            f"x.scatter_reduce(1, choice, y, '{reduce}', include_self={itself})"
            for reduce in ("sum", "prod", "mean", "amax", "amin")
            for itself in (True, False)
        ],
        "x.index_add(1, grid[0], y[:, :2]), x.index_add(0, rows.abs(), y, alpha=0.5)",
        "x.index_copy(1, grid[0], y[:, :2]), x.index_fill(1, grid[0], 2)",
        "x.index_fill(-1, rows.abs(), y[0, 0, 0])",
        "x.index_reduce(1, grid[0], y[:, :2], 'prod')",
        "x.index_reduce(1, grid[0], y[:, :2], 'amax', include_self=False)",
        "x.masked_fill(full_mask, 0), x.masked_fill(mask[..., None], -1e9)",
        "x.masked_fill(full_mask, y[0, 0, 0])",
        "choice.masked_fill(full_mask, 3), x.masked_scatter(full_mask, y)",
        "x.put(grid, y[0, :2, :2])",
        "x.put(grid, y[0, :2, :2], accumulate=True), mask.masked_fill(mask, False)",
        x=x,
        y=y,
        rows=rows,
        grid=grid,
        choice=choice,
        mask=mask,
        full_mask=full_mask,
    )


def test_searches() -> None:
    check(
        "torch.bucketize(x, x[0, 0].sort().values)",
        "torch.bucketize(x, x[0, 0].sort().values, right=True)",
        "torch.bucketize(0.5, x[0, 0].sort().values)",
        "torch.bucketize(x, x[0, 0].sort().values, out_int32=True)",
        "torch.searchsorted(x.sort().values, y)",
        "torch.searchsorted(x[0, 0].sort().values, y, right=True)",
        "torch.searchsorted(x[0, 0].sort().values, 0.3)",
        "torch.searchsorted(x.sort().values, y, side='right')",
        "torch.searchsorted(x, y, sorter=x.argsort()), F.one_hot(words, 7)",
        "F.one_hot(words % 2, num_classes=3)",
        x=x,
        y=y,
        words=words,
    )


def test_embeddings() -> None:
    check(
        "F.embedding(words, table), F.embedding(words, table, padding_idx=2), embedding(words)",
        "padded(words)",
        "F.embedding_bag(words, table), F.embedding_bag(words, table, mode='sum')",
        "bags(words.flatten(), bag)",
        "F.embedding_bag(words, table, mode='max')",
        "F.embedding_bag(words.flatten(), table, bag, mode='mean')",
        "F.embedding_bag(words, table, mode='sum', per_sample_weights=weights), padded_bags(words)",
        "F.embedding_bag(words.flatten(), table, bag, include_last_offset=True)",
        "embedding(words[0, 0])",
        words=words,
        bag=bag,
        table=torch.randn(7, 3),
        weights=torch.randn(2, 3),
        embedding=nn.Embedding(7, 3),
        padded=nn.Embedding(7, 3, padding_idx=1),
        bags=nn.EmbeddingBag(7, 3),
        padded_bags=nn.EmbeddingBag(7, 3, mode="sum", padding_idx=1),
    )
