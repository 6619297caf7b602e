"""The public APIs of torch and the packages around it, and the tracker's sections of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

LIST = Path(__file__).with_name("apis.txt")
"""One dotted name a line; `generate_apis` writes it."""

SECTIONS = {
    "torch.nn": "torch.nn.",
    "torch.nn.functional": "torch.nn.functional.",
    "torch": "torch.",
    "Tensor": "torch.Tensor.",
    "torchvision": "torchvision.",
    "torchaudio": "torchaudio.",
    "transformers": "transformers.",
    "pnnx": "pnnx.",
}
"""The tracker's sections, in its order, and what the names of their APIs begin with."""

COUNTED = ("torch.nn", "torch.nn.functional")
"""The sections whose coverage of the public API is told."""


@cache
def public() -> frozenset[str]:
    """Every API that a row may name, `pnnx.` apart."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def is_known(api: str) -> bool:
    """Whether an API exists. What pnnx does with models is listed nowhere: cases define it."""
    return api.startswith("pnnx.") or api in public()


def section(api: str) -> str:
    """The section of an API: that of the longest beginning. Raises KeyError for a foreign name."""
    fitting = [(len(prefix), name) for name, prefix in SECTIONS.items() if api.startswith(prefix)]
    if not fitting:
        raise KeyError(api)
    return max(fitting)[1]
