"""In-place operators: on tensors, on views of them, between dtypes; what is refused."""

from __future__ import annotations

import pytest
import torch
from equality import AS_EXPORTED, How, check, refusal
from torch import nn

from suites.compare import arithmetic

torch.manual_seed(0)
x = torch.randn(2, 3, 4)
y = torch.randn(2, 3, 4)
half = torch.randn(2, 3, 4).half()
mask = x > 0
rows = torch.tensor([2, 0])
ints = torch.randint(-5, 5, (2, 3, 4))
small = ints.int()
wave = torch.complex(x, y)


def test_every_name_of_a_written_tensor_means_the_result() -> None:
    check(
        "[a := x + 0, b := a.add_(1), a.mul_(2), b]",
        "[a := x + 0, b := a.relu_(), a, b.neg_()]",
        "[a := x + 0, a.add_(y, alpha=2), a]",
        "[a := x + 0, a.sub_(a), a]",
        "[a := x + 0, F.relu(a, inplace=True), a]",
        "[a := x + 0, F.dropout(a, 0.5, training=False, inplace=True), a]",
        "[a := x + 0, a.copy_(y), a]",
        "[a := x + 0, a.copy_(0.1), a, b := x.half(), b.copy_(0.1), b]",
        "[a := x + 0, a.copy_(y[:1, :, :1]), a]",
        "[a := x + 0, a.fill_(2), a]",
        "[a := x + 0, a.fill_(y[0, 0, 0]), a]",
        "[a := x + 0, a.zero_(), a]",
        "[a := x + 0, a.clamp_(0, 1), a.clamp_(max=0.5), a.clamp_min_(0.2), a]",
        "[a := x + 0, a.masked_fill_(mask, 2), a.masked_fill_(~mask, y[0, 0, 0]), a]",
        "[a := x + 0, a.index_put_((rows % 2,), y), a]",
        "[a := x + 0, a.index_put_((ints[0, 0] % 2,), y[0, 0, 0], accumulate=True), a]",
        "[a := x + 0, a.index_fill_(1, rows, 3.0), a]",
        "[a := x + 0, a.index_copy_(1, rows, y[:, :2]), a]",
        "[a := x + 0, a.index_add_(1, rows, y[:, :2], alpha=2), a]",
        "[a := x + 0, a.scatter_(1, ints % 3, y), a.scatter_(1, ints % 3, 2.0), a]",
        "[a := x + 0, a.scatter_add_(1, ints % 3, y), a]",
        "[a := x + 0, a.lerp_(y, 0.3), a.addcmul_(x, y, value=2), a.addcdiv_(x, y), a]",
        "[a := x + 0, a.tril_(), a]",
        "[a := x + 0, a.floor_(), a.sigmoid_(), a.exp_(), a.sqrt_(), a.pow_(2), a]",
        "[a := x + 0, a.__setitem__(mask, 0), a]",
        "[a := x + 0, a.__setitem__(0, 1), a]",
        "[a := x + 0, a.__setitem__((..., rows), y[..., :2]), a]",
        x=x,
        y=y,
        mask=mask,
        rows=rows,
        ints=ints,
    )


