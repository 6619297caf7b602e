"""Functions that become modules: by the weights that the model stores, or as the archive tells."""

from __future__ import annotations

import pytest
from graphs import assert_stays, graph

from converter.ir import Graph
from converter.passes.dead_code import DeadCode
from converter.passes.modules import Modules
from converter.passes.stored_weights import StoredWeights


def with_weights(function: str, shapes: str, source: str = "(2,4,5,5)", params: str = "") -> Graph:
    """A function of an input and of stored tensors: `weight=(4)f32 bias=(4)f32`."""
    names = [shape.split("=") for shape in shapes.split()]
    lines = [f"pnnx.Attribute {name} 0 1 {name} @data={shape}" for name, shape in names]
    inputs = " ".join(["x", *(name for name, _ in names)])
    keys = " ".join(["$input=x", *(f"${name}={name}" for name, _ in names)])
    return graph(
        "\n".join(
            [
                f"pnnx.Input in 0 1 x #x={source}f32",
                *lines,
                f"{function} f {len(names) + 1} 1 {inputs} y {params} {keys} #x={source}f32",
                "pnnx.Output out 1 0 y",
            ]
        )
    )


CONV = "stride=(1,1) padding=(0,0) dilation=(1,1) groups=2"
NORM = "running_mean=(4)f32 running_var=(4)f32"
AFFINE = "weight=(4)f32 bias=(4)f32"


@pytest.mark.parametrize(
    ("function", "shapes", "source", "params", "type", "expected"),
    [
        (
            "F.conv2d",
            "weight=(6,2,3,2)f32",
            "(2,4,5,5)",
            f"bias=None {CONV}",
            "nn.Conv2d",
            {"in_channels": 4, "out_channels": 6, "kernel_size": (3, 2), "bias": False},
        ),
        (
            "F.conv_transpose2d",
            "weight=(4,3,3,2)f32 bias=(6)f32",
            "(2,4,5,5)",
            f"{CONV} output_padding=(0,0)",
            "nn.ConvTranspose2d",
            {"in_channels": 4, "out_channels": 6, "kernel_size": (3, 2), "bias": True},
        ),
        (
            "F.linear",
            "weight=(6,5)f32 bias=(6)f32",
            "(2,5)",
            "",
            "nn.Linear",
            {"in_features": 5, "out_features": 6, "bias": True},
        ),
        (
            "F.embedding",
            "weight=(9,5)f32",
            "(2,3)",
            "scale_grad_by_freq=False sparse=False",
            "nn.Embedding",
            {"num_embeddings": 9, "embedding_dim": 5, "sparse": False},
        ),
        ("F.prelu", "weight=(4)f32", "(2,4)", "", "nn.PReLU", {"num_parameters": 4}),
        (
            "F.batch_norm",
            f"{NORM} {AFFINE}",
            "(2,4)",
            "eps=0.1",
            "nn.BatchNorm1d",
            {"affine": True, "eps": 0.1, "num_features": 4},
        ),
        (
            "F.batch_norm",
            NORM,
            "(2,4,5,5,5)",
            "eps=0.1 weight=None bias=None",
            "nn.BatchNorm3d",
            {"affine": False, "eps": 0.1, "num_features": 4},
        ),
        (
            "F.instance_norm",
            AFFINE,
            "(2,4,5)",
            "eps=0.1 running_mean=None running_var=None",
            "nn.InstanceNorm1d",
            {"affine": True, "eps": 0.1, "num_features": 4, "track_running_stats": False},
        ),
        (
            "F.instance_norm",
            f"{NORM} {AFFINE}",
            "(2,4,5,5)",
            "eps=0.1 use_input_stats=False",
            "nn.InstanceNorm2d",
            {"affine": True, "eps": 0.1, "num_features": 4, "track_running_stats": True},
        ),
        (
            "F.group_norm",
            AFFINE,
            "(2,4,5)",
            "eps=0.1 num_groups=2",
            "nn.GroupNorm",
            {"affine": True, "eps": 0.1, "num_channels": 4, "num_groups": 2},
        ),
        (
            "F.layer_norm",
            AFFINE,
            "(2,4)",
            "eps=0.1 normalized_shape=(4)",
            "nn.LayerNorm",
            {"elementwise_affine": True, "eps": 0.1, "normalized_shape": (4,)},
        ),
        (
            "F.rms_norm",
            "weight=(4)f32",
            "(2,4)",
            "eps=None normalized_shape=(4)",
            "nn.RMSNorm",
            {"elementwise_affine": True, "eps": None, "normalized_shape": (4,)},
        ),
    ],
)
def test_stored_weights_make_modules(
    function: str,
    shapes: str,
    source: str,
    params: str,
    type: str,
    expected: dict[str, object],
) -> None:
    made = with_weights(function, shapes, source, params)
    assert StoredWeights()(made) == 1
    DeadCode()(made)
    module = made.operators[1]
    assert module.type == type
    assert module.params.items() >= expected.items()
    assert list(module.attrs) == [shape.split("=")[0] for shape in shapes.split()]
    assert [operand.name for operand in module.inputs] == ["x"]


