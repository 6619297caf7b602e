"""Batch-norms that are folded into the layers before them: which, and to what numbers."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from graphs import assert_stays, graph
from torch import nn

from converter.ir import Array, Attribute, Graph
from converter.passes.fuse_batch_norm import FuseBatchNorm

LAYERS = [
    nn.Conv1d(4, 6, 3),
    nn.Conv2d(4, 6, 3, stride=2, padding=1, bias=False),
    nn.Conv2d(4, 6, 3, groups=2),
    nn.Conv2d(4, 8, 3, groups=4, padding="same", dilation=2),
    nn.Conv3d(4, 6, 2),
    nn.ConvTranspose1d(4, 6, 3, stride=2),
    nn.ConvTranspose2d(4, 6, 3, groups=2, bias=False),
    nn.ConvTranspose3d(4, 8, 2, groups=4),
    nn.Linear(4, 6),
    nn.Linear(4, 6, bias=False),
]


def pair(layer: nn.Module, *, affine: bool = True, dtype: torch.dtype = torch.float) -> nn.Module:
    """A layer and a batch-norm with statistics of its own."""
    torch.manual_seed(0)
    channels = getattr(layer, "out_channels", getattr(layer, "out_features", 0))
    rank = layer.weight.dim()
    kind = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d, 5: nn.BatchNorm3d}[rank]
    norm = kind(channels, affine=affine, eps=1e-3)
    for tensor in (*norm.parameters(), norm.running_mean, norm.running_var):
        tensor.data.uniform_(0.5, 1.5)
    return nn.Sequential(layer, norm).eval().to(dtype)


def lowered(model: nn.Module, x: torch.Tensor) -> Graph:
    """The two operators, as the converter has them before the pass."""
    layer, norm = model
    made = Graph()
    source = made.operand("x", tuple(x.shape), "f32")
    between = made.operand("a", tuple(layer(x).shape), "f32")
    result = made.operand("y", between.shape, "f32")
    made.add("pnnx.Input", "in", (), [source])
    params = {"bias": layer.bias is not None, "groups": getattr(layer, "groups", 1)}
    op = made.add(f"nn.{type(layer).__name__}", "layer", [source], [between], params=params)
    op.attrs = stored(layer)
    op = made.add(
        f"nn.{type(norm).__name__}", "norm", [between], [result], params={"eps": norm.eps}
    )
    op.attrs = {k: v for k, v in stored(norm).items() if k != "num_batches_tracked"}
    made.add("pnnx.Output", "out", [result])
    return made


def stored(module: nn.Module) -> dict[str, Attribute]:
    return {name: Attribute.of(tensor.numpy()) for name, tensor in module.state_dict().items()}


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_one_layer_computes_the_same(layer: nn.Module, affine: bool, dtype: torch.dtype) -> None:
    layer = deepcopy(layer)
    model = pair(layer, affine=affine, dtype=dtype)
    x = torch.randn(2, 4, *[7] * (layer.weight.dim() - 2), dtype=dtype)
    with torch.no_grad():
        made, expected = lowered(model, x), model(x)
        assert FuseBatchNorm()(made) == 1
        assert [op.name for op in made.operators] == ["in", "layer", "out"]
        fused = made.operators[1]
        assert fused.params["bias"] is True
        fused_weights = {n: torch.from_numpy(a.array().copy()) for n, a in fused.attrs.items()}
        actual = torch.func.functional_call(with_bias(layer), fused_weights, (x,))
    torch.testing.assert_close(actual, expected)


def with_bias(layer: nn.Module) -> nn.Module:
    if layer.bias is None:
        layer.bias = nn.Parameter(layer.weight.new_zeros(()))
    return layer


def test_the_values_that_others_read_stay() -> None:
    """Two convolutions share a weight; a batch-norm follows one of them."""
    model, x = pair(nn.Conv2d(4, 4, 1)), torch.randn(2, 4, 3, 3)
    with torch.no_grad():
        made = lowered(model, x)
    conv = made.of_type("nn.Conv2d")[0]
    other = made.operand("z", (2, 4, 3, 3), "f32")
    second = made.add("nn.Conv2d", "second", conv.inputs, [other], attrs=conv.attrs)
    (end,) = made.of_type("pnnx.Output")
    made.remove(end)
    made.add(end.type, end.name, [*end.inputs, other])
    before = second.attrs["weight"].array().copy()
    assert FuseBatchNorm()(made) == 1
    np.testing.assert_array_equal(second.attrs["weight"].array(), before)
    assert not np.array_equal(conv.attrs["weight"].array(), before)


TEXT = """
    pnnx.Input     in 0 1 0 #0={source}f32
    {layer}        c  1 1 0 1 bias=True groups=1 @weight={weight}{dtype} @bias=(4){dtype} #1={between}f32
    nn.BatchNorm1d n  1 1 1 2 eps=1e-05 @running_mean=(4){norm} @running_var=(4){norm} #2={between}f32
    pnnx.Output    out {outputs}
