"""The three files: text, weights and Python."""

import importlib.util
import io
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from ncnn_runs import PNNX, Calls, graph_of, pnnx_graph

from converter.errors import ConvertError
from converter.ir import Attribute
from converter.ncnn import NcnnGraph, lower, write_bin, write_param, write_python
from converter.ncnn.graph import Port
from converter.ncnn.layers import CLIP, CONVOLUTION, INPUT, RESHAPE, SOFTMAX, LayerCall

nn, F = torch.nn, torch.nn.functional


def text_of(net: NcnnGraph) -> str:
    stream = io.StringIO()
    write_param(net, stream)
    return stream.getvalue()


def bytes_of(net: NcnnGraph, fp16: bool) -> bytes:
    stream = io.BytesIO()
    write_bin(net, stream, fp16)
    return stream.getvalue()


def of_layers(*calls: LayerCall) -> NcnnGraph:
    """A network of layers one after the other."""
    net = NcnnGraph()
    blob = net.layers.operand("x")
    net.layers.add(INPUT.type, "in0", [], [blob])
    net.inputs = [Port(blob, (3,), "f32", None)]
    for number, call in enumerate(calls):
        made = net.layers.operand(f"y{number}")
        name = f"layer {number}"
        net.layers.add(
            call.layer.type, name, [blob], [made], params=call.params, attrs=call.weights
        )
        blob = made
    net.outputs, net.result = [Port(blob, (3,), "f32", None)], 0
    return net


def test_param_is_written_as_ncnn_reads_it() -> None:
    net = of_layers(
        CLIP(min=0.0, max=1e-7),
        RESHAPE(w=3, h=-1, shape_expr="3,2"),
        CONVOLUTION(num_output=2, kernel_w=1, activation_type=3, activation_params=(0.0, 6.0)),
        SOFTMAX(axis=0, fixbug0=1),
    )
    assert (
        text_of(net)
        == """\
7767517
5 5
Input                    in0                      0 1 in0
Clip                     layer_0                  1 1 in0 1 0=0.0 1=1e-07
Reshape                  layer_1                  1 1 1 2 0=3 1=-1 6="3,2"
Convolution              layer_2                  1 1 2 3 0=2 1=1 9=3 -23310=2,0.0,6.0
Softmax                  layer_3                  1 1 3 out0 0=0 1=1
"""
    )


def test_layer_names_are_short_words_of_ascii_and_unlike() -> None:
    net = of_layers(SOFTMAX(axis=0), SOFTMAX(axis=0), SOFTMAX(axis=0))
    names = ["in0", "a b", "層" + "x" * 300, "x" * 300]
    for layer, name in zip(net.layers.operators, names, strict=True):
        layer.name = name
    names = [line.split()[1] for line in text_of(net).splitlines()[2:]]
    assert names == ["in0", "a_b", "x" * 200, "x" * 200 + "_1"]


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_floats_keep_their_value_and_look_like_floats(value: float) -> None:
    word = text_of(of_layers(CLIP(min=value, max=0.0))).split(" 0=")[1].split()[0]
    assert np.float32(word) == np.float32(value)
    assert "." in word or "e" in word


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_floats_that_the_text_cannot_hold_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="cannot hold"):
        CLIP(min=value)


def test_layers_check_what_they_are_given() -> None:
    with pytest.raises(TypeError, match="Softmax has no parameter 'dim'"):
        SOFTMAX(dim=1)
    with pytest.raises(TypeError, match=r"Softmax: axis is 1\.5, not of type int"):
        SOFTMAX(axis=1.5)
    with pytest.raises(TypeError, match="the weight weight is 3"):
        CONVOLUTION(weight=3)


