"""Small modules that pnnx converts right: between them every kind of line that it writes."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

MODULES: list[tuple[type[nn.Module], tuple[Tensor, ...]]] = []


def given(*inputs: Tensor) -> Callable[[type[nn.Module]], type[nn.Module]]:
    """Register a module and what it is traced with."""

    def decorate(module: type[nn.Module]) -> type[nn.Module]:
        MODULES.append((module, inputs))
        return module

    return decorate


def draw(*shape: int) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(0))


def draw_ints(*shape: int, dtype: torch.dtype = torch.long) -> Tensor:
    return torch.ones(shape, dtype=dtype)


@given(draw(3, 4), draw(3, 4))
class Expressions(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return (
            x // (y + 1), x % (y + 0.5), x.pow(y), 2**x, (x + 2).sqrt().rsqrt(), x.exp().log(),
            x.sin() + x.cos() + x.tan(), torch.atan2(x, y) - x.asin() * x.acos() / x.atan(),
            x.sinh() + x.cosh(), x.abs().neg().floor().ceil().round().trunc(),
            torch.maximum(x, y), torch.minimum(x, y), x.square() + (x + 1).reciprocal(),
            x.erf() + x.sign(), torch.fmod(x, y + 1), torch.logaddexp(x, y),
            torch.rsub(x, 1), torch.add(x, y, alpha=2), (x + 1).log10(), x * 1e-5 + 1e10 * x,
            x / 3, x * (1 + 2j), x * -1.5, x + 123456789, x * 0.333333343,
        )  # fmt: skip


@given(draw_ints(3, 4), draw_ints(3, 4))
class Integers(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return (
            x & y, x | y, x ^ y, x << 2, x >> 1, ~x, x // 3, x % 3, x == y, x != y, x < y, x <= 5,
            x > y, x >= 1, x / 2, x.float(), (x > 1) & (y > 1), torch.logical_xor(x, y),
        )  # fmt: skip


@given(draw(1, 4, 6))
class Shapes(nn.Module):
    def forward(self, x: Tensor) -> tuple[object, ...]:
        return (
            x.permute(0, 2, 1), x.transpose(0, 1), x.unsqueeze(1), x.squeeze(0), x.squeeze(),
            torch.flatten(x, 1), x.repeat(2, 1, 1), x.reshape(-1), x.view(1, -1),
            x.expand(3, -1, -1),
            torch.unbind(x, 1), torch.unbind(x, 0)[0], torch.stack([x, x], 1), torch.cat([x, x], 0),
            torch.flip(x, [1]), torch.roll(x, 1, 0), torch.tile(x, (2, 1)), x.unflatten(1, (2, 2)),
            torch.narrow(x, 1, 0, 2), torch.repeat_interleave(x, 2, 1), torch.chunk(x, 2, 1),
            torch.split(x, [1, 3], 1), torch.tensor_split(x, 3, 2), x.to(torch.double).type_as(x),
            (x + 1, (x * 2, [x, x - 1])),
        )  # fmt: skip


@given(draw(4, 4, 6), draw(4, 4, 6))
class Subscripts(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        z = x.clone()
        z[:, 1:3] = y[:, 1:3]
        z[0] = 2
        z[:, [0, 2]] = y[:, [0, 2]]
        z[z > 0.5] = 0
        return (
            x[1:], x[:, 1:3], x[..., ::2], x[:, 1], x[:, -1:, None], x[0, 1:, 2], x[:, [0, 2]],
            x[[0, 1], [1, 0]], x[x > 0.5], x[:, :-1], x[1:3, 1:3, ::2], x[:, y[0, :, 0] > 0.5], z,
        )  # fmt: skip


@given(draw(3, 4, 5))
class Reductions(nn.Module):
    def forward(self, x: Tensor) -> tuple[object, ...]:
        return (
            x.sum(), x.mean(1), x.max(), x.max(1), x.max(dim=1, keepdim=True)[0], x.min(1)[1],
            x.amax((1, 2)), x.argmax(1), x.argmin(), x.prod(1), x.std(1), x.var(1), x.norm(dim=1),
            torch.logsumexp(x, 1), x.cumsum(1), torch.topk(x, 2), torch.topk(x, 2)[0],
            x.norm(p=float("inf"), dim=1), torch.clamp(x, min=float("-inf"), max=1e-7),
            torch.where(x > 0.5, x, x * 2), torch.where(x > 0.5, x, torch.tensor(0.0)),
            x.masked_fill(x > 0.5, float("-inf")), torch.gather(x, 2, x.argmax(2, keepdim=True)),
        )  # fmt: skip


@given(draw(1, 4, 8, 8))
class Functions(nn.Module):
    def forward(self, x: Tensor) -> tuple[object, ...]:
        return (
            F.max_pool2d(x, 2), F.max_pool2d(x, 2, return_indices=True),
            F.adaptive_max_pool2d(x, (2, None)), F.adaptive_avg_pool2d(x, (None, 3)),
            F.avg_pool2d(x, 2, ceil_mode=True, count_include_pad=False), F.lp_pool2d(x, 2, 2),
            F.unfold(x, 3), F.pixel_shuffle(x, 2), F.interpolate(x, scale_factor=2),
            F.interpolate(x, size=(7, 9), mode="bilinear", align_corners=True),
            F.pad(x, (1, 2)), F.pad(x, (1, 2, 3, 3), mode="reflect"), F.pad(x, (1, 1), value=0.5),
            F.gelu(x, approximate="tanh"), F.softmax(x, 1), F.hardtanh(x), F.elu(x, 0.5),
            F.normalize(x), F.layer_norm(x, (8,), eps=1e-6), F.instance_norm(x),
            F.scaled_dot_product_attention(x, x, x), torch.matmul(x, x),
            torch.einsum("bcij,bcjk->bcik", x, x), torch.fft.rfft(x, norm="ortho").abs(),
        )  # fmt: skip


@given(draw(1, 4, 8, 8), draw_ints(2, 3))
class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Sequential(nn.Conv2d(4, 4, 3, padding="same", padding_mode="reflect"), nn.ReLU())
        )
        self.add_module("0", nn.ConvTranspose2d(4, 4, 3, 2))
        self.forward_ = nn.BatchNorm2d(4)
        self.norm = nn.GroupNorm(2, 4)
        self.norm_ = nn.InstanceNorm2d(4, affine=True, track_running_stats=True)
        self.norms = nn.ModuleList(
            [nn.LayerNorm(8), nn.RMSNorm(8), nn.BatchNorm2d(4, affine=False)]
        )
        self.embedding = nn.Embedding(10, 3, padding_idx=0)
        self.acts = nn.ModuleList([nn.PReLU(4), nn.Softmax(1), nn.Hardtanh(-2, 2), nn.GELU("tanh")])
        self.pools = nn.ModuleList([nn.MaxPool2d(2, return_indices=True), nn.AvgPool2d(2)])
        self.adaptive = nn.AdaptiveAvgPool2d((None, 2))
        self.sizes = nn.ModuleList(
            [nn.Upsample(scale_factor=2, mode="bilinear"), nn.PixelShuffle(2)]
        )
        self.linear = nn.Linear(8, 8, bias=False)

    def forward(self, x: Tensor, index: Tensor) -> tuple[object, ...]:
        every = [*self.norms, *self.acts, *self.pools, *self.sizes, self.norm, self.norm_]
        return (
            self.features(x), getattr(self, "0")(x), self.forward_(x), self.embedding(index),
            self.adaptive(x), self.linear(x), *[module(x) for module in every],
        )  # fmt: skip


@given(draw(2, 4, 5), draw(1, 4, 7), draw(2, 4, 14), draw(4, 4))
class Sequences(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(5, 7, batch_first=True)
        self.lstms = nn.LSTM(7, 6, num_layers=2, bidirectional=True, proj_size=3)
        self.states = nn.LSTM(5, 7)
        self.gru = nn.GRU(5, 7)
        self.rnn = nn.RNN(5, 7, nonlinearity="relu")
        self.weights = nn.MultiheadAttention(14, 2, batch_first=True)
        self.cross = nn.MultiheadAttention(
            14, 2, kdim=7, vdim=7, batch_first=True, add_bias_kv=True
        )
        self.masked = nn.MultiheadAttention(14, 2, batch_first=True)

    def forward(self, x: Tensor, state: Tensor, query: Tensor, mask: Tensor) -> tuple[object, ...]:
        sequence, (hidden, cell) = self.lstm(x)
        return (
            sequence, hidden, cell, self.lstms(sequence)[0], self.states(x, (state, state * 2)),
            self.gru(x, state), self.rnn(x)[0], self.weights(query, query, query),
            self.cross(query, sequence, sequence, need_weights=False)[0],
            self.masked(query, query, query, attn_mask=mask, need_weights=False)[0],
        )  # fmt: skip


@given(draw(3, 4))
class Stored(nn.Module):
    """Tensors of every dtype but two: of stored doubles pnnx dies, now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3, 4))
        for name, dtype in {
            "f16": torch.half, "bf16": torch.bfloat16, "c64": torch.complex64, "i8": torch.int8,
            "i16": torch.short, "i32": torch.int, "i64": torch.long, "u8": torch.uint8,
            "b": torch.bool,
        }.items():  # fmt: skip
            self.register_buffer(name, torch.arange(12).reshape(3, 4).to(dtype))
        self.register_buffer("scalar", torch.tensor(2.5))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        stored = (
            self.weight, self.f16, self.bf16, self.c64, self.i8, self.i16, self.i32, self.i64,
            self.u8, self.b,
        )  # fmt: skip
        return (x * self.scalar, *(torch.cat([x, one]) for one in stored))


@given(
    draw_ints(3, 4, dtype=torch.int),
    torch.ones(2, 3, dtype=torch.complex64),
    torch.ones(2, 3, dtype=torch.double),
    draw_ints(3, dtype=torch.uint8),
)
class Dtypes(nn.Module):
    def forward(self, i: Tensor, c: Tensor, d: Tensor, u: Tensor) -> tuple[Tensor, ...]:
        return i + 1, c.abs(), torch.real(c), d * 2, u + 1
