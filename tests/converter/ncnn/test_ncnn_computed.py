"""Tensors that are computed of numbers alone are stored as PyTorch computes them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from ncnn_runs import graph_of

from converter.errors import UnsupportedError
from converter.ncnn import NcnnGraph, lower

COMPUTED = [
    *(
        f"{name}_window {arguments}"
        for name in ("bartlett", "blackman", "hamming", "hann", "kaiser")
        for arguments in (
            "window_length=8",
            "window_length=8 periodic=False",
            "window_length=7 periodic=True",
            "window_length=2",
            "window_length=1",
            "window_length=1 periodic=False",
        )
    ),
    "hamming_window window_length=9 periodic=True alpha=0.6 beta=0.3",
    "kaiser_window window_length=9 periodic=False beta=5.5",
    "logspace start=-1 end=1 steps=5",
    "logspace start=0 end=3 steps=4 base=2.0",
    "fft.fftfreq n=8 d=1.0",
    "fft.fftfreq n=5 d=0.5",
    "fft.rfftfreq n=7 d=2.0",
]


def network(computed: str, dtype: str) -> NcnnGraph:
    name, *arguments = computed.split()
    return lower(
        graph_of(f"torch.{name} a 0 1 0 {' '.join(arguments)} #0=(1){dtype}\npnnx.Output b 1 0 0")
    )


@pytest.mark.parametrize("computed", COMPUTED)
def test_as_pytorch_computes_them(computed: str) -> None:
    name, *arguments = computed.split()
    (stored,) = network(computed, "f32").layers.of_type("MemoryData")
    expected = eval(f"torch.{name}({', '.join(arguments)})", {"torch": torch})
    np.testing.assert_allclose(stored.attrs["data"].array(), expected.numpy(), 2e-6, 2e-7)


def test_complex_steps_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="makes c64, and ncnn holds floats"):
        network("logspace start=0 end=1 steps=5", "c64")