def test_writes_reach_what_shares_the_memory() -> None:
    check(
        "[a := x + 0, b := a[0], b.mul_(2), a, b]",
        "[a := x + 0, b := a.expand_as(y), b.add_(1), a]",
        "[a := x + 0, b := a.real, b.add_(1), a]",
        "[a := x + 0, a.ldexp_(y)]",
        "[a := x + 0, b := a[:, 1], a.add_(1), b]",
        "[a := x + 0, b := a[-1, 1:, ::2], b.neg_(), a, a[1], b]",
        "[a := x + 0, b := a[:, -2:-1], b.zero_(), a]",
        "[a := x + 0, b := a[:, 1:100], b.fill_(3), a]",
        "[a := x + 0, b := a.narrow(2, 1, 2), b.add_(1), a]",
        "[a := x + 0, b := a.narrow(2, -2, 2), b.add_(1), a]",
        "[a := x + 0, b := a.view(6, 4), b.relu_(), a]",
        "[a := x + 0, b := a.reshape(4, 6)[1], b.relu_(), a]",
        "[a := x + 0, b := a.flatten(1), b.add_(1), a, b]",
        "[a := x + 0, b := a.unflatten(2, (2, 2))[:, :, 1], b.add_(1), a]",
        "[a := x + 0, b := a.unsqueeze(1)[:, 0], b.add_(1), a]",
        "[a := x[:1] + 0, b := a.squeeze(0), b.add_(1), a]",
        "[a := x + 0, b := a.permute(2, 0, 1), b.add_(y.permute(2, 0, 1)), a]",
        "[a := x + 0, b := a.transpose(0, -1)[1:3], b.add_(1), a.mul_(2), a, b]",
        "[a := x + 0, b := a.movedim((0, 1), (2, 0)), b.add_(y.movedim((0, 1), (2, 0))), a]",
        "[a := x + 0, b := a.movedim(-1, 0), b.mul_(y.movedim(-1, 0)), a]",
        "[a := x[0] + 0, b := a.t(), b[0].add_(1), a]",
        "[a := x[0] + 0, b := a.T, b[0].add_(1), a.mT]",
        "[a := x + 0, b := a.mT, b[0].add_(1), a]",
        "[a := x + 0, b := a.swapaxes(0, 1), b[0].add_(1), a]",
        "[a := x + 0, b := a.chunk(2, dim=2), b[1].add_(1), b[0].mul_(2), a]",
        "[a := x + 0, b := a.split(2, dim=1), b[1].add_(1), b[0].mul_(2), a]",
        "[a := x + 0, b := a.split([1, 2], dim=-2), b[1].add_(1), a]",
        "[a := x + 0, b := a.tensor_split(3, dim=2), b[1].add_(1), a]",
        "[a := x + 0, b := a.unbind(1), b[1].add_(1), b[0].copy_(b[2]), a]",
        "[a := x[0] + 0, b := a.diagonal(1), b.add_(1), a]",
        "[a := x + 0, b := a.diagonal(0, 1, 2), b.zero_(), a]",
        "[a := x + 0, b := a.detach(), b.add_(1), a]",
        "[a := x + 0, b := a.contiguous(), b.add_(1), a]",
        "[a := x + 0, b := a.transpose(0, 1).contiguous(), b.add_(1), a, b]",
        "[a := x + 0, b := a.transpose(0, 1).reshape(6, 4), b.add_(1), a, b]",
        "[a := x + 0, b := a.transpose(0, 1).flatten(), b.add_(1), a, b]",
        "[a := x + 0, b := a.float(), b.add_(1), a]",
        "[a := x + 0, b := a.to(torch.float, copy=True), b.add_(1), a]",
        "[a := x + 0, b := a.double(), b.add_(1), a]",
        "[a := x + 0, b := a.type_as(y), b.add_(1), a]",
        "[a := x + 0, b := a.clone(), b.add_(1), a]",
        "[a := x + 0, b := F.dropout(a, 0.5, training=False), b.add_(1), a]",
        "[a := x + 0, b := a.expand_as(y), a.add_(1), b]",
        "[a := x[:1] + 0, b := a.expand(2, 3, 4), a.add_(1), b]",
        "[a := x + 0, a[0].__setitem__((slice(1, 3), 0), 1), a]",
        "[a := x + 0, a[:, 0].copy_(a[:, 1]), a]",
        x=x,
        y=y,
    )


def test_writes_through_views_of_complex_tensors() -> None:
    check(
        "[a := wave + 0, b := torch.view_as_real(a), b[..., 0].add_(1), a]",
        "[a := torch.view_as_real(wave) + 0, b := torch.view_as_complex(a), b.mul_(1j), a]",
        "[a := wave + 0, b := a.real, b.add_(x), a, b]",
        "[a := wave + 0, a.imag[0].mul_(2), a.real.zero_(), a]",
        "[a := wave + 0, a.imag, a.mul_(1j), a.imag]",
        wave=wave,
        x=x,
    )


