"""nn.MultiheadAttention of dynamic sizes, and the numbers that stand for these."""

from __future__ import annotations

import pytest
import torch

import converter
from converter.ir import Operand
from converter.passes.stand_ins import PRIMES, StandIns
from suites.compare import arithmetic, compare
from suites.frontends import import_generated

WIDTH, HEADS = 16, 4
LENGTH, SOURCE, BATCH = (torch.export.Dim(name, min=2) for name in ("length", "source", "batch"))


class Attention(torch.nn.Module):
    """An attention of what a layer makes of x to itself, or to y."""

    def __init__(self, need_weights=False, **arguments):
        super().__init__()
        self.layer = torch.nn.Linear(WIDTH, WIDTH)
        self.attention = torch.nn.MultiheadAttention(WIDTH, HEADS, **arguments)
        self.need_weights = need_weights

    def forward(self, x, y=None, mask=None):
        x = self.layer(x)
        y = x if y is None else y
        result, weights = self.attention(x, y, y, attn_mask=mask, need_weights=self.need_weights)
        return (result, weights) if self.need_weights else result


def sizes(length, source, batch):
    return {LENGTH: length, SOURCE: source, BATCH: batch}


def drawn(shapes, given):
    return [
        None if shape is None else torch.rand([given.get(size, size) for size in shape])
        for shape in shapes
    ]


SEQUENCE, SECOND = (LENGTH, BATCH, WIDTH), (SOURCE, BATCH, WIDTH)
FIRST, OTHER = (BATCH, LENGTH, WIDTH), (BATCH, SOURCE, WIDTH)


@pytest.mark.parametrize(
    ("model", "shapes"),
    [
        (Attention(), [SEQUENCE]),
        (Attention(need_weights=True), [SEQUENCE, SECOND]),
        (Attention(batch_first=True), [FIRST]),
        (Attention(batch_first=True, bias=False), [FIRST, OTHER]),
        (Attention(batch_first=True), [FIRST, OTHER, (LENGTH, SOURCE)]),
        (Attention(need_weights=True), [SEQUENCE, None, (LENGTH, LENGTH)]),
        (Attention(), [(LENGTH, WIDTH)]),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, list) else "",
)
def test_it_is_recovered_and_right_for_other_sizes(model, shapes, tmp_path):
    dims = tuple(
        shape and {place: size for place, size in enumerate(shape) if not isinstance(size, int)}
        for shape in shapes
    )
    path = tmp_path / "model.pt2"
    with torch.no_grad():
        inputs = tuple(drawn(shapes, sizes(6, 5, 3)))
        torch.export.save(torch.export.export(model.eval(), inputs, dynamic_shapes=dims), path)
    graph = converter.load(path)
    assert len(graph.of_type("nn.MultiheadAttention")) == 1
    assert not graph.of_type("Tensor.reshape", "F.softmax", "F.scaled_dot_product_attention")
    converter.convert(path, ncnn=False)
    generated = import_generated(tmp_path / "model_pnnx.py").Model().eval()
    for given in (sizes(6, 5, 3), sizes(9, 4, 7)):
        inputs = drawn(shapes, given)
        with torch.no_grad():
            tensors = [x for x in inputs if x is not None]
            compare(model(*inputs), generated(*tensors), arithmetic)


def operand(*shape):
    return Operand("x", shape, "f32")


def test_equal_dims_are_equal_numbers():
    stand_ins = StandIns()
    one, two, sum, known = stand_ins.shape(operand("s0", "2*s0", "s0+s1", 3))
    assert (two, known) == (2 * one, 3)
    assert stand_ins.shape(operand("s1")) == (sum - one,)
    assert stand_ins.dims((two, known)) == ("2*s0", 3)
    assert stand_ins.dims((two + 1,)) is None


def test_what_is_no_polynomial_is_a_number_of_its_own():
    stand_ins = StandIns()
    size, half, twice = stand_ins.shape(operand("s0", "s0//2", "2*(s0//2)"))
    assert twice == 2 * half
    assert size not in (twice, twice + 1)


def test_sizes_that_are_not_known():
    assert StandIns().shape(operand("?")) is None
    assert StandIns().shape(operand(0, 3)) is None
    assert StandIns().shape(operand("s0-s1", "s1-s0")) is None
    assert StandIns().shape(Operand("x")) is None
    assert StandIns().shape(operand()) == ()
    names = [f"s{number}" for number in range(len(PRIMES) + 1)]
    assert StandIns().shape(operand(*names)) is None
    assert StandIns().shape(operand(*names[1:])) == PRIMES
