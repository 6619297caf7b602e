"""Dropout modules, which do nothing in eval mode, and the one that never does anything."""

import torch.nn as nn

from suites.case import case

RANKS = [(1, 12), (1, 3, 32), (1, 3, 16, 24), (1, 5, 7, 9, 11)]
NCNN_RANKS = [*RANKS[:3], (5, 7, 9, 11)]
"""ncnn has four dims at most and no batch among them."""


class OnRanks(nn.Module):
    """Two modules on inputs of several ranks, with operators around them."""

    def __init__(self, first, second):
        super().__init__()
        self.drop_0, self.drop_1 = first, second

    def forward(self, *inputs):
        return tuple(self.drop_1(self.drop_0(tensor + 1) * 2) for tensor in inputs)


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_Dropout(OnRanks):
    def __init__(self):
        super().__init__(nn.Dropout(), nn.Dropout(p=0.7, inplace=True))


@case(inputs=[(1, 3, 16, 24), (5, 7, 9)], targets=("pnnx", "ncnn"))
class nn_Dropout2d(OnRanks):
    def __init__(self):
        super().__init__(nn.Dropout2d(), nn.Dropout2d(p=0.7, inplace=True))


@case(inputs=[(1, 5, 7, 9, 11), (3, 4, 5, 6)], ncnn_inputs=[(5, 7, 9, 11), (3, 4, 5, 6)])
class nn_Dropout3d(OnRanks):
    def __init__(self):
        super().__init__(nn.Dropout3d(), nn.Dropout3d(p=0.7, inplace=True))


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_AlphaDropout(OnRanks):
    def __init__(self):
        super().__init__(nn.AlphaDropout(), nn.AlphaDropout(p=0.7))


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class nn_Identity(OnRanks):
    def __init__(self):
        super().__init__(nn.Identity(), nn.Identity(unused=0.7))
