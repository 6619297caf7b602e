"""Views, joins and splits."""

from __future__ import annotations

import pytest
import torch
from equality import How, check, refusal

torch.manual_seed(0)
x = torch.randn(2, 3, 4)
y = torch.randn(2, 3, 4)
line = torch.randn(5)
one = torch.randn(1, 3, 1)
matrix = torch.randn(3, 4)
wave = torch.complex(x, y)
point = torch.tensor(1.5)
ints = torch.randint(0, 4, (2, 3))
empty = torch.zeros(0, 3)
cube = torch.randn(2, 4, 6, 3)


def test_reshapes() -> None:
    check(
        "x.view(6, 4), x.view(-1), x.view(2, -1, 2), x.reshape(4, 6), x.reshape(-1, 12)",
        "x.view(24)",
        "x.transpose(0, 1).reshape(6, 4), x.view_as(cube[:1, :, :2])",
        "x.reshape_as(cube[:1, :, :2])",
        "x.flatten(), x.flatten(1), x.flatten(0, 1), x.flatten(-2), point.flatten(), x.ravel()",
        "x.unflatten(2, (2, 2)), x.unflatten(-1, (-1, 2)), x.unflatten(0, (1, 2))",
        "x.unsqueeze(0), x.unsqueeze(-1), x.unsqueeze(1), x[None, ..., None], point.unsqueeze(0)",
        "one.squeeze(), one.squeeze(0), one.squeeze(-1), one.squeeze(1), one.squeeze((0, 2))",
        "x.squeeze()",
        "point.view(1), point.reshape(1, 1), line[:1].reshape(()), empty.view(3, 0)",
        "empty.reshape(0, 1, 3)",
        "torch.atleast_1d(point), torch.atleast_2d(line), torch.atleast_3d(matrix)",
        "torch.atleast_1d(x)",
        "torch.atleast_2d(point, line), torch.atleast_3d(x, point)",
        x=x,
        cube=cube,
        one=one,
        point=point,
        line=line,
        empty=empty,
        matrix=matrix,
    )


def test_permutations() -> None:
    check(
        "x.permute(2, 0, 1), x.permute(-1, 0, 1), torch.permute(x, (1, 0, 2)), point.permute(())",
        "x.transpose(0, 1), x.transpose(-1, 0), x.swapaxes(0, 2), x.swapdims(0, 2)",
        "torch.swapaxes(x, 0, 1)",
        "matrix.t(), line.t(), matrix.T, matrix.mT, x.mT, wave.mH, wave[0].H, matrix.H",
        "x.adjoint()",
        "wave.adjoint(), torch.adjoint(wave), x.movedim(0, 2), x.movedim((0, 1), (2, 0))",
        "x.moveaxis(-1, 0)",
        "x.flip(0), x.flip((0, 2)), x.flip(-1), torch.fliplr(x), torch.flipud(x), x.rot90()",
        "x.rot90(2, (1, 2))",
        "x.roll(1), x.roll(1, 0), x.roll((1, -2), (0, 2)), x.rot90(-1, (0, 1))",
        "cube.permute(0, 3, 1, 2)",
        x=x,
        matrix=matrix,
        line=line,
        wave=wave,
        cube=cube,
        point=point,
    )