"""  # noqa: E501


@pytest.mark.parametrize(
    ("layer", "source", "weight", "between", "dtype", "norm", "outputs"),
    [
        ("nn.Linear", "(2,4,4)", "(4,4)", "(2,4,4)", "f32", "f32", "1 0 2"),
        ("nn.Conv1d", "(4,9)", "(4,4,1)", "(4,9)", "f32", "f32", "1 0 2"),
        ("nn.Conv1d", "(2,4,9)", "(4,4,1)", "(2,4,9)", "f32", "f32", "2 0 1 2"),
        ("nn.Conv1d", "(2,4,9)", "(4,4,1)", "(2,4,9)", "f16", "f32", "1 0 2"),
        ("nn.Conv1d", "(2,4,9)", "(4,4,1)", "(2,4,9)", "bf16", "bf16", "1 0 2"),
        ("nn.Conv1d", "(2,4,9)", "(4,4,1)", "(2,4,9)", "f32", "f64", "1 0 2"),
        ("nn.LayerNorm", "(2,4,9)", "(4)", "(2,4,9)", "f32", "f32", "1 0 2"),
    ],
)
def test_what_is_not_fused(
    layer: str, source: str, weight: str, between: str, dtype: str, norm: str, outputs: str
) -> None:
    values = {"source": source, "weight": weight, "between": between, "dtype": dtype, "norm": norm}
    assert_stays(FuseBatchNorm(), TEXT.format(layer=layer, outputs=outputs, **values))


def test_two_batch_norms_one_after_the_other() -> None:
    def norm(seed: int) -> dict[str, Array]:
        values = np.random.default_rng(seed).random((2, 4), np.float32) + 0.5
        return {"running_mean": values[0], "running_var": values[1]}

    made = graph(
        """
        pnnx.Input     in 0 1 0 #0=(2,4,9)f32
        nn.Conv1d      c  1 1 0 1 bias=False groups=1 @weight=(4,4,1)f32 #1=(2,4,9)f32
        nn.BatchNorm1d m  1 1 1 2 eps=0.1 @running_mean=(4)f32 @running_var=(4)f32 #2=(2,4,9)f32
        nn.BatchNorm1d n  1 1 2 3 eps=0.2 @running_mean=(4)f32 @running_var=(4)f32 #3=(2,4,9)f32
        pnnx.Output    out 1 0 3
        """,
        {
            "c.weight": np.eye(4, dtype=np.float32)[..., None],
            **{f"m.{name}": values for name, values in norm(1).items()},
            **{f"n.{name}": values for name, values in norm(2).items()},
        },
    )
    assert FuseBatchNorm()(made) == 2
    x = torch.randn(2, 4, 9)
    expected = x
    for seed, eps in ((1, 0.1), (2, 0.2)):
        mean, var = (torch.from_numpy(values) for values in norm(seed).values())
        expected = F.batch_norm(expected, mean, var, eps=eps)
    weights = {n: torch.from_numpy(a.array()) for n, a in made.operators[1].attrs.items()}
    torch.testing.assert_close(F.conv1d(x, weights["weight"], weights["bias"]), expected)
