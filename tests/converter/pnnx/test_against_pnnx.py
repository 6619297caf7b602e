"""What the pnnx program writes of small modules: read, written and run."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import torch
from generated import flat, load
from small_modules import MODULES
from torch import Tensor, nn

from converter.ir import DTYPE_NAMES, Graph
from converter.pnnx.bin import write_bin
from converter.pnnx.param import write_param
from converter.pnnx.python import write_python
from converter.pnnx.read import read_pnnx
from suites.pnnx_program import convert


def convert_module(module: nn.Module, inputs: tuple[Tensor, ...], folder: Path) -> Graph:
    """Trace a module, run pnnx on it and read what it wrote."""
    with torch.no_grad():
        traced = torch.jit.trace(module, inputs, check_trace=False, strict=False)
    traced.save(folder / "m.pt")
    shapes = ",".join(
        f"[{','.join(map(str, one.shape))}]{DTYPE_NAMES[one.numpy().dtype]}" for one in inputs
    )
    files = [folder / "m.pnnx.param", folder / "m.pnnx.bin"]
    convert(folder / "m.pt", [f"inputshape={shapes}"], files, limit=60)
    return read_pnnx(*files)


@pytest.mark.parametrize(("cls", "inputs"), MODULES, ids=[cls.__name__ for cls, _ in MODULES])
def test_pnnx_files(cls: type[nn.Module], inputs: tuple[Tensor, ...], tmp_path: Path) -> None:
    """The text and the tensors come back; the Python that we write of the graph computes the same.

    The Python is imported from another folder than the current one.
    """
    torch.manual_seed(0)
    module = cls().eval()
    graph = convert_module(module, inputs, tmp_path)
    graph.check()

    stream = io.StringIO()
    write_param(graph, stream)
    assert stream.getvalue() == (tmp_path / "m.pnnx.param").read_text()

    write_bin(graph, tmp_path / "ours.bin")
    again = read_pnnx(tmp_path / "m.pnnx.param", tmp_path / "ours.bin")
    for old, new in zip(graph.operators, again.operators, strict=True):
        for key, attr in old.attrs.items():
            assert new.attrs[key].array().tobytes() == attr.array().tobytes()

    with (tmp_path / "m_pnnx.py").open("w") as file:
        write_python(graph, file, "ours.bin", "m_pnnx")
    generated = load(tmp_path / "m_pnnx.py")
    drawn = generated._inputs()
    with torch.no_grad():
        expected = flat(module(*(one.clone() for one in drawn)))
    for wanted, got in zip(expected, flat(generated.test_inference()), strict=True):
        torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)
