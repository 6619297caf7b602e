"""The batch axis is tracked through a network, and brought back where an operator mixes it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from ncnn_runs import check, graph_of, layers_of

from converter.ncnn import lower
from converter.ncnn.batch import wanted_axes

nn, F = torch.nn, torch.nn.functional


class Convolved(nn.Module):
    """A function of a convolution, which wants axis 0 in the batch, and of the other inputs."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.linear = nn.Linear(4, 8)
        self.function = function

    def forward(self, x: Any, *others: Any) -> Any:
        return self.function(self, x, *others)


MIXING = {
    "rows within the batch": lambda m, x: m.conv(x).reshape(2, -1, 2),
    "rows across the batch": lambda m, x: m.conv(x).reshape(-1, 2, 2),
    "mean of the batch": lambda m, x: m.conv(x).mean(0),
    "mean kept": lambda m, x: m.conv(x) + m.conv(x).mean(0, keepdim=True),
    "mean of the rest": lambda m, x: m.conv(x).mean((1, 2, 3)),
    "sum of all": lambda m, x: m.conv(x).sum(),
    "softmax of the batch": lambda m, x: F.softmax(m.conv(x), 0),
    "one of the batch": lambda m, x: m.conv(x)[1],
    "batches joined": lambda m, x: torch.cat((m.conv(x), m.conv(x + 1)), 0),
    "batch expanded": lambda m, x: m.conv(x[:1]).expand(2, 4, 4, 5) + 1,
    "batch moved": lambda m, x: m.conv(x).reshape(2, 4, -1).permute(2, 0, 1),
    "batch moved inside": lambda m, x: m.conv(x).permute(1, 0, 2, 3).reshape(4, -1),
    "tokens": lambda m, x: m.linear(m.conv(x).flatten(2).transpose(1, 2)),
    "shape of the batch": lambda m, x: F.relu(m.conv(x)).flatten(1).sum(1),
}


OF_TWO = {"rows within the batch", "one of the batch", "batch moved"}


@pytest.mark.parametrize("name", MIXING)
def test_what_mixes_a_batch_of_two(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    check(Convolved(MIXING[name]), torch.randn(2, 3, 6, 7), folder=tmp_path)


@pytest.mark.parametrize("name", sorted(MIXING.keys() - OF_TWO))
def test_what_mixes_a_batch_of_one(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    check(Convolved(MIXING[name]), torch.randn(1, 3, 6, 7), folder=tmp_path)


@pytest.mark.parametrize("shape", [(4, 5), (4, 4, 5), (2, 4, 4, 5), (2, 1, 1, 1), (1, 1, 1, 5)])
def test_operands_of_other_ranks(shape: tuple[int, ...], tmp_path: Path) -> None:
    torch.manual_seed(0)
    for function in (lambda m, x, y: m.conv(x) + y, lambda m, x, y: y - m.conv(x)):
        check(Convolved(function), torch.randn(2, 3, 6, 7), torch.randn(shape), folder=tmp_path)


@pytest.mark.parametrize(
    "function",
    [
        lambda m, x, y: m.conv(x) * y[:, None, None, None],
        lambda m, x, y: m.conv(x) * y.relu().view(-1, 1, 1, 1) + y.sum(),
        lambda m, x, y: (m.conv(x * y.view(2, 1, 1, 1)), y * 2),
    ],
)
def test_one_number_for_each_of_a_batch(function: Callable[..., Any], tmp_path: Path) -> None:
    """As the time steps of diffusion models: ncnn makes no batch of an input of one dim."""
    torch.manual_seed(0)
    net = check(Convolved(function), torch.randn(2, 3, 6, 7), torch.rand(2), folder=tmp_path)
    assert [port.batch for port in net.inputs] == [0, None]


def test_a_permuted_input_has_its_batch_where_the_convolution_wants_it(tmp_path: Path) -> None:
    net = check(
        Convolved(lambda m, x: m.conv(x.permute(1, 0, 2, 3)).permute(1, 0, 2, 3)),
        torch.randn(3, 2, 6, 7),
        folder=tmp_path,
    )
    assert layers_of(net) == ["Input", "Convolution"]
    assert (net.inputs[0].batch, net.outputs[0].batch) == (1, 1)


def test_a_batch_that_is_made_and_dropped_needs_no_layer(tmp_path: Path) -> None:
    net = check(Convolved(lambda m, x: m.conv(x[None])[0]), torch.randn(3, 6, 7), folder=tmp_path)
    assert layers_of(net) == ["Input", "Convolution"]
    assert (net.inputs[0].batch, net.outputs[0].batch) == (None, None)


CLASSIFIER = """
pnnx.Input        in    0 1 0 #0=(1,3,6,7)f32
F.relu            a     1 1 0 1 #1=(1,3,6,7)f32
F.avg_pool2d      b     1 1 1 2 kernel_size=(2,2) padding=(0,0) stride=None #2=(1,3,3,3)f32
F.adaptive_avg_pool2d c 1 1 2 3 output_size=(1,1) #3=(1,3,1,1)f32
torch.flatten     d     1 1 3 4 end_dim=-1 start_dim=1 #4=(1,3)f32
pnnx.Output       out   1 0 4
"""


def test_the_wish_of_a_pooling_reaches_the_input() -> None:
    graph = graph_of(CLASSIFIER)
    wanted = {operand.name: axis for operand, axis in wanted_axes(graph).items()}
    assert wanted == dict.fromkeys("01234", 0)


def test_flattening_what_was_pooled_needs_no_reshape() -> None:
    assert layers_of(lower(graph_of(CLASSIFIER))) == ["Input", "ReLU", "Pooling", "Pooling"]


def test_without_a_wish_tensors_are_whole() -> None:
    net = lower(
        graph_of("""
pnnx.Input        in    0 1 0 #0=(2,3,6,7)f32
F.relu            a     1 1 0 1 #1=(2,3,6,7)f32
pnnx.Output       out   1 0 1
""")
    )
    assert (net.inputs[0].batch, net.outputs[0].batch) == (None, None)
