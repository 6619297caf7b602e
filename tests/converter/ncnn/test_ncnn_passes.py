"""Passes over layers, on small networks."""

from pathlib import Path

import pytest
import torch
from ncnn_runs import Calls, check, graph_of, layers_of

from converter.ncnn import NcnnGraph, lower
from converter.ncnn.layers import LAYERS
from converter.ncnn.writer import blob_names

nn, F = torch.nn, torch.nn.functional


def lines(net: NcnnGraph) -> list[str]:
    """Each layer as `type: blobs read -> blobs made`."""
    names = blob_names(net)
    return [
        f"{layer.type}: {' '.join(names[blob] for blob in layer.inputs)} -> "
        + " ".join(names[blob] for blob in layer.outputs)
        for layer in net.layers.operators
    ]


def test_each_reader_has_a_blob_of_its_own() -> None:
    net = lower(
        graph_of("""
pnnx.Input            in   0 1 0 #0=(2,3)f32
F.relu                a    1 1 0 1 #1=(2,3)f32
F.tanh                b    1 1 1 2 #2=(2,3)f32
prim::TupleConstruct  t    3 1 1 2 1 3
pnnx.Output           out  1 0 3
""")
    )
    assert lines(net) == [
        "Input:  -> in0",
        "ReLU: in0 -> 1",
        "Split: 1 -> 2 out0 out2",
        "TanH: 2 -> out1",
    ]
    assert net.result == (0, 1, 2)
    net.layers.check()


def test_a_layer_may_read_a_blob_twice() -> None:
    net = lower(
        graph_of("""
pnnx.Input            in   0 1 0 #0=(2,3)f32
pnnx.Expression       a    1 1 0 1 expr=mul(@0,@0) #1=(2,3)f32
pnnx.Output           out  1 0 1
""")
    )
    assert lines(net) == ["Input:  -> in0", "Split: in0 -> 1 2", "BinaryOp: 1 2 -> out0"]


def test_an_input_that_is_returned_goes_through_a_noop() -> None:
    net = lower(
        graph_of("""
pnnx.Input            in   0 1 0 #0=(2,3)f32
pnnx.Output           out  1 0 0
""")
    )
    assert lines(net) == ["Input:  -> in0", "Noop: in0 -> out0"]


def test_what_nothing_reads_is_left_out() -> None:
    net = lower(
        graph_of("""
pnnx.Input            in   0 1 0 #0=(2,3)f32
pnnx.Input            in1  0 1 1 #1=(2,3)f32
F.relu                a    1 1 0 2 #2=(2,3)f32
F.tanh                b    1 1 2 3 #3=(2,3)f32
pnnx.Output           out  1 0 2
""")
    )
    assert lines(net) == ["Input:  -> in0", "Input:  -> in1", "ReLU: in0 -> out0"]