class Weighed(nn.Module):
    """A layer of each kind that has weights; an even number of values in each, so that pnnx, which
    leaves the two bytes after an odd number of fp16 values as they were, writes the same bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.images = nn.Sequential(
            nn.Conv2d(2, 4, 3),
            nn.BatchNorm2d(4),
            nn.PReLU(4),
            nn.ConvTranspose2d(4, 6, 3, groups=2),
            nn.Conv2d(6, 6, 3, groups=6, bias=False),
            nn.GroupNorm(2, 6),
            nn.InstanceNorm2d(6, affine=True),
        )
        self.rows = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8))
        self.lstm = nn.LSTM(8, 4, batch_first=True, bidirectional=True)
        self.projected = nn.LSTM(8, 4, batch_first=True, proj_size=2)
        self.gru = nn.GRU(2, 4, batch_first=True)
        self.rnn = nn.RNN(4, 6, batch_first=True)
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
        self.last = nn.Sequential(nn.RMSNorm(6, eps=1e-5), nn.Linear(6, 4))

    def forward(self, x: Any) -> Any:
        x = self.rows(self.images(x).flatten(2).transpose(1, 2))
        x = self.projected(self.lstm(x)[0])[0]
        x = self.rnn(self.gru(x)[0])[0]
        x = self.attention(x, x, x, need_weights=False)[0]
        return self.last(x).mean(1)


@pytest.mark.parametrize("fp16", [False, True])
def test_weights_are_the_bytes_that_pnnx_writes(fp16: bool, tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = lower(pnnx_graph(Weighed().eval(), [torch.randn(1, 2, 9, 9)], tmp_path))
    told = [PNNX, tmp_path / "model.pt", "inputshape=[1,2,9,9]f32", f"fp16={int(fp16)}"]
    subprocess.run(told, check=True, capture_output=True, timeout=60)
    assert bytes_of(net, fp16) == (tmp_path / "model.ncnn.bin").read_bytes()


def test_a_table_is_stored_as_pnnx_does(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = lower(pnnx_graph(Calls(nn.Embedding(10, 8)).eval(), [torch.randint(10, (3,))], tmp_path))
    assert bytes_of(net, False) == (tmp_path / "model.ncnn.bin").read_bytes()


def convolution(weight: Attribute) -> NcnnGraph:
    return of_layers(CONVOLUTION(weight=weight, bias=Attribute.of(np.ones(1, np.float32))))


def test_fp16_weights_end_at_a_multiple_of_four_bytes() -> None:
    data = bytes_of(convolution(Attribute.of(np.array([1, 2, 3], np.float32))), True)
    assert data == b"\x47\x6b\x30\x01" + np.array([1, 2, 3, 0], "<f2").tobytes() + (
        np.ones(1, "<f4").tobytes()
    )


def test_weights_beyond_fp16_stay_fp32() -> None:
    values = np.array([1, 7e4, np.inf], np.float32)
    data = bytes_of(convolution(Attribute.of(values)), True)
    assert data == bytes(4) + values.tobytes() + np.ones(1, "<f4").tobytes()


@pytest.mark.parametrize("dtype", ["f64", "f16", "bf16"])
def test_weights_of_other_dtypes_are_converted(dtype: str) -> None:
    from converter.ir import DTYPES

    values = np.array([0.5, -3, 100], DTYPES[dtype])
    data = bytes_of(convolution(Attribute.of(values)), False)
    assert data[4:16] == values.astype("<f4").tobytes()


class Pieces:
    """Values that come in chunks of any size."""

    def __init__(self, values: Any, sizes: list[int]) -> None:
        self.values = values
        self.sizes = sizes

    def chunks(self, limit: int) -> Iterator[memoryview]:
        data = memoryview(self.values.tobytes())
        for size in self.sizes:
            yield data[:size]
            data = data[size:]
        yield data

    def array(self) -> Any:
        return self.values


def test_a_value_beyond_fp16_may_come_late() -> None:
    values = np.array([1, np.nan, 2, -7e4], np.float32)
    pieces = Attribute("f32", (4,), Pieces(values, [8]))
    data = bytes_of(convolution(pieces), True)
    assert data == bytes(4) + values.tobytes() + np.ones(1, "<f4").tobytes()


@given(st.lists(st.integers(0, 9), max_size=9))
def test_a_chunk_may_end_within_a_value(sizes: list[int]) -> None:
    values = np.arange(5, dtype=np.float32)
    for fp16 in (False, True):
        pieces = Attribute("f32", (5,), Pieces(values, sizes))
        assert bytes_of(convolution(pieces), fp16) == bytes_of(
            convolution(Attribute.of(values)), fp16
        )


def test_a_tensor_with_too_few_values_is_an_error() -> None:
    short = Attribute("f32", (6,), Pieces(np.arange(5, dtype=np.float32), []))
    with pytest.raises(ConvertError, match="has 5 values, not 6"):
        bytes_of(convolution(short), False)


def imported(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("written", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_python_runs_the_network_beside_it(tmp_path: Path, monkeypatch: Any) -> None:
    module = Calls(
        lambda x, i, s: F.conv2d(x, torch.ones(4, 3, 2, 2)).mean(),
        lambda x, i, s: F.embedding(i, torch.arange(40.0).reshape(10, 4)),
        lambda x, i, s: i.reshape(6),
        lambda x, i, s: (s * 2 + x.sum(), (x.double() + 1).half()),
    )
    monkeypatch.chdir("/")
    inputs = [torch.rand(2, 3, 4, 5), torch.randint(10, (2, 3)), torch.rand(1)]
    net = lower(pnnx_graph(module, inputs, tmp_path))
    net.result = (0, (1, 2), 3)
    path = tmp_path / "it's_ncnn.py"
    with path.open("w") as text:
        write_python(net, text, "it's.param", 'a "b".bin')
    (tmp_path / "it's.param").write_text(text_of(net))
    (tmp_path / 'a "b".bin').write_bytes(bytes_of(net, False))

    torch.manual_seed(0)
    x, i, s = torch.rand(2, 3, 4, 5), torch.randint(10, (2, 3)), torch.rand(1)
    with torch.no_grad():
        expected = module(x, i, s)
    generated = imported(path)
    mean, (rows, numbers), scaled = generated.test_inference()
    transposed = x.transpose(2, 3).contiguous().transpose(2, 3)
    torch.testing.assert_close(generated.infer(transposed, i, s)[0], mean)
    torch.testing.assert_close(mean, expected[0])
    torch.testing.assert_close(rows, expected[1])
    torch.testing.assert_close(numbers, expected[2])
    torch.testing.assert_close(scaled, expected[3], rtol=1e-5, atol=1e-5)


def test_python_returns_complex_tensors_for_ncnns_pairs(tmp_path: Path) -> None:
    def spectrum(x: Any) -> Any:
        return torch.stft(x, 16, window=torch.hann_window(16), return_complex=True)

    net = lower(pnnx_graph(Calls(spectrum), [torch.rand(2, 64)], tmp_path))
    net.result = 0
    (tmp_path / "m.param").write_text(text_of(net))
    (tmp_path / "m.bin").write_bytes(bytes_of(net, False))
    with (tmp_path / "m_ncnn.py").open("w") as text:
        write_python(net, text, "m.param", "m.bin")
    x = torch.rand(2, 64)
    made = imported(tmp_path / "m_ncnn.py").infer(x)
    torch.testing.assert_close(made, spectrum(x), rtol=1e-5, atol=1e-5)


def test_python_says_what_ncnn_cannot_load(tmp_path: Path) -> None:
    net = lower(
        graph_of("""
pnnx.Input   in  0 1 0 #0=(2,3)f32
F.relu       a   1 1 0 1 #1=(2,3)f32
pnnx.Output  out 1 0 1
""")
    )
    path = tmp_path / "model_ncnn.py"
    with path.open("w") as text:
        write_python(net, text, "missing.param", "missing.bin")
    with pytest.raises(RuntimeError, match="ncnn cannot load the network"):
        imported(path).test_inference()
