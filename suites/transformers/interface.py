"""What releases of transformers call differently in many models: caches, weights, positions.

BART's attention tells for all: its arguments changed with the others'. Asked here and not in a
forward, which is traced.
"""

from inspect import signature

import torch
from transformers import DynamicCache
from transformers.models.bart.modeling_bart import BartAttention

from suites.transformers.version import V5

_ARGUMENTS = signature(BartAttention.forward).parameters

WEIGHTS = {"output_attentions": True} if "output_attentions" in _ARGUMENTS else {}
"""Asks for the attention weights, which version 5 returns without being asked."""

FIRST = {"layer_idx": 0} if "layer_idx" in signature(BartAttention).parameters else {}
"""Makes a layer the first one, so that it can find its part of the cache."""

PAST = "past_key_values" if "past_key_values" in _ARGUMENTS else "past_key_value"


def past(keys, values):
    """Keys and values (batch, heads, length, channels) of earlier steps, for a layer."""
    return cached(keys, values) if FIRST else {PAST: (keys, values)}


def cached(keys, values):
    """The same for a model that has always had a cache."""
    cache = DynamicCache()
    cache.update(keys, values, layer_idx=0)
    return {PAST: cache}


def positions(states):
    """Version 4 is told where in the sequence it is; version 5 asks the cache, if there is one."""
    return {} if V5 else {"cache_position": torch.arange(states.shape[1], device=states.device)}