ACTIVATIONS = {
    "relu": (nn.ReLU(), 1, None),
    "leaky relu": (nn.LeakyReLU(0.25), 2, (0.25,)),
    "clip": (nn.ReLU6(), 3, (0.0, 6.0)),
    "sigmoid": (nn.Sigmoid(), 4, None),
    "mish": (nn.Mish(), 5, None),
    "hard swish": (nn.Hardswish(), 6, (1 / 6, 0.5)),
}
SHAPES = {
    nn.Conv1d(3, 4, 3): (1, 3, 9),
    nn.Conv2d(4, 4, 3, groups=4): (1, 4, 6, 7),
    nn.Conv3d(3, 4, 3): (1, 3, 5, 4, 4),
    nn.ConvTranspose2d(3, 4, 3): (1, 3, 6, 7),
    nn.Linear(5, 4): (5,),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_fused(name: str, tmp_path: Path) -> None:
    activation, number, params = ACTIVATIONS[name]
    torch.manual_seed(0)
    for layer, shape in SHAPES.items():
        net = check(
            Calls(nn.Sequential(layer, activation)), torch.randn(shape) * 3, folder=tmp_path
        )
        last = net.layers.operators[-1]
        assert "activation_type" in LAYERS[last.type].slots
        assert last.params["activation_type"] == number
        assert last.params.get("activation_params") == params


def test_an_activation_of_what_is_read_twice_stays() -> None:
    net = lower(
        graph_of("""
pnnx.Input            in   0 1 0 #0=(1,3,6,7)f32
pnnx.Input            w    0 1 1 #1=(4,3,1,1)f32
F.conv2d              c    2 1 0 1 2 dilation=(1,1) padding=(0,0) stride=(1,1) #2=(1,4,6,7)f32
F.relu                r    1 1 2 3 #3=(1,4,6,7)f32
prim::TupleConstruct  t    2 1 2 3 4
pnnx.Output           out  1 0 4
""")
    )
    assert layers_of(net) == ["Input", "Input", "Convolution", "Split", "ReLU"]


def test_padding_is_fused_into_convolutions(tmp_path: Path) -> None:
    torch.manual_seed(0)
    cases = {
        (1, 3, 9): [
            nn.Sequential(nn.ConstantPad1d((1, 2), 0.0), nn.Conv1d(3, 4, 3, padding=1)),
            nn.Sequential(nn.ConstantPad1d((1, 2), 1.5), nn.Conv1d(3, 4, 3)),
        ],
        (1, 4, 6, 7): [
            nn.Sequential(nn.ZeroPad2d((1, 2, 0, 3)), nn.Conv2d(4, 4, 3, stride=2)),
            nn.Sequential(nn.ZeroPad2d((1, 2, 0, 1)), nn.Conv2d(4, 4, 3, padding=1, groups=4)),
            nn.Sequential(nn.ConstantPad2d((1, 0, 1, 0), -2.5), nn.Conv2d(4, 4, 3)),
        ],
        (1, 3, 5, 4, 4): [
            nn.Sequential(nn.ConstantPad3d((1, 2, 0, 1, 2, 0), 0.0), nn.Conv3d(3, 4, 3)),
        ],
    }
    for shape, modules in cases.items():
        net = check(Calls(*modules), torch.randn(shape), folder=tmp_path)
        assert "Padding" not in layers_of(net)


def test_padding_that_is_another_stays(tmp_path: Path) -> None:
    torch.manual_seed(0)
    modules = [
        nn.Sequential(nn.ConstantPad2d(1, 1.5), nn.Conv2d(4, 4, 3, padding=1)),
        nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(4, 4, 3)),
        lambda x: F.conv2d(F.pad(x, (0, 0, 0, 0, 1, 1)), torch.ones(4, 6, 3, 3)),
        nn.Sequential(nn.ZeroPad2d(1), nn.ConvTranspose2d(4, 4, 3)),
    ]
    net = check(Calls(*modules), torch.randn(1, 4, 6, 7), folder=tmp_path)
    assert layers_of(net).count("Padding") == len(modules)


def test_products_read_what_is_transposed(tmp_path: Path) -> None:
    torch.manual_seed(0)
    for shape in [(4, 5), (3, 4, 5), (2, 3, 4, 5)]:
        net = check(
            Calls(lambda x, y: torch.matmul(x, y.transpose(-2, -1))),
            torch.randn(shape),
            torch.randn(shape),
            folder=tmp_path,
        )
        assert layers_of(net) == ["Input", "Input", "MatMul"]


def test_a_transpose_that_is_read_twice_stays(tmp_path: Path) -> None:
    call = Calls(lambda x: (torch.matmul(x, x.transpose(0, 1)), x.transpose(0, 1) + 1))
    net = check(call, torch.randn(4, 5), folder=tmp_path)
    assert layers_of(net).count("Permute") == 1


def test_a_convolution_of_one_pixel_is_an_inner_product(tmp_path: Path) -> None:
    torch.manual_seed(0)

    def gated() -> nn.Module:
        """Squeeze and excitation, as in MobileNetV3."""
        return nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(4, 2, 1), nn.ReLU(), nn.Conv2d(2, 4, 1)
        )

    class Gate(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gate = gated()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * torch.sigmoid(self.gate(x))

    for shape in [(1, 4, 6, 7), (2, 4, 6, 7), (4, 6, 7)]:
        net = check(Gate(), torch.randn(shape), folder=tmp_path)
        assert layers_of(net) == [
            "Input",
            "Split",
            "Pooling",
            "InnerProduct",
            "InnerProduct",
            "Reshape",
            "BinaryOp",
        ]
