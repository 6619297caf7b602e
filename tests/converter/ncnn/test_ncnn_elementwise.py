"""Activations and arithmetic compute what eager does, far from zero too."""

from pathlib import Path

import pytest
import torch
from ncnn_runs import Calls, check

from converter.ncnn.arithmetic import UNARY as OPERATIONS
from converter.ncnn.expression import UNARY_CONSTANTS

nn, F = torch.nn, torch.nn.functional

ACTIVATIONS = [
    nn.ReLU(),
    nn.ReLU6(),
    nn.LeakyReLU(0.2),
    nn.ELU(1.5),
    nn.CELU(1.7),
    nn.SELU(),
    nn.GELU(),
    nn.GELU(approximate="tanh"),
    nn.Hardtanh(-0.3, 0.4),
    nn.Hardsigmoid(),
    nn.Hardswish(),
    nn.SiLU(),
    nn.Mish(),
    nn.Sigmoid(),
    nn.LogSigmoid(),
    nn.Tanh(),
    nn.Softplus(),
    nn.Softplus(2, 18),
    nn.Softplus(0.7, 15),
    nn.Softshrink(0.2),
    nn.Hardshrink(0.3),
    nn.Softsign(),
    nn.Tanhshrink(),
    nn.PReLU(),
    nn.PReLU(4),
    nn.RReLU(),
    nn.Softmax(0),
    nn.Softmax(-1),
    nn.LogSoftmax(2),
    nn.Softmin(1),
    nn.GLU(1),
    nn.Dropout(),
    nn.AlphaDropout(),
    nn.Identity(),
]
FUNCTIONS = [
    F.relu,
    F.relu6,
    lambda x: F.leaky_relu(x, 0.3),
    lambda x: F.elu(x, 0.4),
    lambda x: F.celu(x, 1.2),
    F.selu,
    F.gelu,
    lambda x: F.gelu(x, approximate="tanh"),
    lambda x: F.hardtanh(x, -0.1, 0.4),
    F.hardsigmoid,
    F.hardswish,
    F.silu,
    F.mish,
    torch.sigmoid,
    F.logsigmoid,
    torch.tanh,
    lambda x: F.softplus(x, 2, 17),
    lambda x: F.softplus(x, threshold=0.1),
    lambda x: F.softplus(x, 3, -1),
    lambda x: F.softshrink(x, 0.1),
    lambda x: F.hardshrink(x, 0.2),
    F.softsign,
    F.tanhshrink,
    lambda x: F.glu(x, 1),
    lambda x: F.softmax(x, 1),
    lambda x: F.log_softmax(x, -1),
    lambda x: F.softmin(x, 1),
    lambda x: F.normalize(x),
    lambda x: F.normalize(x, dim=0),
    lambda x: F.normalize(x, p=1, dim=2),
    lambda x: F.dropout(x, training=False),
    lambda x: F.prelu(x, torch.tensor([0.3])),
    lambda x: torch.clamp(x, -0.2, 0.7),
    lambda x: torch.clamp(x, min=0.2),
    lambda x: torch.clamp(x, max=0.2),
]


@pytest.mark.parametrize("calls", [ACTIVATIONS, FUNCTIONS], ids=["modules", "functions"])
@pytest.mark.parametrize("scale", [1, 60])
def test_activations(calls: list[object], scale: float, tmp_path: Path) -> None:
    torch.manual_seed(0)
    # Mish rounds 1 + exp(x) before its logarithm: off by as much as x epsilons.
    check(Calls(*calls), torch.randn(3, 4, 6) * scale, folder=tmp_path, atol=4e-6 * scale)


def test_prelu_of_channels_and_of_an_input(tmp_path: Path) -> None:
    torch.manual_seed(0)
    check(
        Calls(nn.PReLU(4), nn.Softmax2d()),
        torch.randn(2, 4, 5, 6),
        folder=tmp_path,
    )
    check(
        Calls(lambda x, w: F.prelu(x, w), lambda x, w: F.prelu(x, w[:1])),
        torch.randn(2, 4, 5, 6),
        torch.randn(4),
        folder=tmp_path,
    )


def test_bounds_that_are_tensors(tmp_path: Path) -> None:
    torch.manual_seed(0)
    calls = Calls(
        lambda x, low, high: torch.clamp(x, low, high),
        lambda x, low, high: torch.clamp(x, min=low),
        lambda x, low, high: torch.clamp(low, max=x),
        lambda x, low, high: torch.clamp(torch.clamp(high, min=x), max=0.5),
    )
    shapes = [(3, 4, 6), (4, 1), (6,)]
    check(calls, *map(torch.randn, shapes), folder=tmp_path)


