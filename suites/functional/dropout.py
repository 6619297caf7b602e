"""Dropouts of torch.nn.functional, off as they are in eval mode."""

import torch.nn as nn
import torch.nn.functional as F

from suites.case import case

RANKS = [(1, 12), (1, 3, 32), (1, 3, 16, 24), (1, 5, 7, 9, 11)]
NCNN_RANKS = [*RANKS[:3], (5, 7, 9, 11)]
"""ncnn has four dims at most and no batch among them."""


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_dropout(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = x + 1, y + 1, z + 1, w + 1
        return (
            F.dropout(x, training=False),
            F.dropout(y, p=0.1, training=self.training),
            F.dropout(z, 0.8, self.training),
            F.dropout(w, training=False, inplace=True) * 2,
        )


@case(inputs=[(1, 3, 16, 24), (1, 7, 9, 11)], targets=("pnnx", "ncnn"))
class F_dropout2d(nn.Module):
    def forward(self, x, y):
        x, y = x + 1, y + 1
        return (
            F.dropout2d(x, training=False),
            F.dropout2d(x, p=0.1, training=self.training),
            F.dropout2d(y, 0.8, False, inplace=True) * 2,
        )


@case(inputs=[(1, 3, 6, 16, 24), (1, 5, 7, 9, 11)], ncnn_inputs=[(3, 6, 16, 24), (5, 7, 9, 11)])
class F_dropout3d(nn.Module):
    def forward(self, x, y):
        x, y = x + 1, y + 1
        return (
            F.dropout3d(x, training=False),
            F.dropout3d(x, p=0.1, training=self.training),
            F.dropout3d(y, 0.8, False, inplace=True) * 2,
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_alpha_dropout(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = x + 1, y + 1, z + 1, w + 1
        return (
            F.alpha_dropout(x),
            F.alpha_dropout(y, p=0.1, training=self.training),
            F.alpha_dropout(z, 0.8, False),
            F.alpha_dropout(w, training=False) * 2,
        )


@case(inputs=RANKS, ncnn_inputs=NCNN_RANKS)
class F_feature_alpha_dropout(nn.Module):
    def forward(self, x, y, z, w):
        x, y, z, w = x + 1, y + 1, z + 1, w + 1
        return (
            F.feature_alpha_dropout(x),
            F.feature_alpha_dropout(y, p=0.1, training=self.training),
            F.feature_alpha_dropout(z, 0.8, False),
            F.feature_alpha_dropout(w, training=False) * 2,
        )