def test_repetitions() -> None:
    check(
        "one.expand(2, 3, 4), one.expand(-1, -1, 4), one.expand(5, 2, 3, 4), one.expand_as(x)",
        "point.expand(2, 3), torch.broadcast_to(one, (2, 3, 4)), one.broadcast_to(2, 3, 2)",
        "x.repeat(2, 1, 1), x.repeat(2, 1, 1, 3), line.repeat(2), line.repeat(2, 2)",
        "point.repeat(3), x.tile(2)",
        "x.tile((2, 1)), torch.tile(x, (2, 1, 1, 1)), x.repeat_interleave(2)",
        "x.repeat_interleave(2, 1)",
        "x.repeat_interleave(3, dim=-1), x.repeat_interleave(ints[0], 1)",
        "ints[0].repeat_interleave(ints[1])",
        "torch.broadcast_tensors(one, x), torch.broadcast_tensors(line, point)",
        "torch.meshgrid(line, x[0, 0], indexing='ij')",
        "torch.meshgrid(line, x[0, 0], indexing='xy')",
        "torch.meshgrid(line, line[:2], point), torch.cartesian_prod(line, line[:2])",
        "torch.cartesian_prod(line), torch.block_diag(matrix, line, point)",
        "torch.repeat_interleave(ints[0])",
        "torch.vander(line), torch.vander(line, 3, increasing=True)",
        x=x,
        one=one,
        point=point,
        line=line,
        ints=ints,
        matrix=matrix,
    )


def test_joins() -> None:
    check(
        "torch.cat([x, y]), torch.cat((x, y), 1), torch.cat([x, y, x], dim=-1), torch.cat([x])",
        "torch.cat([x, y.half()]), torch.cat([x, y.int()], 1), torch.cat([torch.zeros(0), line])",
        "torch.concat([x, y], 1), torch.concatenate([x, y], axis=2), torch.stack([x, y])",
        "torch.stack([x, y], 1), torch.stack([x, y], dim=-1), torch.stack([point, point])",
        "torch.hstack([x, y]), torch.vstack([matrix, matrix]), torch.dstack([x, y])",
        "torch.row_stack([line, line])",
        "torch.column_stack([line, line]), torch.hstack([line, line]), torch.vstack([line, line])",
        x=x,
        y=y,
        line=line,
        point=point,
        matrix=matrix,
    )


def test_splits() -> None:
    check(
        "x.chunk(2), x.chunk(2, 1), x.chunk(3, -1), x.chunk(5, 0), torch.chunk(x, 2, dim=2)",
        "x.split(1), x.split(2, 1), x.split([1, 2], 1), x.split((1, 3), -1)",
        "torch.split(x, 3, dim=2)",
        "x.split_with_sizes([1, 2], 1), x.unsafe_chunk(2), x.unsafe_split(2, 1)",
        "torch.unsafe_split(x, 2, 2)",
        "torch.tensor_split(x, 2, 1), torch.tensor_split(x, (1, 2), 1), x.tensor_split(3, -1)",
        "torch.tensor_split(x, [1], dim=0), x.unbind(), x.unbind(1), x.unbind(-1)",
        "x.hsplit(3), x.hsplit([1]), x.vsplit(2), x.vsplit([1]), x.dsplit(2), x.dsplit([1, 3])",
        "[a for a, b in [x.split(2, 1)]], x.chunk(2)[1], x.unbind(1)[-1]",
        "torch.tensor_split(x, torch.tensor([1, 2]), 1), x.tensor_split(torch.tensor(3), dim=-1)",
        "torch.tensor_split(x, torch.tensor([-1, 9]), 2)[1] * 2, x.tensor_split(torch.tensor([1]))",
        x=x,
    )


def test_where_it_splits_must_be_stored() -> None:
    why = refusal("torch.tensor_split(x, ints[0, :1] + 1, 1)", x=x, ints=ints)
    assert "where it splits depends on the values of tensors" in why


def test_parts() -> None:
    check(
        "x.narrow(1, 1, 2), x.narrow(-1, 0, 3), x.narrow(2, -2, 2), torch.narrow(x, 0, 0, 1)",
        "torch.narrow(x, 1, torch.tensor(1), 2), x.narrow(-1, torch.tensor(-3), 2)",
        "x.diagonal(), x.diagonal(1), x.diagonal(-1, 1, 2), torch.diagonal(x, dim1=0, dim2=2)",
        "torch.diag(line), torch.diag(line, 1), torch.diag(matrix), torch.diag(matrix, -1)",
        "torch.diag_embed(x), torch.diag_embed(x, 1, 0, 2), torch.diagflat(x)",
        "torch.diagflat(line, 1)",
        "torch.linalg.diagonal(x), torch.linalg.diagonal(x, offset=1, dim1=0, dim2=1)",
        "x.tril(), x.triu(), x.tril(1), x.triu(-1), torch.tril(matrix, diagonal=-1), ints.tril()",
        "x.unfold(1, 2, 1), x.unfold(-1, 3, 2), x.unfold(0, 2, 2), torch.take(x, ints)",
        x=x,
        line=line,
        matrix=matrix,
        ints=ints,
    )


