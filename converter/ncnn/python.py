"""Write `_ncnn.py`: a Python program that runs the network on pnnx's random inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from converter.ncnn.graph import INTEGERS, Literal, NcnnGraph, Nest, Port
from converter.symbols import drawn_shape

NO_BATCH = 233
TORCH = {
    None: "float",
    "f32": "float",
    "f64": "double",
    "f16": "half",
    "bf16": "bfloat16",
    "i8": "int8",
    "i16": "int16",
    "i32": "int",
    "i64": "long",
    "u8": "uint8",
    "bool": "bool",
}

HEAD = """\
from pathlib import Path

import ncnn
import torch

HERE = Path(__file__).resolve().parent

"""
LAYERS = '''
LAYERS = {layers!r}
"""Put here for each of your layers the two functions that make and delete one."""

'''
INFER = '''
def infer({arguments}):
    """Run the network in single precision."""
'''
NET = """\
    with ncnn.Net() as net:
        net.opt.use_fp16_packed = False
        net.opt.use_fp16_storage = False
        net.opt.use_fp16_arithmetic = False
{register}\
        if net.load_param(str(HERE / {param!r})) or net.load_model(str(HERE / {bin!r})):
            raise RuntimeError("ncnn cannot load the network")

        with net.create_extractor() as ex:
"""
REGISTER = """\
        for name, functions in LAYERS.items():
            if functions is None:
                raise RuntimeError(f"put what makes and deletes a {name} into LAYERS")
            net.register_custom_layer(name, *functions)
"""
TAIL = '''
    return {result}


def test_inference():
    """Run the network on the inputs that PyTorch's seed 0 gives."""
    torch.manual_seed(0)
    return infer({drawn})


if __name__ == "__main__":
    print(test_inference())
'''


def write_python(net: NcnnGraph, stream: TextIO, param_name: str, bin_name: str) -> None:
    """Write the program. It finds the files of these names beside itself.

    `infer()` takes and returns tensors of the shapes and dtypes of the model's, the results nested
    as the model's are, a dict as the tuple of its values, what is no tensor as it is.
    `test_inference()` draws the inputs as pnnx does, floats from [0, 1) and integers from 0 to 9. A
    network with layers that are not ncnn's runs once the user has put them into the program's
    `LAYERS`.
    """
    foreign = {layer.type: None for layer in net.layers.operators if layer.opaque}
    stream.write(HEAD)
    stream.write(LAYERS.format(layers=foreign) if foreign else "")
    stream.write(INFER.format(arguments=", ".join(f"in{at}" for at in range(len(net.inputs)))))
    for number, port in enumerate(net.inputs):
        # A Mat does not keep the array that it is made of: each has a name of its own.
        stream.write(f"    array{number} = {_array(number, port)}\n")
    stream.write(NET.format(register=REGISTER * bool(foreign), param=param_name, bin=bin_name))
    for number, port in enumerate(net.inputs):
        stream.write(
            f"            ex.input({f'in{number}'!r}, ncnn.Mat(array{number}, "
            f"batch_index={_batch(port)}).clone())\n"
        )
    for number, port in enumerate(net.outputs):
        values = f"mat{number}.numpy({_format(port)}batch_index={_batch(port)}).copy()"
        stream.write(
            f"            ret{number}, mat{number} = ex.extract({f'out{number}'!r})\n"
            f"            if ret{number}:\n"
            f'                raise RuntimeError("ncnn cannot compute out{number}")\n'
            f"            out{number} = {_as_model(port, f'torch.from_numpy({values})')}\n"
        )
    drawn = "".join(f"\n        {_draw(port, net.layers.sizes)}," for port in net.inputs)
    stream.write(TAIL.format(result=_nest(net.result), drawn=drawn + "\n    " * bool(drawn)))


def _draw(port: Port, known: Mapping[str, int]) -> str:
    sizes = ", ".join(map(str, drawn_shape(port.shape, known)))
    dtype = TORCH[port.dtype]
    if port.dtype in INTEGERS:
        return f"torch.randint(10, ({sizes},), dtype=torch.{dtype})"
    return f"torch.rand({sizes or '()'}, dtype=torch.{dtype})"


def _array(number: int, port: Port) -> str:
    """The input as ncnn takes it: single precision or 32-bit integers, and at least one dim."""
    dtype = "int" if port.indices else "float"
    cast = "" if TORCH[port.dtype] == dtype else f".to(torch.{dtype})"
    shape = "" if port.shape else ".reshape(1)"
    return f"in{number}{cast}.contiguous(){shape}.numpy()"


def _format(port: Port) -> str:
    """How to read the blob, which is of floats unless told otherwise."""
    return "'i', " if port.indices else ""


def _as_model(port: Port, blob: str) -> str:
    """A blob as the model's tensor: complex numbers are pairs in ncnn."""
    if port.dtype == "c64":
        return f"torch.view_as_complex({blob})"
    cast = "" if port.dtype in (None, "f32") else f".to(torch.{TORCH[port.dtype]})"
    return blob + cast + ("" if port.shape else ".reshape(())")


def _batch(port: Port) -> int:
    return NO_BATCH if port.batch is None else port.batch


def _nest(result: Nest) -> str:
    if isinstance(result, int):
        return f"out{result}"
    if isinstance(result, Literal):
        return result.text
    return "(" + "".join(f"{_nest(item)}, " for item in result) + ")"
