"""Activations of torch.nn.functional."""

import torch.nn as nn
import torch.nn.functional as F

from suites.case import case


@case(inputs=[(1, 16), (12, 2, 16), (1, 3, 12, 16), (1, 5, 7, 9, 11)])
class F_relu(nn.Module):
    def forward(self, x, y, z, w):
        return F.relu(x * 2 - 1), F.relu(y * 2 - 1), F.relu(z * 2 - 1), F.relu(w * 2 - 1)
