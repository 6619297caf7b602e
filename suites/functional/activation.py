"""Activations of torch.nn.functional, on every rank from 2 to 5."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from suites.case import Tolerance, case

RANKS = [(1, 16), (12, 2, 16), (1, 3, 12, 16), (1, 5, 7, 9, 11)]
NCNN_RANKS = [*RANKS[:3], (5, 7, 9, 11)]
"""ncnn has four dims at most and no batch among them."""


def around_zero(*tensors):
    """From [0, 1) to [-4, 4), where activations have their bends."""
    return [tensor * 8 - 4 for tensor in tensors]


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_relu(nn.Module):
    def forward(self, x, y, z, w):
        return F.relu(x * 2 - 1), F.relu(y * 2 - 1), F.relu(z * 2 - 1), F.relu(w * 2 - 1)


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_relu6(nn.Module):
    def forward(self, x, y, z, w):
        return (
            F.relu6(x * 16 - 8),
            F.relu6(y * 16 - 8),
            F.relu6(z * 16 - 8, inplace=True),
            F.relu6(w * 16 - 8),
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_elu(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return F.elu(x), F.elu(y, 1.2), F.elu(z, alpha=0.3), F.elu(w, alpha=2.0, inplace=True)


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_selu(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return F.selu(x), F.selu(y), F.selu(z, inplace=True), F.selu(w)


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_celu(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return F.celu(x), F.celu(y, 1.2), F.celu(z, alpha=0.4), F.celu(w, alpha=2.0)


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_leaky_relu(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return (
            F.leaky_relu(x),
            F.leaky_relu(y, 0.1),
            F.leaky_relu(z, negative_slope=-0.2),
            F.leaky_relu(w, negative_slope=0.3, inplace=True),
        )


@case(inputs=RANKS, targets=("pnnx", "ncnn"))
class F_prelu(nn.Module):
    """One slope for all channels and one for each; channels are dim 1, whatever the rank."""

    def __init__(self):
        super().__init__()
        self.slopes_16 = nn.Parameter(torch.rand(16))
        self.slopes_2 = nn.Parameter(torch.rand(2))
        self.slope = nn.Parameter(torch.rand(1))
        self.slopes_5 = nn.Parameter(torch.rand(5))

    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return (
            F.prelu(x, self.slopes_16),
            F.prelu(y, self.slopes_2),
            F.prelu(z, self.slope),
            F.prelu(w, weight=self.slopes_5),
        )


@case(
    inputs=RANKS,
    tolerance=Tolerance(1e-6, 0, "pnnx writes six digits: the upper bound 1/3 becomes 0.333333"),
)
class F_rrelu(nn.Module):
    """In eval mode the slope is the middle of its bounds."""

    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return (
            F.rrelu(x),
            F.rrelu(y, 0.1, 0.3),
            F.rrelu(z, lower=0.05, upper=0.25, training=self.training),
            F.rrelu(w, training=False, inplace=True),
        )


@case(
    inputs=[(1, 16), (12, 2, 16), (1, 3, 12, 16), (1, 6, 7, 8, 11)],
    ncnn_inputs=[(1, 16), (12, 2, 16), (1, 3, 12, 16), (6, 8, 7, 10)],
)
class F_glu(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return (
            F.glu(x),
            F.glu(x, dim=1),
            F.glu(y, 1),
            F.glu(z, dim=-2),
            F.glu(w, dim=3),
            F.glu(w, 1),
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_gelu(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return (
            F.gelu(x),
            F.gelu(y, approximate="tanh"),
            F.gelu(z, approximate="none"),
            F.gelu(w, approximate="tanh"),
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_silu(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return F.silu(x), F.silu(y), F.silu(z, inplace=True), F.silu(w)


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_mish(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return F.mish(x), F.mish(y), F.mish(z), F.mish(w, inplace=True)


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_sigmoid(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return F.sigmoid(x), F.sigmoid(y), torch.sigmoid(z), w.sigmoid()


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_logsigmoid(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return F.logsigmoid(x), F.logsigmoid(y), F.logsigmoid(z), F.logsigmoid(w)


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_hardsigmoid(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return (
            F.hardsigmoid(x),
            F.hardsigmoid(y),
            F.hardsigmoid(z, inplace=True),
            F.relu6(w + 3) / 6,
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_hardswish(nn.Module):
    """The operator and the two formulas that older networks spell out."""

    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return (
            F.hardswish(x),
            F.hardswish(y, inplace=True),
            z * F.relu6(z + 3) / 6,
            w * F.hardsigmoid(w),
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_hardtanh(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return (
            F.hardtanh(x),
            F.hardtanh(y, -1, 0.5),
            F.hardtanh(z, min_val=-0.1, max_val=0.1),
            F.hardtanh(w, 0.0, 6.0, inplace=True),
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_hardshrink(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return F.hardshrink(x), F.hardshrink(y, 0.1), F.hardshrink(z, lambd=2), F.hardshrink(w)


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_softshrink(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return F.softshrink(x), F.softshrink(y, 0.1), F.softshrink(z, lambd=2), F.softshrink(w)


@case(inputs=[*RANKS, (3, 5)], ncnn_inputs=NCNN_RANKS)
class F_softplus(nn.Module):
    """ncnn's layer knows no beta but 1."""

    def forward(self, x, y, z, w, v=None):
        x, y, z, w = around_zero(x, y, z, w)
        results = F.softplus(x), F.softplus(y, threshold=30), F.softplus(z, 1), F.softplus(w)
        if v is None:
            return results
        (v,) = around_zero(v)
        return (
            *results,
            F.softplus(v, 2, 5.2),
            F.softplus(v, beta=-0.7, threshold=15),
            F.softplus(v, beta=0.1),
        )


@case(inputs=RANKS)
class F_softsign(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return F.softsign(x), F.softsign(y), F.softsign(z), F.softsign(w)


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_tanh(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return F.tanh(x), F.tanh(y), torch.tanh(z), w.tanh()


@case(inputs=RANKS)
class F_tanhshrink(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return F.tanhshrink(x), F.tanhshrink(y), F.tanhshrink(z), F.tanhshrink(w)


@case(inputs=RANKS)
class F_threshold(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = around_zero(x, y, z, w)
        return (
            F.threshold(x, 0.1, 20),
            F.threshold(y, threshold=-0.5, value=0),
            F.threshold(z, 0, -1.25),
            F.threshold(w, 0.3, 0.4, inplace=True),
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_softmax(nn.Module):
    def forward(self, x, y, z, w):
        return (
            F.softmax(x, 1),
            F.softmax(y, dim=-1),
            F.softmax(y, dim=1),
            F.softmax(z, 1),
            F.softmax(z, dim=2),
            F.softmax(z, dim=-1),
            F.softmax(w, dim=-4),
            F.softmax(w, 3),
        )


@case(inputs=RANKS)
class F_softmin(nn.Module):
    def forward(self, x, y, z, w):
        return F.softmin(x, 1), F.softmin(y, dim=-1), F.softmin(z, dim=-2), F.softmin(w, dim=1)


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_log_softmax(nn.Module):
    def forward(self, x, y, z, w):
        return (
            F.log_softmax(x, 1),
            F.log_softmax(y, dim=-1),
            F.log_softmax(y, dim=1),
            F.log_softmax(z, 1),
            F.log_softmax(z, dim=-2),
            F.log_softmax(w, dim=-1),
            F.log_softmax(w, 2),
        )
