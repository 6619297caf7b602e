"""Write `.ncnn.param`, the text of a network, and `.ncnn.bin`, its weights.

    7767517
    3 3
    Input                    in0                      0 1 in0
    Convolution              conv1                    1 1 in0 1 0=8 1=3 6=216 9=1
    InnerProduct             fc                       1 1 1 out0 0=10 1=1 2=80

The magic number; the numbers of layers and blobs; one line per layer: type, name, number of inputs
and outputs, their blobs, then parameters by id: `0=8`, `0=8.0` for a float, `-23303=2,1,2` for an
array of two in parameter 3, `6="..."` for text. The `.bin` holds the weights in the order of the
layers, little-endian; one that may be fp16 has a word before it that tells, and ends at a multiple
of 4 bytes (ncnn's param-and-model-file-structure.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, TextIO

import numpy as np
from numpy.typing import NDArray

from converter.errors import ConvertError
from converter.ir import DTYPES, Array, Attribute, Operand, Operator, Param
from converter.ncnn.graph import NcnnGraph
from converter.ncnn.layers import Kind, Slot, layer_of
from converter.pnnx.names import operator_names, unique

MAGIC = "7767517"
FP32_TAG = (0).to_bytes(4, "little")
FP16_TAG = (0x01306B47).to_bytes(4, "little")
SINGLE, HALF = np.dtype("<f4"), np.dtype("<f2")
RAW = {"f16": SINGLE, "i64": np.dtype("<i4")}
LARGEST = float(np.finfo(np.float16).max)
ARRAY = -23300
CHUNK = 1 << 20
_NOT_IN_NAMES = re.compile(r"[^!-~]")
_LONGEST = 200  # ncnn reads names of up to 255 bytes


def write_param(net: NcnnGraph, stream: TextIO) -> None:
    """Write the layers. Inputs are called in0, in1…, outputs out0, out1…, other blobs 1, 2…"""
    blobs = blob_names(net)
    names = _layer_names(net)
    stream.write(f"{MAGIC}\n{len(net.layers.operators)} {len(blobs)}\n")
    for layer in net.layers.operators:
        words = [f"{layer.type:<24} {names[layer]:<24}"]
        words += [f"{len(layer.inputs)} {len(layer.outputs)}"]
        words += (blobs[operand] for operand in (*layer.inputs, *layer.outputs))
        words += _params(layer)
        stream.write(" ".join(words) + "\n")


def _layer_names(net: NcnnGraph) -> dict[Operator, str]:
    """One short word of ASCII each, no two alike."""
    words = (_NOT_IN_NAMES.sub("_", name) for name in operator_names(net.layers).values())
    short = unique((word[-_LONGEST:] for word in words), frozenset())
    return dict(zip(net.layers.operators, short, strict=True))


def blob_names(net: NcnnGraph) -> dict[Operand, str]:
    """Name the blobs, in the order in which they are written."""
    names = {port.operand: f"in{number}" for number, port in enumerate(net.inputs)}
    names |= {port.operand: f"out{number}" for number, port in enumerate(net.outputs)}
    others = 0
    ordered: dict[Operand, str] = {}
    for layer in net.layers.operators:
        for operand in layer.outputs:
            if operand not in names:
                others += 1
                names[operand] = str(others)
            ordered[operand] = names[operand]
    return ordered


def _params(layer: Operator) -> list[str]:
    slots = layer_of(layer).slots
    given = sorted((slots[name], value) for name, value in layer.params.items())
    return [_param(slot, value) for slot, value in given]


def _param(slot: Slot, value: Param) -> str:
    if slot.kind is Kind.str:
        return f'{slot.id}="{value}"'
    if isinstance(value, tuple):
        items = (_number(item) for item in value)
        return ",".join([f"{ARRAY - slot.id}={len(value)}", *items])
    return f"{slot.id}={_number(value)}"


def _number(value: Param) -> str:
    """A number as ncnn reads it: a float has a point or an exponent."""
    return str(np.float32(value)) if isinstance(value, float) else str(value)


def write_bin(net: NcnnGraph, stream: BinaryIO, fp16: bool) -> None:
    """Write the weights, a chunk at a time. With `fp16` those that may be are stored so.

    A weight with values beyond fp16 stays fp32. The stream must allow to seek. Raises ConvertError
    if a tensor has another number of values than its shape says.
    """
    for layer in net.layers.operators:
        for weight in layer_of(layer).weights:
            if weight.name not in layer.attrs:
                continue
            attr = layer.attrs[weight.name]
            if weight.raw:
                _write_raw(stream, attr, layer)
                continue
            if weight.tagged and fp16 and _write_halves(stream, attr, layer):
                continue
            stream.write(FP32_TAG if weight.tagged else b"")
            written = sum(stream.write(_bytes(values, SINGLE)) for values in _chunks(attr))
            _check(attr, layer, written // SINGLE.itemsize)


def _write_halves(stream: BinaryIO, attr: Attribute, layer: Operator) -> bool:
    """Write a weight as fp16; or nothing, and return False, where a value is beyond that.

    Few weights are, so that looking first would read almost all of them twice.
    """
    start = stream.tell()
    stream.write(FP16_TAG)
    written = 0
    for values in _chunks(attr):
        if _beyond_fp16(values):
            stream.seek(start)
            stream.truncate()
            return False
        written += stream.write(_bytes(values, HALF)) // 2
    _check(attr, layer, written)
    stream.write(bytes(-2 * written % 4))
    return True


def _write_raw(stream: BinaryIO, attr: Attribute, layer: Operator) -> None:
    """Write a foreign layer's weight: fp16 as fp32, 64-bit integers as 32 bits, others as they are.

    Each ends at a multiple of 4 bytes.
    """
    dtype = RAW.get(attr.dtype, DTYPES[attr.dtype])
    written = 0
    for values in _stored(attr):
        narrow = values.astype(dtype, copy=False)
        if dtype.kind == "i" and not np.array_equal(narrow, values):
            raise ConvertError(
                f"a weight of {layer.type} {layer.name} has integers beyond 32 bits, which ncnn "
                "does not have",
                where=layer.where,
            )
        written += stream.write(narrow.view(np.uint8).data) // dtype.itemsize
    _check(attr, layer, written)
    stream.write(bytes(-dtype.itemsize * written % 4))


def _bytes(values: NDArray[np.float32], dtype: np.dtype[np.generic]) -> memoryview:
    return values.astype(dtype, copy=False).view(np.uint8).data


def _beyond_fp16(values: NDArray[np.float32]) -> bool:
    """Whether a finite value would become infinite in fp16."""
    if values.min() >= -LARGEST and values.max() <= LARGEST:  # neither with a NaN
        return False
    return bool(np.any(np.isfinite(values) & (np.abs(values) > LARGEST)))


def _check(attr: Attribute, layer: Operator, written: int) -> None:
    if written != attr.size:
        raise ConvertError(
            f"a weight of {layer.type} {layer.name} has {written} values, not {attr.size}",
            where=layer.where,
        )


def _chunks(attr: Attribute) -> Iterator[NDArray[np.float32]]:
    """The values in single precision."""
    return (values.astype(np.float32, copy=False) for values in _stored(attr))


def _stored(attr: Attribute) -> Iterator[Array]:
    """The values as they are stored. A chunk of bytes may end within one."""
    dtype = DTYPES[attr.dtype]
    rest = b""
    for chunk in attr.data.chunks(CHUNK):
        data = memoryview(rest + bytes(chunk)) if rest else chunk
        whole = len(data) // dtype.itemsize * dtype.itemsize
        rest = bytes(data[whole:])
        if whole:
            yield np.frombuffer(data[:whole], dtype)