def test_writes_through_conjugates() -> None:
    """Those that are only marked: what is copied of them is not written through."""
    check(
        "[a := wave + 0, b := a.conj(), b.add_(1j), a, b]",
        "[a := wave + 0, b := a.mH, b[0].add_(1j), a, b]",
        "[a := wave[0] + 0, b := a.H, b[0].add_(1j), a, b]",
        "[a := wave + 0, b := a.adjoint(), b[0].mul_(1j), a, b]",
        "[a := wave + 0, b := a.conj().imag, b.add_(x), a, b]",
        "[a := wave + 0, b := a.conj().real, b.add_(x), a, b]",
        "[a := wave + 0, b := a.conj().imag.neg(), b.add_(x), a, b]",
        "[a := wave + 0, b := a.resolve_conj(), b.add_(1j), a, b]",
        "[a := wave + 0, b := a.conj().resolve_conj(), b.add_(1j), a, b]",
        "[a := wave + 0, b := a.conj().conj().resolve_conj(), b.add_(1j), a, b]",
        "[a := wave + 0, b := a.conj().imag.resolve_neg(), b.add_(x), a, b]",
        "[a := wave + 0, b := a.conj().real.resolve_neg(), b.add_(x), a, b]",
        "[a := wave + 0, b := a.conj().flatten(), b.mul_(1j), a, b]",
        "[a := wave + 0, b := a.mT.conj().flatten(), b.mul_(1j), a, b]",
        "[a := wave + 0, b := a.conj().contiguous(), b.mul_(1j), a, b]",
        "[a := wave + 0, b := a.conj(), torch.mul(wave, 2j, out=b), a, b]",
        "[a := torch.view_as_real(wave) + 0, torch.view_as_complex(a).conj().add_(1j), a]",
        "[a := x + 0, b := a.mH, b[0].add_(1), a]",
        wave=wave,
        x=x,
    )


def test_conjugates_are_worked_out_where_they_must_be() -> None:
    check(
        "torch.view_as_real(wave.conj().resolve_conj())",
        "torch.view_as_real(wave.mH[0].resolve_conj())",
        "wave.conj().resolve_conj().view(torch.float)",
        "wave.conj().imag.resolve_neg().view(torch.int)",
        wave=wave,
    )


