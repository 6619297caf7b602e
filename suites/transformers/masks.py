"""Attention masks as the models make them, before their layers, from what users pass.

Generated modules draw no booleans, so users' masks are drawn as floats and compared.
"""

import torch


def kept(drawn):
    """A user's mask of (batch, length): 1 up to a text's end, 0 for the padding after it."""
    return (drawn.cumsum(dim=1) < 2.5).float()


def padding(keep, queries=1):
    """What is added to scores of (batch, heads, queries, keys): `keep` is (batch, keys)."""
    ignored = (1.0 - keep)[:, None, None, :].expand(-1, 1, queries, -1)
    return ignored.masked_fill(ignored.bool(), torch.finfo(torch.float32).min)


def causal(states):
    """What is added to scores so that no position of (batch, length, channels) looks ahead."""
    batch, length, _ = states.shape
    ahead = states.new_full((length, length), torch.finfo(states.dtype).min).triu(1)
    return ahead[None, None].expand(batch, 1, length, length)
