"""The elements that operators read and write, tensors that they hold included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from converter.ir import Operator
from converter.pnnx.names import words
from converter.statistics.attention import parts, scores
from converter.statistics.sizes import reduced, size

FREE = words(
    """
    pnnx.Attribute pnnx.Input pnnx.Output pnnx.SliceIndexes Tensor.permute Tensor.reshape
    Tensor.reshape_as Tensor.select Tensor.slice Tensor.unflatten Tensor.view prim::DictConstruct
    prim::ListConstruct prim::ListUnpack prim::TupleConstruct prim::TupleUnpack torch.chunk
    torch.flatten torch.split torch.squeeze torch.t torch.tensor_split torch.transpose torch.unbind
    torch.unsqueeze torch.view_as_complex torch.view_as_real
    """
)
"""Operators that move nothing."""


def memory(op: Operator) -> int:
    """Count the elements of an operator whose sizes are known."""
    if op.type in FREE:
        return 0
    rule = RULES.get(op.type, moved)
    return rule(op)


def moved(op: Operator) -> int:
    held = sum(attribute.size for attribute in op.attrs.values())
    return sum(map(size, op.inputs)) + held + sum(map(size, op.outputs))


def embedding(op: Operator) -> int:
    """Of the table, what is looked up."""
    return size(op.inputs[0]) + 2 * size(op.outputs[0])


def normalize(op: Operator) -> int:
    return 4 * size(op.inputs[0]) + 2 * reduced(op)


def local_response(op: Operator) -> int:
    return 5 * size(op.outputs[0])


def lp_pool(op: Operator) -> int:
    return size(op.inputs[0]) + 4 * size(op.outputs[0])


def attention(op: Operator) -> int:
    """Query, key and value, though they may be one input, the mask and the scores."""
    masks = zip(op.input_names, op.inputs, strict=False)
    mask = sum(size(operand) for name, operand in masks if name == "attn_mask")
    held = sum(attribute.size for attribute in op.attrs.values())
    return sum(map(prod, parts(op))) + mask + held + sum(map(size, op.outputs)) + scores(op)


RULES: Mapping[str, Callable[[Operator], int]] = {
    "F.embedding": embedding,
    "F.local_response_norm": local_response,
    "F.lp_pool1d": lp_pool,
    "F.lp_pool2d": lp_pool,
    "F.normalize": normalize,
    "F.scaled_dot_product_attention": attention,
    "nn.Embedding": embedding,
    "nn.MultiheadAttention": attention,
}
"""Operators that move other elements than those of their operands and attributes."""
