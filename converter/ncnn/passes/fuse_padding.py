"""Let convolutions pad their input by a constant themselves.

Padding      p  1 1 in0 x top=1 left=1 type=0 value=0.0
Convolution  c  1 1 x out0 pad_top=0 pad_left=0
→
Convolution  c  1 1 in0 out0 pad_top=1 pad_bottom=0 pad_left=1 pad_right=0
"""

from __future__ import annotations

from converter.ir import Operator, Param
from converter.ncnn.graph import NcnnGraph
from converter.ncnn.layers import LAYERS

CONSTANT = 0
SIDES = {
    "left": "pad_left",
    "right": "pad_right",
    "top": "pad_top",
    "bottom": "pad_bottom",
    "front": "pad_front",
    "behind": "pad_behind",
}
OPPOSITE = {"pad_right": "pad_left", "pad_bottom": "pad_top", "pad_behind": "pad_front"}
"""The side whose size ncnn takes for one that is not given."""


def fuse_padding(net: NcnnGraph) -> None:
    """Fuse where the convolution is the only reader, and pads by the same value if at all."""
    layers = net.layers
    outputs = {port.operand for port in net.outputs}
    for padding in layers.of_type("Padding"):
        (blob,) = padding.outputs
        if len(blob.consumers) != 1 or blob in outputs or padding.params["type"] != CONSTANT:
            continue
        (reader,) = blob.consumers
        if reader.type.startswith("Convolution") and reader.inputs[0] is blob:
            sizes = _sizes(padding, reader)
            if sizes is not None:
                reader.params.update(sizes)
                layers.set_inputs(reader, [*padding.inputs, *reader.inputs[1:]])
                layers.remove(padding)


def _sizes(padding: Operator, conv: Operator) -> dict[str, Param] | None:
    """The convolution's pads and value with the padding's, or None if they do not go together."""
    slots = LAYERS[conv.type].slots
    added = {SIDES[name]: size for name, size in padding.params.items() if name in SIDES}
    if any(name not in slots and size for name, size in added.items()):
        return None
    names = [name for name in SIDES.values() if name in slots]
    own = {name: conv.params.get(name, conv.params.get(OPPOSITE.get(name, name))) for name in names}
    value = padding.params["value"]
    if value and any(own.values()):
        return None
    sizes: dict[str, Param] = {}
    for name in names:
        total = (own[name], added.get(name, 0))
        if not all(isinstance(size, int) and size >= 0 for size in total):
            return None
        sizes[name] = sum(size for size in total if isinstance(size, int))
    return {**sizes, "pad_value": value} if value else sizes