UNARY = [
    torch.abs,
    torch.acos,
    torch.asin,
    torch.asinh,
    torch.atan,
    torch.atanh,
    torch.ceil,
    torch.cos,
    torch.cosh,
    torch.erf,
    torch.exp,
    torch.expm1,
    torch.floor,
    torch.neg,
    torch.reciprocal,
    torch.round,
    torch.sign,
    torch.sin,
    torch.sinh,
    torch.square,
    torch.tan,
    torch.tanh,
    torch.trunc,
    lambda x: torch.log(x.abs()),
    lambda x: torch.log10(x.abs()),
    torch.log1p,
    lambda x: torch.rsqrt(x.abs()),
    torch.sqrt,
    lambda x: torch.acosh(x.abs() + 1),
]


def test_unary(tmp_path: Path) -> None:
    torch.manual_seed(0)
    check(Calls(*UNARY), torch.rand(2, 3, 4) * 1.98 - 0.99, folder=tmp_path)


def test_numbers_alone_are_computed_as_tensors_are() -> None:
    assert UNARY_CONSTANTS.keys() == {*OPERATIONS, "erf"}
    for word, compute in UNARY_CONSTANTS.items():
        for value in (2.5, 1.0) if word == "acosh" else (0.5, 0.8):
            expected = getattr(torch, word)(torch.tensor(value, dtype=torch.float64))
            torch.testing.assert_close(float(compute(value)), float(expected))


def test_outside_of_their_domains(tmp_path: Path) -> None:
    calls = [torch.acosh, torch.acos, torch.asin, torch.atanh, torch.log, torch.log1p, torch.sqrt]
    check(Calls(*calls), torch.linspace(-5.3, 3.1, 23), folder=tmp_path, rtol=1e-4)


def test_halves_are_rounded_to_even(tmp_path: Path) -> None:
    check(Calls(torch.round, torch.trunc, torch.sign), torch.arange(-9, 9) / 2, folder=tmp_path)


POWERS = [0, 2, 3, -1, -3, 5, 16, 20, 21, 0.5, -0.5, 1.7, -1.5]


def test_powers_of_positive_and_negative_numbers(tmp_path: Path) -> None:
    torch.manual_seed(0)
    powers = [lambda x, p=power: torch.pow(x, p) for power in POWERS]
    check(
        Calls(*powers, lambda x: torch.pow(2, x), lambda x: 0.3**x),
        torch.randn(2, 3, 4),
        folder=tmp_path,
        rtol=1e-4,  # exp(y log(x)) multiplies the rounding of the logarithm by y, up to 21
    )


def test_powers_of_zero(tmp_path: Path) -> None:
    powers = [lambda x, p=power: torch.pow(x, p) for power in POWERS if power >= 0]
    check(Calls(*powers), torch.zeros(9), folder=tmp_path)


def test_powers_of_tensors(tmp_path: Path) -> None:
    torch.manual_seed(0)
    check(
        Calls(lambda x, y: torch.pow(x, y), lambda x, y: torch.pow(x, torch.round(y * 3))),
        torch.randn(4, 8),
        torch.randn(4, 8),
        folder=tmp_path,
        rtol=1e-4,
    )


BINARY = [
    torch.add,
    torch.sub,
    torch.mul,
    torch.div,
    torch.maximum,
    torch.minimum,
    torch.atan2,
    torch.fmod,
    torch.remainder,
    torch.floor_divide,
    torch.max,
    torch.min,
    torch.rsub,
    torch.logaddexp,
]
BROADCAST = [
    lambda a, b, c, d: a + c,
    lambda a, b, c, d: d - a,
    lambda a, b, c, d: torch.add(a, b, alpha=2),
    lambda a, b, c, d: 1 - a,
    lambda a, b, c, d: 3 / a,
    lambda a, b, c, d: a + torch.tensor(2.0),
    lambda a, b, c, d: a * torch.tensor([[2.0], [3.0], [4.0]]),
    lambda a, b, c, d: a * 2 + b * 3 + c,
    lambda a, b, c, d: torch.remainder(a, 0.3),
    lambda a, b, c, d: torch.remainder(a, -0.3),
    lambda a, b, c, d: torch.fmod(a, -0.3),
    lambda a, b, c, d: torch.floor_divide(2.0, a),
    lambda a, b, c, d: c[:, :1] * d,
    lambda a, b, c, d: a[:, :1] + c,
]


def test_binary(tmp_path: Path) -> None:
    torch.manual_seed(0)
    calls = [lambda a, b, c, d, f=function: f(a, b) for function in BINARY]
    shapes = [(2, 3, 4), (2, 3, 4), (3, 4), (4,)]
    check(Calls(*calls, *BROADCAST), *map(torch.randn, shapes), folder=tmp_path)
