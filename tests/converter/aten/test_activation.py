"""Activations, softmax and dropout."""

from __future__ import annotations

import pytest
import torch
from equality import AS_EXPORTED, check, refusal
from torch import nn

torch.manual_seed(0)
x = torch.randn(2, 6, 4) * 4
half = x.half()
double = x.double()
image = torch.randn(1, 3, 4, 4)
calls = (
    *("celu({0})", "celu({0}, 0.5)", "elu({0})", "elu({0}, 0.3)", "gelu({0})", "glu({0})"),
    *("gelu({0}, approximate='tanh')", "glu({0}, 1)", "hardshrink({0})", "hardshrink({0}, 1.2)"),
    *("hardsigmoid({0})", "hardswish({0})", "hardtanh({0})", "hardtanh({0}, -2, 0.5)"),
    *("leaky_relu({0})", "leaky_relu({0}, 0.3)", "logsigmoid({0})", "mish({0})", "relu({0})"),
    *("relu6({0})", "rrelu({0})", "rrelu({0}, 0.1, 0.2)", "selu({0})", "sigmoid({0})"),
    *("silu({0})", "softplus({0})", "softplus({0}, 2, 5)", "softshrink({0})"),
    *("softshrink({0}, 1)", "softsign({0})", "tanh({0})", "tanhshrink({0})"),
    *("threshold({0}, 0.5, -1)", "softmin({0}, dim=1)", "softmax({0}, dim=-1)"),
    *("softmax({0}, 0)", "log_softmax({0}, 1)"),
)


def test_functions() -> None:
    check(
        *[f"F.{call.format('x')}" for call in calls],
        "F.relu(x.int()), F.relu6(x.int()), F.hardtanh(x.int(), -1, 2), F.threshold(x.int(), 2, 3)",
        "torch.relu(x), torch.sigmoid(x), torch.tanh(x), torch.selu(x), torch.celu(x)",
        x=x,
    )
    check(
        *[f"F.{call.format(tensor)}" for call in calls for tensor in ("half", "double")],
        half=half,
        double=double,
        how=AS_EXPORTED,
    )


def test_softmax_dtypes() -> None:
    check(
        "F.softmax(half, 1, dtype=torch.float), F.log_softmax(x, 1, dtype=torch.double)",
        "torch.softmax(x, 0), torch.log_softmax(x, -1), torch.special.softmax(x, 1)",
        "torch.special.log_softmax(x, 1, dtype=torch.double), F.softmax(x, 1, dtype=torch.float)",
        "F.softmin(half, 1, dtype=torch.float), F.softmax(x.int(), 1, dtype=torch.float)",
        x=x,
        half=half,
    )


def test_prelu() -> None:
    check(
        "F.prelu(x, one), F.prelu(x, six), single(x), several(image), F.prelu(six, one)",
        "F.prelu(x, one * 2), F.prelu(x[:, :, 0], six), torch.prelu(x, six)",
        x=x,
        image=image,
        one=torch.tensor([0.3]),
        six=torch.randn(6),
        single=nn.PReLU(),
        several=nn.PReLU(3),
    )


def test_in_place() -> None:
    check(
        "[a := x + 0, F.elu(a, inplace=True), F.selu(a, inplace=True), F.celu(a, inplace=True), a]",
        "[a := x + 0, F.hardtanh(a, inplace=True), F.hardswish(a, inplace=True), a]",
        "[a := x + 0, F.leaky_relu(a, inplace=True), F.silu(a, inplace=True), a]",
        "[a := x + 0, F.mish(a, inplace=True), a]",
        "[a := x + 0, F.relu6(a, inplace=True), F.hardsigmoid(a, inplace=True), a]",
        "[a := x + 0, F.threshold(a, 0.1, 2, inplace=True), F.rrelu(a, inplace=True), a]",
        "[a := x + 0, torch.relu_(a), torch.tanh_(a), torch.sigmoid_(a), a]",
        x=x,
    )


def test_dropout() -> None:
    check(
        "F.dropout(x, 0.5, False), F.alpha_dropout(x, 0.5), F.feature_alpha_dropout(x, 0.5)",
        "F.dropout2d(image, 0.5, False), F.dropout1d(x, 0.5, False), F.dropout(x, 0.0, True)",
        "drop(x)",
        "torch.native_dropout(x, 0.5, False)[0]",
        x=x,
        image=image,
        drop=nn.Dropout(0.5),
    )


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("F.dropout(x, 0.5)", "it is random in training mode"),
        ("F.rrelu(x, training=True)", "training mode"),
        ("torch.native_dropout(x, 0.5, True)[0]", "it is random in training mode"),
    ],
)
def test_randomness_is_refused(expression: str, reason: str) -> None:
    assert reason in refusal(expression, x=x)
