"""Activation modules, on every rank from 2 to 5."""

import torch.nn as nn

from suites.case import Tolerance, case

RANKS = [(1, 16), (12, 2, 16), (1, 3, 12, 16), (1, 5, 7, 9, 11)]
NCNN_RANKS = [*RANKS[:3], (5, 7, 9, 11)]
"""ncnn has four dims at most and no batch among them."""


class OnRanks(nn.Module):
    """One module for each input, the inputs spread from [0, 1) to [-4, 4)."""

    def __init__(self, *modules):
        super().__init__()
        self.act_0, self.act_1, self.act_2, self.act_3 = modules

    def forward(self, x, y, z, w):
        return (
            self.act_0(x * 8 - 4),
            self.act_1(y * 8 - 4),
            self.act_2(z * 8 - 4),
            self.act_3(w * 8 - 4),
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_ReLU(OnRanks):
    def __init__(self):
        super().__init__(nn.ReLU(), nn.ReLU(), nn.ReLU(inplace=True), nn.ReLU())


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_ReLU6(OnRanks):
    def __init__(self):
        super().__init__(nn.ReLU6(), nn.ReLU6(), nn.ReLU6(inplace=True), nn.ReLU6())

    def forward(self, x, y, z, w):
        return super().forward(x * 3 - 1, y * 3 - 1, z * 3 - 1, w * 3 - 1)


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_ELU(OnRanks):
    def __init__(self):
        super().__init__(nn.ELU(), nn.ELU(1.3), nn.ELU(alpha=0.4), nn.ELU(0.2))


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_SELU(OnRanks):
    def __init__(self):
        super().__init__(nn.SELU(), nn.SELU(), nn.SELU(inplace=True), nn.SELU())


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_CELU(OnRanks):
    def __init__(self):
        super().__init__(nn.CELU(), nn.CELU(1.3), nn.CELU(alpha=0.4), nn.CELU(2))


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_GELU(OnRanks):
    def __init__(self):
        super().__init__(
            nn.GELU(), nn.GELU(approximate="tanh"), nn.GELU("none"), nn.GELU(approximate="tanh")
        )


@case(
    inputs=[(1, 16), (12, 2, 16), (1, 3, 12, 16), (1, 6, 7, 9, 11)],
    ncnn_inputs=[(1, 16), (12, 2, 16), (1, 3, 12, 16), (6, 7, 9, 11)],
)
class nn_GLU(OnRanks):
    def __init__(self):
        super().__init__(nn.GLU(), nn.GLU(dim=1), nn.GLU(2), nn.GLU(-4))


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_SiLU(OnRanks):
    def __init__(self):
        super().__init__(nn.SiLU(), nn.SiLU(), nn.SiLU(inplace=True), nn.SiLU())


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_Mish(OnRanks):
    def __init__(self):
        super().__init__(nn.Mish(), nn.Mish(), nn.Mish(inplace=True), nn.Mish())


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_LeakyReLU(OnRanks):
    def __init__(self):
        super().__init__(
            nn.LeakyReLU(),
            nn.LeakyReLU(0.2),
            nn.LeakyReLU(negative_slope=-0.24),
            nn.LeakyReLU(0.3, inplace=True),
        )


@case(inputs=RANKS, targets=("pnnx", "ncnn"))
class nn_PReLU(OnRanks):
    """One slope for all channels and one for each; channels are dim 1, whatever the rank."""

    def __init__(self):
        super().__init__(
            nn.PReLU(num_parameters=16), nn.PReLU(2, init=0.12), nn.PReLU(), nn.PReLU(5, 0.4)
        )


@case(
    inputs=RANKS,
    tolerance=Tolerance(1e-6, 0, "pnnx writes six digits: the upper bound 1/3 becomes 0.333333"),
)
class nn_RReLU(OnRanks):
    """In eval mode the slope is the middle of its bounds."""

    def __init__(self):
        super().__init__(
            nn.RReLU(),
            nn.RReLU(0.1, 0.42),
            nn.RReLU(lower=0.05, upper=0.25),
            nn.RReLU(0, 0.5),
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_Sigmoid(OnRanks):
    def __init__(self):
        super().__init__(nn.Sigmoid(), nn.Sigmoid(), nn.Sigmoid(), nn.Sigmoid())


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_LogSigmoid(OnRanks):
    def __init__(self):
        super().__init__(nn.LogSigmoid(), nn.LogSigmoid(), nn.LogSigmoid(), nn.LogSigmoid())


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_Hardsigmoid(OnRanks):
    def __init__(self):
        super().__init__(
            nn.Hardsigmoid(), nn.Hardsigmoid(), nn.Hardsigmoid(inplace=True), nn.Hardsigmoid()
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_Hardswish(OnRanks):
    def __init__(self):
        super().__init__(nn.Hardswish(), nn.Hardswish(), nn.Hardswish(inplace=True), nn.Hardswish())


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_Hardtanh(OnRanks):
    def __init__(self):
        super().__init__(
            nn.Hardtanh(),
            nn.Hardtanh(-1, 0.5),
            nn.Hardtanh(min_val=-0.1, max_val=0.1),
            nn.Hardtanh(0.0, 3.0),
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_Hardshrink(OnRanks):
    def __init__(self):
        super().__init__(
            nn.Hardshrink(), nn.Hardshrink(0.1), nn.Hardshrink(lambd=2.2), nn.Hardshrink(1)
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_Softshrink(OnRanks):
    def __init__(self):
        super().__init__(
            nn.Softshrink(), nn.Softshrink(0.1), nn.Softshrink(lambd=2.2), nn.Softshrink(1)
        )


@case(inputs=[*RANKS, (3, 5)], ncnn_inputs=NCNN_RANKS)
class nn_Softplus(OnRanks):
    """ncnn's layer knows no beta but 1."""

    def __init__(self):
        super().__init__(nn.Softplus(), nn.Softplus(1, 30), nn.Softplus(beta=1), nn.Softplus())
        self.steep = nn.Softplus(beta=2, threshold=3)
        self.flat = nn.Softplus(0.7, 15)

    def forward(self, x, y, z, w, v=None):
        results = super().forward(x, y, z, w)
        if v is None:
            return results
        return *results, self.steep(v * 8 - 4), self.flat(v * 8 - 4)


@case(inputs=RANKS)
class nn_Softsign(OnRanks):
    def __init__(self):
        super().__init__(nn.Softsign(), nn.Softsign(), nn.Softsign(), nn.Softsign())


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_Tanh(OnRanks):
    def __init__(self):
        super().__init__(nn.Tanh(), nn.Tanh(), nn.Tanh(), nn.Tanh())


@case(inputs=RANKS)
class nn_Tanhshrink(OnRanks):
    def __init__(self):
        super().__init__(nn.Tanhshrink(), nn.Tanhshrink(), nn.Tanhshrink(), nn.Tanhshrink())


@case(inputs=RANKS)
class nn_Threshold(OnRanks):
    def __init__(self):
        super().__init__(
            nn.Threshold(0.1, 20.0),
            nn.Threshold(threshold=-0.5, value=0.3),
            nn.Threshold(0, -1.25),
            nn.Threshold(0.3, 0.4),
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_Softmax(OnRanks):
    def __init__(self):
        super().__init__(nn.Softmax(dim=1), nn.Softmax(-1), nn.Softmax(dim=2), nn.Softmax(dim=-4))


@case(inputs=RANKS)
class nn_Softmin(OnRanks):
    def __init__(self):
        super().__init__(nn.Softmin(dim=1), nn.Softmin(-1), nn.Softmin(dim=2), nn.Softmin(dim=-4))


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_LogSoftmax(OnRanks):
    def __init__(self):
        super().__init__(
            nn.LogSoftmax(dim=1), nn.LogSoftmax(-1), nn.LogSoftmax(dim=2), nn.LogSoftmax(dim=-4)
        )


@case(inputs=[(1, 3, 12, 16), (5, 4, 6)], ncnn_inputs=[(1, 3, 12, 16), (1, 5, 4, 6)])
class nn_Softmax2d(nn.Module):
    """Over the channels, with a batch and without."""

    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax2d()

    def forward(self, x, y):
        return self.softmax(x * 8 - 4), self.softmax(y * 8 - 4)