@pytest.mark.parametrize(
    ("function", "shapes", "source", "params"),
    [
        ("F.linear", "weight=(5)f32", "(2,5)", "bias=None"),
        ("F.linear", "bias=(6)f32", "(2,5)", ""),
        ("F.batch_norm", f"{NORM} weight=(4)f32", "(2,4)", "eps=0.1 bias=None"),
        (
            "F.batch_norm",
            AFFINE,
            "(2,4)",
            "eps=0.1 running_mean=None running_var=None training=True",
        ),
        ("F.layer_norm", "weight=(4)f32", "(2,4)", "eps=0.1 normalized_shape=(4) bias=None"),
        ("F.group_norm", "bias=(4)f32", "(2,4)", "eps=0.1 num_groups=2 weight=None"),
        ("F.instance_norm", NORM, "(2,4,5)", "eps=0.1 weight=None bias=None"),
        ("F.relu", "weight=(4)f32", "(2,4)", ""),
    ],
)
def test_weights_that_no_module_has_stay(
    function: str, shapes: str, source: str, params: str
) -> None:
    assert not StoredWeights()(with_weights(function, shapes, source, params))


def test_a_computed_weight_stays() -> None:
    assert_stays(
        StoredWeights(),
        """
        pnnx.Input     in 0 1 x #x=(2,5)f32
        pnnx.Input     on 0 1 w #w=(6,5)f32
        pnnx.Attribute b  0 1 b @data=(6)f32
        F.linear       f  3 1 x w b y $input=x $weight=w $bias=b
        pnnx.Output    out 1 0 y
        """,
    )


def made_by(module: str, function: str, params: str = "", source: str = "(2,6,4,4)") -> Graph:
    """A function that a module of the user's called `block.act` made."""
    made = graph(
        f"""
        pnnx.Input  in 0 1 x #x={source}f32
        {function}  f  1 1 x y {params} $input=x #x={source}f32
        pnnx.Output out 1 0 y
        """
    )
    made.operators[1].module = ("block.act", module)
    return made


@pytest.mark.parametrize(
    ("module", "function", "params", "expected"),
    [
        ("activation.ReLU", "F.relu", "", {}),
        ("activation.ReLU6", "F.hardtanh", "min_val=0.0 max_val=6.0", {}),
        ("activation.Softmax2d", "F.softmax", "dim=-3", {}),
        ("activation.GELU", "F.gelu", "approximate=tanh", {"approximate": "tanh"}),
        (
            "pooling.MaxPool2d",
            "F.max_pool2d",
            "kernel_size=(2,2) stride=None padding=(0,0) dilation=(1,1) ceil_mode=False "
            "return_indices=False",
            {"kernel_size": (2, 2), "stride": (2, 2)},
        ),
        ("padding.ReflectionPad2d", "F.pad", "mode=reflect pad=(1,1,1,1) value=None", {}),
        ("padding.ConstantPad1d", "F.pad", "mode=constant pad=(1,1) value=3.5", {"value": 3.5}),
        (
            "normalization.GroupNorm",
            "F.group_norm",
            "eps=0.1 num_groups=2",
            {"num_channels": 6, "affine": False},
        ),
        (
            "upsampling.Upsample",
            "F.upsample_nearest",
            "scale_factor=(2.0,2.0)",
            {"mode": "nearest", "size": None},
        ),
        (
            "upsampling.UpsamplingBilinear2d",
            "F.upsample",
            "mode=bilinear size=(8,8) align_corners=True",
            {"size": (8, 8)},
        ),
    ],
)
def test_modules_are_spelled_as_the_archive_tells(
    module: str, function: str, params: str, expected: dict[str, object]
) -> None:
    made = made_by(f"torch.nn.modules.{module}", function, params)
    assert Modules()(made) == 1
    op = made.operators[1]
    assert (op.type, op.name) == (f"nn.{module.rpartition('.')[2]}", "block.act")
    assert op.params.items() >= expected.items()
    assert op.input_names == []


@pytest.mark.parametrize(
    ("module", "function", "params"),
    [
        ("torch.nn.modules.activation.ReLU", "F.tanh", ""),
        ("torch.nn.modules.activation.ReLU6", "F.hardtanh", "min_val=-1 max_val=6"),
        ("torch.nn.modules.activation.Softmax2d", "F.softmax", "dim=1"),
        ("torch.nn.modules.padding.ZeroPad2d", "F.pad", "mode=constant pad=(1,1,1,1) value=2.0"),
        (
            "torch.nn.modules.padding.ReflectionPad1d",
            "F.pad",
            "mode=reflect pad=(1,1,1,1) value=None",
        ),
        (
            "torch.nn.modules.upsampling.UpsamplingBilinear2d",
            "F.upsample",
            "mode=bilinear size=(8,8) align_corners=False",
        ),
        ("my.layers.ReLU", "F.relu", ""),
        ("torch.nn.modules.container.Sequential", "F.relu", ""),
    ],
)
def test_what_the_module_does_not_compute_stays(module: str, function: str, params: str) -> None:
    made = made_by(module, function, params)
    assert not Modules()(made)
    assert made.operators[1].type == function
