"""Which public APIs a case proves: by its name, unless its decorator says (`proves=`)."""

from __future__ import annotations

import re

PREFIXES = {
    "F_": "torch.nn.functional.",
    "Tensor_": "torch.Tensor.",
    "nn_": "torch.nn.",
    "pnnx_": "pnnx.",
    "quantization_": "torchvision.models.quantization.",
    "torch_": "torch.",
    "torch_fft_": "torch.fft.",
    "torchaudio_": "torchaudio.transforms.",
    "torchaudio_F_": "torchaudio.functional.",
    "torchvision_": "torchvision.ops.",
}
"""What a case's name begins with and what that spells; the longest beginning counts. `pnnx.` names
what pnnx does with a model: a fusion, a way to give inputs.
"""

ATTENTION = re.compile(r"transformers_(\w+)_attention")


def proven(case: str, suite: str, proves: tuple[str, ...]) -> tuple[str, ...]:
    """The dotted names of the APIs that a case proves: what it says itself, else what its name
    spells; none where that spells nothing.
    """
    if proves:
        return proves
    if model := ATTENTION.fullmatch(case):
        return (f"transformers.models.{model[1]}",)
    for prefix in sorted(PREFIXES, key=len, reverse=True):
        if case.startswith(prefix):
            return (PREFIXES[prefix] + case.removeprefix(prefix),)
    return (f"torchvision.models.{case}",) if suite == "models" else ()
