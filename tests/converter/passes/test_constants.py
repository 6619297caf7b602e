"""Constants that are worked out: the bits that torch gives, or left to torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from graphs import graph

from converter.errors import UnsupportedError
from converter.ir import DTYPE_NAMES
from converter.passes import constants
from converter.passes.constants import FoldConstants
from converter.passes.dead_code import DeadCode

INF, NAN = float("inf"), float("nan")
FLOATS = [0.0, -0.0, 1.0, -1.5, 2.5, 0.5, -0.5, 3e38, -3e38, 1e-40, INF, -INF, NAN, 0.1, 7.3, -2.7]
X = np.array(FLOATS, np.float32).reshape(2, 2, 4)
W = np.roll(X, 3)
I = np.array([[3, -7, 0], [2**31, -5, 9]])  # noqa: E741
J = np.array([[2, 3, -4], [7, -2, 5]])
B = np.array([[True, False, True], [False, False, True]])
H = np.linspace(-3, 3, 12).astype(np.float16).reshape(3, 4)


def described(array) -> str:
    return f"({','.join(map(str, array.shape))}){DTYPE_NAMES[array.dtype]}"


def folded(op: str, inputs, expected):
    """What a pass makes of an operator of stored inputs: its outputs, None if it stays."""
    type, *params = op.split()
    names = [f"i{n}" for n in range(len(inputs))]
    lines = ["pnnx.Input in 0 1 x #x=(1)f32"]
    lines += [
        f"pnnx.Attribute {name} 0 1 {name} @data={described(array)} #{name}={described(array)}"
        for name, array in zip(names, inputs, strict=True)
    ]
    outs = [f"o{n}" for n in range(len(expected))]
    typed = " ".join(f"#{o}={described(array)}" for o, array in zip(outs, expected, strict=True))
    operands = " ".join((*names, *outs))
    lines += [f"{type} op {len(names)} {len(outs)} {operands} {' '.join(params)} {typed}"]
    lines += [f"pnnx.Output out {len(outs) + 1} 0 x {' '.join(outs)}"]
    values = {f"{name}.data": array for name, array in zip(names, inputs, strict=True)}
    made = graph("\n".join(lines), values)
    for operand, array in zip(made.operators[-2].outputs, expected, strict=True):
        operand.shape, operand.dtype = array.shape, DTYPE_NAMES[array.dtype]
    if not FoldConstants()(made):
        return None
    DeadCode()(made)
    assert {one.type for one in made.operators} == {"pnnx.Input", "pnnx.Attribute", "pnnx.Output"}
    return [operand.stored.array() for operand in made.operators[-1].inputs[1:]]


def pad(x, amounts, value):
    return torch.nn.functional.pad(x, amounts, value=value)


def numpy(results):
    results = results if isinstance(results, tuple | list) else [results]
    return [one.numpy() for one in results]


UNARY = ("abs", "neg", "sign", "square", "reciprocal", "floor", "ceil", "trunc", "round")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor")
F = torch.nn.functional
ROWS = [
    ("Tensor.reshape shape=(4,4)", [X], lambda x: x.reshape(4, 4)),
    ("Tensor.permute dims=(2,0,-2)", [X], lambda x: x.permute(2, 0, 1)),
    ("torch.transpose dim0=0 dim1=-1", [X], lambda x: x.transpose(0, -1)),
    ("torch.t", [H], lambda x: x.t()),
    ("torch.squeeze dim=0", [X[:1]], lambda x: x.squeeze(0)),
    ("torch.flatten start_dim=1 end_dim=-1", [X], lambda x: x.flatten(1)),
    ("Tensor.expand sizes=(3,-1,-1)", [X[:1]], lambda x: x.expand(3, -1, -1)),
    ("Tensor.repeat sizes=(2,1,3,1)", [X], lambda x: x.repeat(2, 1, 3, 1)),
    ("Tensor.select dim=-1 index=-2", [X], lambda x: x.select(-1, -2)),
    ("Tensor.slice dim=2 start=-3 end=2147483647 step=2", [X], lambda x: x[:, :, -3::2]),
    ("torch.chunk chunks=3 dim=-1", [X], lambda x: x.chunk(3, -1)),
    ("torch.split split_size_or_sections=3 dim=2", [X], lambda x: x.split(3, 2)),
    ("torch.unbind dim=1", [X], lambda x: x.unbind(1)),
    ("torch.cat dim=-1", [X, W], lambda x, w: torch.cat((x, w), -1)),
    ("torch.stack dim=1", [X, W], lambda x, w: torch.stack((x, w), 1)),
    ("torch.flip dims=(0,-1)", [X], lambda x: x.flip(0, -1)),
    ("torch.tril diagonal=-1", [H], lambda x: x.tril(-1)),
    ("torch.triu diagonal=1", [X], lambda x: x.triu(1)),
    ("F.pad mode=constant pad=(1,2,0,1) value=0.1", [X], lambda x: pad(x, (1, 2, 0, 1), 0.1)),
    ("F.pad mode=constant pad=(1,0) value=None", [I], lambda x: pad(x, (1, 0), 0)),
    ("torch.where $condition=i0 $input=i1 $other=i2", [B, I, J], lambda c, x, y: x.where(c, y)),
    (
        "torch.where other=0.1 $condition=i0 $input=i1",
        [B, X[0, :, :3]],
        lambda c, x: torch.where(c, x, 0.1),
    ),
    (
        "Tensor.masked_fill value=-inf $input=i0 $mask=i1",
        [H[:2, :3], B],
        lambda x, m: x.masked_fill(m, -INF),
    ),
    (
        "torch.index_select dim=1 $input=i0 $index=i1",
        [X, np.array([1, 0, 1])],
        lambda x, i: x.index_select(1, i),
    ),
    (
        "torch.gather dim=1 $input=i0 $index=i1",
        [I, np.array([[2, 0]])],
        lambda x, i: x.gather(1, i),
    ),
    ("F.embedding $input=i0 $weight=i1", [np.array([[2, 0]]), H], F.embedding),
    ("Tensor.to dtype=torch.half", [W[:, :, :2]], lambda x: x.half()),
    ("Tensor.to dtype=torch.half", [np.array([1 + 2**-11 + 2**-40, 2049])], lambda x: x.half()),
    ("Tensor.to dtype=torch.float", [I], lambda x: x.float()),
    ("Tensor.to dtype=torch.int", [I], lambda x: x.int()),
    ("Tensor.to dtype=torch.long", [np.array([-1.7, 2.9, 1e9])], lambda x: x.long()),
    ("Tensor.to dtype=torch.bool", [X], lambda x: x.bool()),
    ("pnnx.Expression expr=add(@0,@1)", [X, W], lambda x, w: x + w),
    ("pnnx.Expression expr=add(@0,@1)", [X, I[:, :1, None]], lambda x, i: x + i),
    ("pnnx.Expression expr=add(@0,0.25)", [H], lambda x: x + 0.25),
    ("pnnx.Expression expr=sub(0.1,@0)", [X], lambda x: 0.1 - x),
    ("pnnx.Expression expr=mul(@0,3)", [I.astype(np.int32)], lambda x: x * 3),
    ("pnnx.Expression expr=div(@0,@1)", [X, W], lambda x, w: x / w),
    ("pnnx.Expression expr=div(@0,@1)", [I, J], lambda x, y: x / y),
    ("pnnx.Expression expr=div(@0,3)", [H], lambda x: x / 3),
    ("pnnx.Expression expr=maximum(@0,@1)", [X, W], torch.maximum),
    ("pnnx.Expression expr=min(@0,@1)", [I, J], torch.minimum),
    ("pnnx.Expression expr=pow(@0,2)", [X], lambda x: x**2),
    ("pnnx.Expression expr=floor_divide(@0,@1)", [I, J], lambda x, y: x // y),
    ("pnnx.Expression expr=remainder(@0,@1)", [I, J], lambda x, y: x % y),
    ("pnnx.Expression expr=fmod(@0,@1)", [I, J], torch.fmod),
    ("pnnx.Expression expr=and(@0,@1)", [B, ~B], lambda x, y: x & y),
    ("pnnx.Expression expr=xor(@0,@1)", [I, J], lambda x, y: x ^ y),
    *[
        (f"pnnx.Expression expr={name}(@0)", [X], getattr(torch, name))
        for name in UNARY
    ],
    *[
        (f"torch.{name} $input=i0 $other=i1", [X, W], getattr(torch, name))
        for name in COMPARISONS
    ],
    ("torch.lt other=0.1 $input=i0", [X], lambda x: x < 0.1),
    ("torch.ge other=3 $input=i0", [I], lambda x: x >= 3),
    ("torch.logical_not $input=i0", [X], torch.logical_not),
    ("torch.bitwise_or $input=i0 $other=i1", [I, J], torch.bitwise_or),
    ("torch.clamp min=-2 max=3 $input=i0", [J], lambda x: x.clamp(-2, 3)),
    ("torch.clamp min=5 max=3 $input=i0", [J], lambda x: x.clamp(5, 3)),
    ("torch.clamp min=None max=0 $input=i0", [J], lambda x: x.clamp(max=0)),
    ("torch.bitwise_not $input=i0", [I], torch.bitwise_not),
    ("Tensor.fill value=0.1 $input=i0", [X], lambda x: x.fill_(0.1)),
    (
        "Tensor.slice_copy dim=1 start=-2 end=2147483647 step=1 $self=i0 $src=i1",
        [I, J[:, 1:]],
        lambda x, y: torch.slice_scatter(x, y, 1, -2),
    ),
    (
        "torch.slice_scatter dim=1 start=-2 end=2147483647 step=1 $input=i0 $src=i1",
        [I, J[:, 1:]],
        lambda x, y: torch.slice_scatter(x, y, 1, -2),
    ),
    (
        "Tensor.slice_copy dim=-1 select=1 start=0 end=0 step=0 $self=i0 $src=i1",
        [I, J[:, 0]],
        lambda x, y: torch.select_scatter(x, y, -1, 1),
    ),
    ("torch.cumsum dim=1 $input=i0", [I], lambda x: x.cumsum(1)),
    ("torch.cumsum dim=0 $input=i0", [B], lambda x: x.cumsum(0)),
    (
        "torch.meshgrid indexing=ij",
        [X[0, 0], W[0, 1]],
        lambda *x: torch.meshgrid(*x, indexing="ij"),
    ),
    ("torch.meshgrid indexing=xy", [I[0], J[1]], lambda *x: torch.meshgrid(*x, indexing="xy")),
    ("torch.roll shifts=(1,-2) dims=(0,-1) $input=i0", [X], lambda x: x.roll((1, -2), (0, -1))),
    ("torch.outer $input=i0 $vec2=i1", [X[0, 0], W[1, 1]], torch.outer),
    ("F.one_hot num_classes=4 $input=i0", [J % 4], lambda x: F.one_hot(x, 4)),
    ("F.one_hot num_classes=-1 $input=i0", [J % 4], F.one_hot),
    (
        "torch.scatter dim=1 value=0.5 $input=i0 $index=i1",
        [X, np.array([[[1, 0, 1]], [[0, 0, 1]]])],
        lambda x, i: x.scatter(1, i, 0.5),
    ),
    ("torch.sum $input=i0", [I], lambda x: x.sum()),
    ("torch.sum dim=(1) keepdim=True $input=i0", [B], lambda x: x.sum(1, keepdim=True)),
    ("torch.prod dim=0 keepdim=False $input=i0", [J.astype(np.int32)], lambda x: x.prod(0)),
    ("torch.max $input=i0", [I], torch.max),
    ("torch.amin dim=(0,-1) keepdim=False $input=i0", [J], lambda x: x.amin((0, -1))),
]  # fmt: skip


@pytest.mark.parametrize(("op", "inputs", "function"), ROWS, ids=[row[0] for row in ROWS])
def test_the_bits_are_torchs(op, inputs, function):
    expected = numpy(function(*(torch.from_numpy(array.copy()) for array in inputs)))
    results = folded(op, inputs, expected)
    assert results is not None
    for result, wanted in zip(results, expected, strict=True):
        assert result.dtype == wanted.dtype
        same = np.array_equal(result, wanted, equal_nan=result.dtype.kind == "f")
        assert same, (result, wanted)
        if result.dtype.kind == "f":
            numbers = ~np.isnan(wanted)
            assert np.array_equal(np.signbit(result[numbers]), np.signbit(wanted[numbers]))


@pytest.mark.parametrize(
    ("op", "inputs", "expected"),
    [
        ("pnnx.Expression expr=exp(@0)", [X], X),
        ("pnnx.Expression expr=sqrt(@0)", [X], X),
        ("pnnx.Expression expr=add(@0,0.1)", [H], H),
        ("pnnx.Expression expr=pow(@0,3)", [X], X),
        ("pnnx.Expression expr=mul(add(@0,1),2)", [X], X),
        ("pnnx.Expression expr=remainder(@0,@1)", [X, W], X),
        ("pnnx.Expression expr=floor_divide(@0,@1)", [I, I], I),
        ("pnnx.Expression expr=add(@0,@1)", [B, B], B),
        ("torch.cumsum dim=0 $input=i0", [X], X),
        ("torch.softmax dim=0 $input=i0", [X], X),
        ("torch.sum dim=(0) keepdim=False $input=i0", [X], X[0]),
        ("torch.max $input=i0", [X], X[0, 0, 0]),
        ("torch.roll shifts=(1) dims=() $input=i0", [X], X),
        ("torch.outer $input=i0 $vec2=i1", [H[0], H[1]], np.outer(H[0], H[1])),
        ("F.one_hot num_classes=2 $input=i0", [J[:1, :1] + 1], np.array([[[0, 0]]])),
        ("torch.scatter dim=0 $input=i0 $index=i1 $src=i2", [I, J * 0, J], I),
        ("Tensor.to dtype=torch.int", [X], X.view(np.int32)),
        ("torch.index_select dim=1 $input=i0 $index=i1", [X, np.array([0, -1])], X),
        ("torch.index_select dim=1 $input=i0 $index=i1", [X, np.array([0, 2])], X),
        ("torch.gather dim=1 $input=i0 $index=i1", [I, np.array([[3]])], I[:1, :1]),
        ("F.pad mode=constant pad=(-1,1) value=None", [X], X),
        ("F.pad mode=reflect pad=(1,1) value=None", [X], np.pad(X, ((0, 0), (0, 0), (1, 1)))),
        ("Tensor.reshape shape=(4,4)", [X], X.reshape(4, 4).astype(np.float64)),
    ],
)
def test_what_may_differ_is_left_to_torch(op, inputs, expected):
    with np.errstate(all="ignore"):
        assert folded(op, inputs, [expected]) is None


@pytest.mark.parametrize(
    ("op", "inputs", "expected"),
    [
        ("torch.flip dims=(0)", [X], X[:1]),
        ("Tensor.repeat sizes=(2,1)", [X[0]], X[0]),
        ("torch.cat dim=0", [X, X], X),
        ("pnnx.Expression expr=add(@0,@1)", [X, X[:1]], X[:1]),
    ],
)
def test_another_shape_than_the_file_says_is_refused(op, inputs, expected):
    with pytest.raises(UnsupportedError, match="and the file says"):
        folded(op, inputs, [expected])


@pytest.mark.parametrize(
    ("items", "taken"),
    [
        ("[@0]", lambda x, i, j: x[i]),
        ("[None,@0]", lambda x, i, j: x[:, i]),
        ("[@0,None,@1]", lambda x, i, j: x[i, :, j]),
        ("[None,@0,@1]", lambda x, i, j: x[:, i, j]),
    ],
)
def test_indices(items, taken):
    values = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    one, other = np.array([[0, -1], [2, 1]]), np.array([2, 0])
    expected = taken(*map(torch.from_numpy, (values, one, other))).numpy()
    made = graph(
        f"""
        pnnx.Input in 0 1 x #x=(1)f32
        pnnx.Attribute w 0 1 w @data=(3,4,5)f32 #w=(3,4,5)f32
        pnnx.Attribute i 0 1 i @data=(2,2)i64 #i=(2,2)i64
        pnnx.Attribute j 0 1 j @data=(2)i64 #j=(2)i64
        pnnx.Expression l {"2 1 i j" if "@1" in items else "1 1 i"} l expr={items}
        Tensor.index op 2 1 w l y $input=w $expr=l #y={described(expected)}
        pnnx.Output out 2 0 x y
        """,
        {"w.data": values, "i.data": one, "j.data": other},
    )
    assert FoldConstants()(made) == 1
    assert np.array_equal(made.operands["y"].stored.array(), expected)


def test_a_large_weight_is_moved_when_it_is_written(monkeypatch):
    monkeypatch.setattr(constants, "SMALL", 16)
    reads = []
    made = graph(
        """
        pnnx.Input in 0 1 x #x=(1)f32
        pnnx.Attribute w 0 1 w @data=(3,4)f16 #w=(3,4)f16
        torch.t t 1 1 w y #w=(3,4)f16 #y=(4,3)f16
        pnnx.Output out 2 0 x y
        """,
        {"w.data": H},
    )
    stored = made.operands["w"].stored
    data = stored.data
    stored.data = type("Counted", (), {"array": lambda self: reads.append(1) or data.array()})()
    assert FoldConstants()(made) == 1
    assert not reads
    assert np.array_equal(made.operands["y"].stored.array(), H.T)
    assert reads


def test_what_cannot_be_worked_out_when_it_is_written_is_refused(monkeypatch):
    monkeypatch.setattr(constants, "SMALL", 16)
    made = graph(
        """
        pnnx.Input in 0 1 x #x=(1)f32
        pnnx.Attribute w 0 1 w @data=(3,4)f16 #w=(3,4)f16
        torch.t t 1 1 w y #w=(3,4)f16 #y=(3,4)f16
        pnnx.Output out 2 0 x y
        """,
        {"w.data": H},
    )
    assert FoldConstants()(made) == 1
    with pytest.raises(UnsupportedError, match=r"makes the shape \(4,3\), and the file says"):
        made.operands["y"].stored.array()


def test_what_is_too_large_stays(monkeypatch):
    monkeypatch.setattr(constants, "LIMIT", 16)
    assert folded("torch.t", [H], [H.T]) is None