def test_out_is_written() -> None:
    check(
        "[a := x * 0, torch.add(x, y, out=a), a]",
        "[a := x * 0, b := torch.add(x, y, alpha=2, out=a), a.mul_(2), b]",
        "[a := torch.empty(0), torch.add(x, y, out=a), a + 1]",
        "[a := x[0] + 0, torch.mul(y[0, 1:], 2, out=a[1:]), a]",
        "[a := x + 0, b := a[0], torch.sub(x, y, out=a), b]",
        "[a := x + 0, torch.exp(a, out=a), torch.clamp(a, 0, 2, out=a), a]",
        "[a := torch.zeros(4, 3, 2), torch.add(x.mT, y.mT, out=a.transpose(0, 2).mT), a]",
        "[a := torch.zeros(4, 3, 4), torch.cat([x, y], out=a), torch.cat([y, x], 0, out=a), a]",
        "[a := torch.zeros(2, 4), torch.sum(x, 1, out=a), torch.mean(x, dim=1, out=a), a]",
        "[a := torch.zeros(2, 3, 3), torch.matmul(x, y.mT, out=a), torch.bmm(x, y.mT, out=a), a]",
        "[a := mask.clone(), torch.gt(x, y, out=a), a, torch.isposinf(x, out=a), a]",
        "[a := torch.zeros(2, 3, 4), torch.gt(x, y, out=a), a]",
        "[a := ints * 0, torch.gt(x, y, out=a), torch.add(a, ints, out=a), a]",
        "[a := ints[:, 0] * 0, torch.argmax(x, 1, out=a), torch.sum(ints, 1, out=a), a]",
        "[a := small[:, 0] * 0, torch.sum(small, 1, out=a), torch.sum(mask, 1, out=a), a]",
        "[a := torch.zeros(2, 4).double(), torch.sum(x, 1, out=a), torch.mean(x, 1, out=a), a]",
        "[a := half * 0, torch.mul(half, 3, out=a), torch.softmax(half, 1, out=a), a]",
        "[a := torch.zeros(2, 4), b := ints[:, 0] * 0, torch.max(x, 1, out=(a, b))[1], a, b]",
        "[a := x * 0, b := ints * 0, tuple(torch.sort(x, out=(a, b))), a, b]",
        "[a := x[0, 0] * 0, torch.arange(4, out=a), a, torch.full((4,), 2, out=a), a]",
        "[a := ints[0, 0] * 0, torch.arange(4, out=a), torch.zeros(4, out=a), a]",
        "[a := x + 0, b := torch.zeros(1, 3, 4), torch.index_select(a, 0, rows[1:], out=b), b]",
        "[a := x * 0, torch.where(mask, x, y, out=a), torch.div(a, y, out=a), a]",
        "[a := x * 0, torch.div(x, y, rounding_mode='floor', out=a), torch.pow(a, 2, out=a), a]",
        "[a := x[..., 0] * 0, torch.norm(x, dim=2, out=a), torch.std(x, 2, out=a), a]",
        "[a := wave * 0, torch.mul(wave, wave, out=a), a]",
        x=x,
        y=y,
        mask=mask,
        ints=ints,
        small=small,
        half=half,
        rows=rows,
        wave=wave,
        how=How(rule=arithmetic),
    )


def test_twins_of_other_argument_orders_and_of_their_own() -> None:
    """Decomposed, a diagonal is told by places in memory, and PyTorch refuses polygamma_."""
    check(
        "[a := x.abs() + 3, a.polygamma_(1), a]",
        "[a := x[0] + 0, a.fill_diagonal_(3), a]",
        "[a := x[0].mT + 0, a.fill_diagonal_(3), a]",
        "[a := torch.zeros(7, 3) + y[0, 0, :3], a.fill_diagonal_(2.5), a]",
        "[a := torch.zeros(7, 3) + y[0, 0, :3], a.fill_diagonal_(2.5, wrap=True), a]",
        "[a := torch.zeros(4, 3) + y[0, 0, :3], a.fill_diagonal_(2.5, True), a]",
        "[a := x[0] + 0, a.fill_diagonal_(3, wrap=True), a]",
        "[a := torch.zeros(3, 3, 3) + y[0, 0, :3], b := a[1], a.fill_diagonal_(1), a, b]",
        "[a := ints[:, :2, :2] + 0, a[0].fill_diagonal_(1), a.mT[1].fill_diagonal_(7), a]",
        "[a := mask[0].clone(), a.fill_diagonal_(True), a]",
        "[a := wave[0] + 0, a.fill_diagonal_(2j), a]",
        x=x,
        y=y,
        ints=ints,
        mask=mask,
        wave=wave,
        how=AS_EXPORTED,
    )


def test_views_that_take_the_place_of_a_tensor() -> None:
    check(
        "[a := x + 0, b := a[0], a.unsqueeze_(0), b.add_(1), a, b]",
        "[a := x + 0, a.transpose_(0, 1), a.add_(1), a]",
        "[a := x[:1] + 0, a.squeeze_(0), a]",
        "[a := x[0] + 0, a.t_(), a]",
        "[a := x + 0, a.detach_(), a.add_(1), a]",
        x=x,
    )


