"""Give each reader of a blob one of its own.

    Input    in0 0 1 in0              Input    in0   0 1 in0
    ReLU     a   1 1 in0 out0         Split    split 1 2 in0 1 2
    ReLU     b   1 1 in0 out1   →     ReLU     a     1 1 1 out0
                                      ReLU     b     1 1 2 out1

An output of the network reads too. Where a network returns its input, a Noop lies between.
"""

from __future__ import annotations

from converter.ir import Graph, Operand, Operator
from converter.ncnn.graph import NcnnGraph, Port
from converter.ncnn.layers import NOOP, SPLIT


def split_blobs(net: NcnnGraph) -> None:
    """Insert Split after each blob that is read more than once, or output and read."""
    outputs: dict[Operand, list[Port]] = {}
    for port in net.outputs:
        outputs.setdefault(port.operand, []).append(port)
    inputs = {port.operand for port in net.inputs}
    split = _Splitter(net.layers)
    following: Operator | None = None
    for layer in reversed(net.layers.operators):
        for operand in layer.outputs:
            ports = outputs.get(operand, [])
            if len(operand.consumers) + len(ports) > 1 or (ports and operand in inputs):
                following = split(layer, operand, ports, following)
        following = layer


class _Splitter:
    """Inserts Splits. Readers get copies in the order in which they got those of other blobs."""

    def __init__(self, layers: Graph) -> None:
        self._layers = layers
        self._served: dict[Operator, int] = {}
        self._count = 0

    def __call__(
        self, layer: Operator, operand: Operand, ports: list[Port], following: Operator | None
    ) -> Operator:
        """Insert the Split of a layer's output, before the layer that follows it."""
        readers = len(operand.consumers) + len(ports)
        copies = [self._layers.fresh(operand.name) for _ in range(readers)]
        fresh = iter(copies)
        places: dict[Operator, list[int]] = {}
        for reader, place in operand.consumers.places():
            places.setdefault(reader, []).append(place)
        for reader in sorted(places, key=lambda reader: self._served.get(reader, 0)):
            self._count += 1
            self._served[reader] = self._count
            for place in sorted(places[reader]):
                self._layers.replace_input(reader, place, next(fresh))
        for port in ports:
            port.operand = next(fresh)
        kind = SPLIT if readers > 1 else NOOP
        name = f"{kind.type.lower()}_{layer.name}"
        return self._layers.add(kind.type, name, [operand], copies, before=following)
