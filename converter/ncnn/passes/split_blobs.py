"""Give each reader of a blob one of its own.

    Input    in0 0 1 in0              Input    in0   0 1 in0
    ReLU     a   1 1 in0 out0         Split    split 1 2 in0 1 2
    ReLU     b   1 1 in0 out1   →     ReLU     a     1 1 1 out0
                                      ReLU     b     1 1 2 out1

An output of the network reads too. Where a network returns its input, a Noop lies between.
"""

from __future__ import annotations

from converter.ir import Operand
from converter.ncnn.graph import NcnnGraph, Port
from converter.ncnn.layers import NOOP, SPLIT


def split_blobs(net: NcnnGraph) -> None:
    """Insert Split after each blob that is read more than once, or output and read."""
    layers = net.layers
    outputs: dict[Operand, list[Port]] = {}
    for port in net.outputs:
        outputs.setdefault(port.operand, []).append(port)
    inputs = {port.operand for port in net.inputs}
    for place in reversed(range(len(layers.operators))):
        for operand in layers.operators[place].outputs:
            ports = outputs.get(operand, [])
            readers = len(operand.consumers) + len(ports)
            if readers > 1 or (ports and operand in inputs):
                _split(net, operand, place, readers, ports)


def _split(net: NcnnGraph, operand: Operand, place: int, readers: int, ports: list[Port]) -> None:
    layers = net.layers
    consumers = list(dict.fromkeys(operand.consumers))
    copies = [layers.fresh(operand.name) for _ in range(readers)]
    fresh = iter(copies)
    for reader in consumers:
        layers.set_inputs(
            reader, [next(fresh) if blob is operand else blob for blob in reader.inputs]
        )
    for port in ports:
        port.operand = next(fresh)
    following = layers.operators[place + 1] if place + 1 < len(layers.operators) else None
    layer = SPLIT if readers > 1 else NOOP
    name = f"{layer.type.lower()}_{layers.operators[place].name}"
    layers.add(layer.type, name, [operand], copies, before=following)