def test_the_dtype_of_what_is_written_to_stays() -> None:
    check(
        "[a := half + 0, a.add_(x), a]",
        "[a := half + 0, a.mul_(x), a.div_(x), a.sub_(x, alpha=2), a]",
        "[a := half + 0, a.lerp_(half, 0.5), a]",
        "[a := half + 0, a.copy_(x), a]",
        "[a := half + 0, a[0].copy_(x[0]), a]",
        "[a := half + 0, a[0].fill_(1 / 3), a]",
        "[a := half + 0, a.add_(x[0, 0, 0]), a]",
        "[a := half + 0, a.masked_fill_(mask, x[0, 0, 0]), a]",
        "[a := small + 0, a.add_(ints), a.mul_(ints), a]",
        "[a := small + 0, a.floor_divide_(3), a.remainder_(ints * 0 + 4), a]",
        "[a := small + 0, a.div_(2, rounding_mode='floor'), a]",
        "[a := small + 0, a.cumsum_(1), a]",
        "[a := small + 0, a.copy_(x * 3), a]",
        "[a := small + 0, a.fill_(2.7), a]",
        "[a := x + 0, a.gt_(0.5), a.eq_(mask), a]",
        "[a := ints + 0, a.logical_and_(mask), a.logical_not_(), a]",
        "[a := ints + 0, a.bitwise_and_(6), a.__iand__(ints), a]",
        "[a := mask.clone(), a.__ior__(~mask), a.__ixor__(mask), a]",
        x=x,
        half=half,
        small=small,
        ints=ints,
        mask=mask,
    )


@pytest.mark.parametrize(
    "expression",
    ["[x.add_(1), x]", "[x[0].mul_(2), x]", "[x.view(-1).relu_(), x * 1]", "[x.zero_(), x]"],
)
def test_inputs_may_be_written(expression: str) -> None:
    check(expression, x=x)


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count[0].add_(1)
        return x + self.count


def test_what_the_model_keeps_is_not_written() -> None:
    why = refusal("counter(x[0, 0, :2])", x=x, counter=Counter())
    assert "the results depend on counter.count, which the model changes" in why
    assert "self.count[0].add_(1)" in why


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("[a := x[:1] + 0, b := a.expand(2, 3, 4)[1, 0], b.add_(1), a]", "aten.expand.default"),
        ("[a := x + 0, b := a.unfold(1, 2, 1)[0, 0], b.add_(1), a]", "aten.unfold.default"),
        ("[a := x + 0, b := a.view(torch.int), b.add_(1), a]", "aten.view.dtype"),
        ("[a := x + 0, torch._foreach_add_([a], [x]), a]", "aten._foreach_add"),
        ("[a := x.double(), torch.add(x, x, out=a), a]", "out= has another dtype"),
        ("[a := x.long(), torch.add(a, x.int(), out=x), x]", "out= has another dtype"),
        ("[a := x + 0, b := a[0], torch.exp(a[:1], out=a), b]", "it resizes out="),
        ("[a := x + 0, a.random_(), a]", "it is random"),
        ("[a := x[0].t(), a.fill_diagonal_(1, wrap=True), a]", "how the tensor lies in memory"),
        ("[a := x + 0, torch._foreach_exp_([a]), a]", "call the operator on each tensor"),
        (
            "[a := x + 0, b := torch.einsum('abc->cba', a), b.add_(1), a]",
            "whose memory add may share and is read later",
        ),
        (
            "[a := x[0, 0, :1] + 0, b := torch.meshgrid(a, a), b[0].add_(1), b[1]]",
            "may share and is read later",
        ),
    ],
)
def test_writes_that_are_refused(expression: str, reason: str) -> None:
    assert reason in refusal(expression, x=x)


def test_products_of_several_tensors_are_new_ones() -> None:
    check("[b := torch.einsum('abc,abd->acd', x, x), b.mul_(2), x, b]", x=x)
    check("[a := x[0, 0], b := torch.cartesian_prod(a, a), b.add_(1), a, b]", x=x)
    check("[a := x[0], b := torch.linalg.multi_dot((a, a.t(), a)), b.add_(1), a, b]", x=x)


def test_a_write_is_right_where_doubtful_names_are_not_read_again() -> None:
    check("torch.einsum('abc->cba', x + 0).add_(1)", x=x)
