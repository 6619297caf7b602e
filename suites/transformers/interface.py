"""What versions 4 and 5 call differently in many models: caches, weights, layers, positions."""

import torch
from transformers import DynamicCache

from suites.transformers.version import V5

WEIGHTS = {} if V5 else {"output_attentions": True}
"""Asks for the attention weights, which version 5 returns without being asked."""

FIRST = {"layer_idx": 0} if V5 else {}
"""Makes a layer the first one, so that it can find its part of the cache."""


def past(keys, values):
    """Keys and values (batch, heads, length, channels) of earlier steps, for a layer."""
    return cached(keys, values) if V5 else {"past_key_value": (keys, values)}


def cached(keys, values):
    """The same for a model that has a cache in version 4 too."""
    cache = DynamicCache()
    cache.update(keys, values, layer_idx=0)
    return {"past_key_values" if V5 else "past_key_value": cache}


def positions(states):
    """Version 4 is told where in the sequence it is; version 5 asks the cache, if there is one."""
    return {} if V5 else {"cache_position": torch.arange(states.shape[1], device=states.device)}
