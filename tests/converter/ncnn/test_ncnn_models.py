"""Whole networks: the layers that pnnx writes, and what eager computes."""

from collections import Counter
from pathlib import Path

import pytest
import torch
from ncnn_runs import check, layers_of

models = pytest.importorskip("torchvision").models
pytestmark = pytest.mark.vision


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2", "squeezenet1_1"])
def test_like_pnnx_and_eager(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = getattr(models, name)(weights=None)
    for module in model.modules():  # activations that neither vanish nor grow from layer to layer
        if isinstance(module, torch.nn.BatchNorm2d):
            module.train().momentum = None
    with torch.no_grad():
        model(torch.randn(2, 3, 64, 64))
    net = check(model, torch.rand(1, 3, 64, 64), folder=tmp_path, rtol=1e-4, atol=1e-4)
    lines = (tmp_path / "model.ncnn.param").read_text().splitlines()[2:]
    assert Counter(layers_of(net)) == Counter(line.split()[0] for line in lines)
    assert (net.inputs[0].batch, net.outputs[0].batch) == (0, 0)
