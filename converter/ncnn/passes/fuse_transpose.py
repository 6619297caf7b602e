"""Let matrix products read their second matrix transposed.

    Permute  t  1 1 in1 x order_type=1               MatMul  m  2 1 in0 in1 out0 transB=1
    MatMul   m  2 1 in0 x out0                  →

Order type 1 exchanges the two innermost dims, of a blob of any rank.
"""

from __future__ import annotations

from converter.ncnn.graph import NcnnGraph

INNERMOST_EXCHANGED = 1


def fuse_transpose(net: NcnnGraph) -> None:
    """Fuse where the product is the only reader of the transpose."""
    layers = net.layers
    outputs = {port.operand for port in net.outputs}
    for layer in layers.of_type("MatMul"):
        first, second = layer.inputs
        permute = second.producer
        if permute is None or permute.type != "Permute" or second in outputs:
            continue
        if permute.params["order_type"] != INNERMOST_EXCHANGED or len(second.consumers) != 1:
            continue
        layers.set_inputs(layer, [first, *permute.inputs])
        layer.params["transB"] = 1 - int(layer.params.get("transB") == 1)
        layers.remove(permute)
