"""Runs modules through pnnx's graph, our lowering and the ncnn runtime, beside eager."""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ncnn
import numpy as np
import torch

from converter.ir import Graph
from converter.ncnn import NcnnGraph, lower, write_bin, write_param
from converter.ncnn.python import NO_BATCH
from converter.pnnx.param import read_param
from converter.pnnx.read import read_pnnx
from suites.pnnx_program import program

PNNX = program()
DTYPES = {torch.float32: "f32", torch.int64: "i64", torch.int32: "i32"}

RTOL, ATOL = 1e-5, 4e-6
"""Single precision in another order of operations, and other polynomials for exp and its like."""


class Calls(torch.nn.Module):
    """Each function or module on the same inputs; a module's parameters are its own."""

    def __init__(self, *calls: Callable[..., Any]) -> None:
        super().__init__()
        self.calls = calls
        self.held = torch.nn.ModuleList(c for c in calls if isinstance(c, torch.nn.Module))

    def forward(self, *inputs: Any) -> Any:
        results = []
        for call in self.calls:
            made = call(*inputs)
            results.extend(made if isinstance(made, tuple | list) else [made])
        return tuple(results)


def pnnx_graph(module: Any, inputs: Sequence[Any], folder: Path) -> Graph:
    """The graph that pnnx writes of a traced module."""
    path = folder / "model.pt"
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(module, tuple(inputs), check_trace=False).save(str(path))
    shapes = ",".join("[" + ",".join(map(str, x.shape)) + "]" + DTYPES[x.dtype] for x in inputs)
    told = subprocess.run(
        [PNNX, path, f"inputshape={shapes}", "fp16=0"], capture_output=True, text=True, timeout=60
    )
    param = folder / "model.pnnx.param"
    assert param.exists(), told.stderr
    return read_pnnx(param, folder / "model.pnnx.bin")


def run(net: NcnnGraph, arrays: Sequence[Any], folder: Path, fp16: bool = False) -> list[Any]:
    """The outputs of a network, each of the shape that the network says."""
    param, bin = folder / "ours.ncnn.param", folder / "ours.ncnn.bin"
    with param.open("w") as text:
        write_param(net, text)
    with bin.open("wb") as binary:
        write_bin(net, binary, fp16)
    with ncnn.Net() as loaded:
        loaded.opt.num_threads = 1
        loaded.opt.use_fp16_packed = False
        loaded.opt.use_fp16_storage = False
        loaded.opt.use_fp16_arithmetic = False
        loaded.opt.use_winograd_convolution = False  # it rounds more than PyTorch's convolutions
        assert loaded.load_param(str(param)) == 0, param.read_text()
        assert loaded.load_model(str(bin)) == 0, param.read_text()
        with loaded.create_extractor() as extractor:
            for number, (port, array) in enumerate(zip(net.inputs, arrays, strict=True)):
                values = array.astype(np.int32 if port.indices else np.float32)
                batch = NO_BATCH if port.batch is None else port.batch
                mat = ncnn.Mat(values.reshape(values.shape or 1), batch_index=batch)
                extractor.input(f"in{number}", mat.clone())
            outputs = []
            for number, port in enumerate(net.outputs):
                status, mat = extractor.extract(f"out{number}")
                assert status == 0, f"out{number}: {status}\n{param.read_text()}"
                batch = NO_BATCH if port.batch is None else port.batch
                format = "i" if port.indices else ""
                values = mat.numpy(format, batch_index=batch)
                outputs.append(values.reshape(port.shape or ()).copy())
    return outputs


def check(
    module: Any, *inputs: Any, folder: Path, rtol: float = RTOL, atol: float = ATOL
) -> NcnnGraph:
    """Assert that the network computes what the module does; return the network."""
    module = module.eval() if isinstance(module, torch.nn.Module) else Calls(module)
    net = lower(pnnx_graph(module, inputs, folder))
    with torch.no_grad():
        expected = leaves(module(*inputs))
    actual = run(net, [x.numpy() for x in inputs], folder)
    assert len(actual) == len(expected)
    for number, (left, right) in enumerate(zip(expected, actual, strict=True)):
        assert tuple(left.shape) == tuple(net.outputs[number].shape), f"out{number}"
        np.testing.assert_allclose(
            right, left.numpy(), rtol, atol, equal_nan=True, err_msg=f"out{number}"
        )
    return net


def leaves(result: Any) -> list[Any]:
    if isinstance(result, tuple | list):
        return [leaf for item in result for leaf in leaves(item)]
    return [result]


def graph_of(text: str) -> Graph:
    """A graph of the lines of a `.pnnx.param`, without weights."""
    lines = text.strip().splitlines()
    operands = sum(int(line.split()[3]) for line in lines)
    return read_param(f"7767517\n{len(lines)} {operands}\n" + "\n".join(lines), "test")


def layers_of(net: NcnnGraph) -> list[str]:
    """The types of the layers in order."""
    return [layer.type for layer in net.layers.operators]