def test_pairs_and_complex_numbers() -> None:
    check(
        "torch.view_as_real(wave), torch.view_as_complex(cube[..., :2].contiguous())",
        "torch.view_as_complex(x.reshape(2, 3, 2, 2)), torch.view_as_real(wave * 2)[..., 0]",
        "wave.real, wave.imag, torch.resolve_conj(wave.conj()), wave.conj().imag",
        "wave.resolve_neg()",
        wave=wave,
        x=x,
        cube=cube,
    )


def test_copies() -> None:
    check(
        "x.clone(), x.contiguous(), x.detach(), x.transpose(0, 1).contiguous(), +x",
        "cube.contiguous(memory_format=torch.channels_last)",
        "cube.to(memory_format=torch.channels_last)",
        "cube.clone(memory_format=torch.channels_last), torch.positive(x), x.view_as(y)",
        "x.expand_as(y)",
        *[
            f"torch.{name}"
            for name in (
                "view_copy(x, (6, 4))",
                "permute_copy(x, (2, 0, 1))",
                "transpose_copy(x, 0, 1)",
                "unsqueeze_copy(x, 0)",
                "squeeze_copy(x)",
                "select_copy(x, 0, 1)",
                "slice_copy(x, 1, 0, 2)",
                "expand_copy(x, (5, 2, 3, 4))",
                "unbind_copy(x, 1)",
                "split_copy(x, 2, 1)",
                "split_with_sizes_copy(x, [1, 2], 1)",
                "diagonal_copy(x)",
                "detach_copy(x)",
                "alias_copy(x)",
                "t_copy(x[0])",
                "unfold_copy(x, 1, 2, 1)",
                "view_as_real_copy(wave)",
            )
        ],
        x=x,
        y=y,
        cube=cube,
        wave=wave,
    )


def test_changes_of_a_part() -> None:
    check(
        "torch.slice_scatter(x, y[:, :2], 1, 0, 2), torch.slice_scatter(x, y[:, :1], 1, -1)",
        "torch.slice_scatter(x, y[..., ::2], dim=-1, start=0, end=4, step=2)",
        "torch.select_scatter(x, y[:, 0], 1, 2), torch.select_scatter(x, y[..., 0], -1, -1)",
        "torch.diagonal_scatter(x, y[0, :2, :1].expand(2, 4).t(), 0, 0, 1)",
        "torch.diagonal_scatter(x[0], y[0, 0, :3], 1)",
        x=x,
        y=y,
    )


@pytest.mark.filterwarnings("ignore:Tensor.* is deprecated on 0-D")
def test_what_has_no_dims_counts_as_if_it_had_one() -> None:
    """At both levels: passes follow dims too."""
    expressions = (
        "point.transpose(0, -1), point.squeeze(-1), point.swapaxes(0, 0), point.movedim(0, 0)",
        "point.mT, point.T, complex.mH, complex.mT, complex.H, point.permute(())",
        "F.softmax(point, 0), F.log_softmax(point, -1), F.softmin(point, 0)",
        "point.cumsum(0), point.sum(-1, keepdim=True), point.mean((0,)), point.max(-1)",
        "(y := point.clone(), y.transpose(0, -1).mul_(2), y + 1)",
    )
    check(*expressions, point=point, complex=torch.tensor(1 + 2j))
    check(*expressions, point=point, complex=torch.tensor(1 + 2j), how=How(optlevel=2))
