"""What `run_decompositions()` leaves of functions becomes those functions; nothing else does."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import graph

from converter.aten.schema_table import overloads
from converter.ir import Array, Graph
from converter.passes.dead_code import DeadCode
from converter.passes.decomposed import DECOMPOSED, PRODUCTS
from converter.passes.decomposed.base import Decomposed
from suites.structure import differences

ALL = (*PRODUCTS, *DECOMPOSED)


def decomposed(text: str, origin: str | None, values: dict[str, Array] | None = None) -> Graph:
    """A graph whose operators are all left of a call of this function."""
    made = graph(
        f"pnnx.Input in 0 1 x #x=(2,4,6)f32\n{text.strip()}\npnnx.Output out 1 0 y", values
    )
    for op in made.operators:
        op.origin = origin
    return made


def run(made: Graph) -> Graph:
    for one in (*ALL, DeadCode()):
        one(made)
    return made


def assert_becomes(made: Graph, after: str) -> None:
    wanted = graph(f"pnnx.Input in 0 1 x #x=(2,4,6)f32\n{after.strip()}\npnnx.Output out 1 0 y")
    assert [str(one) for one in differences(run(made), wanted)] == []


SOFTPLUS = """
    pnnx.Expression m 1 1 x a expr=mul(@0,{beta})
    pnnx.Expression e 1 1 a b expr=exp(@0)
    pnnx.Expression l 1 1 b c expr=log1p(@0)
    pnnx.Expression d 1 1 c d expr=div(@0,{other})
    torch.gt g 1 1 a e other=5
    torch.where w 3 1 e x d y
"""
HARDSWISH = """
    pnnx.Expression p 1 1 x a expr=add(@0,3)
    torch.clamp low 1 1 a b min=0 max=None
    torch.clamp high 1 1 b c min=None max={top}
    pnnx.Expression m 2 1 x c d expr=mul(@0,@1)
    pnnx.Expression q 1 1 d y expr=div(@0,6)
"""
GLU = """
    Tensor.slice s 1 1 x a dim=2 start=0 end={half} step=1 #a=(2,4,3)f32
    Tensor.slice t 1 1 x b dim=2 start={half} end=6 step=1 #b=(2,4,3)f32
    F.sigmoid g 1 1 b c
    pnnx.Expression m 2 1 a c y expr=mul(@0,@1)
"""
POOL = """
    torch.unsqueeze u 1 1 x a dim=-2 #x=(2,4,6)f32 #a=(2,4,1,6)f32
    F.max_pool2d p 1 1 a b kernel_size=({height},3) stride=(1,2) padding=(0,1) dilation=(1,1) ceil_mode=False return_indices=False #b=(2,4,1,3)f32
    torch.squeeze s 1 1 b y dim=(-2) #y=(2,4,3)f32
"""  # noqa: E501
RMS = """
    pnnx.Expression p 1 1 x a expr=pow(@0,2)
    torch.mean m 1 1 a b dim=({dim}) keepdim=True
    pnnx.Expression e 1 1 b c expr=add(@0,0.1)
    pnnx.Expression r 1 1 c d expr=rsqrt(@0)
    pnnx.Expression n 2 1 x d y expr=mul(@0,@1)
"""
PADDED = """
    Tensor.index i 1 1 x a expr=[None,[1,0,1,2,3,2],None] #a=(2,6,6)f32
    Tensor.index j 1 1 a y expr=[None,None,[0,1,2,3,4,5,{last}]] #y=(2,6,7)f32
"""
SHUFFLE = """
    Tensor.reshape r 1 1 x a shape=(2,2,2,6) #a=(2,2,2,6)f32
    Tensor.permute p 1 1 a b dims=({dims}) #b=(2,2,2,6)f32
    Tensor.reshape s 1 1 b y shape=(2,4,6) #y=(2,4,6)f32
"""
FILL = """
    torch.gt g 1 1 x m other=0
    torch.where w 2 1 m x y input=1.5 #x=(2,4,6)f32 #y={shape}f32
"""
LINEAR = """
    pnnx.Attribute w 0 1 w @data=(3,6)f32 #w=(3,6)f32
    Tensor.reshape r 1 1 x a shape=(8,6) #a=(8,6)f32
    F.linear l 2 1 a w b bias=None $input=a $weight=w #b=(8,3)f32
    Tensor.reshape s 1 1 b y shape={shape} #y={shape}f32
"""
MATMUL = """
    Tensor.permute p 1 1 x t dims=(0,2,1) #t=(2,6,4)f32
    Tensor.expand e 1 1 x a sizes=(2,4,6) #a=(2,4,6)f32
    Tensor.reshape r 1 1 a b shape=(2,4,6) #b=(2,4,6)f32
    Tensor.expand f 1 1 t c sizes=(2,6,4) #c=(2,6,4)f32
    Tensor.reshape s 1 1 c d shape=(2,6,4) #d=(2,6,4)f32
    torch.bmm m 2 1 b d g #g=(2,4,4)f32
    Tensor.reshape u 1 1 g y shape={shape} #y={shape}f32
"""
STD = """
    torch.var v 1 1 x a dim=(1) keepdim=False unbiased={unbiased}
    pnnx.Expression s 1 1 a y expr={function}(@0)
"""
PART = """
    Tensor.slice s 1 1 x a dim=1 start=2 end={end} step=1 #a=(2,1,6)f32
    torch.squeeze q 1 1 a y dim=({dim}) #y=(2,6)f32
"""
STACKED = """
    torch.cat c 2 1 x x a dim=1 #x=(2,4,6)f32 #a=(2,8,6)f32
    Tensor.reshape r 1 1 a y shape={shape} #y={shape}f32
"""
NORMED = """
    pnnx.Attribute v 0 1 v @data=(3,4,2)f32 #v=(3,4,2)f32
    pnnx.Attribute g 0 1 g @data={length}f32 #g={length}f32
    torch.norm n 1 1 v a dim=(1,2) keepdim=True p=2
    pnnx.Expression d 2 1 g a b expr=div(@0,@1)
    pnnx.Expression m 2 1 v b y expr=mul(@0,@1)
"""
TRANSFORM = """
    Tensor.slice s 1 1 x a dim={dim} start={start} end=5 step=1 #x=(2,4,6)f32 #a=(2,4,{size})f32
    torch.fft.rfftn f 1 1 a y dim=(2) s=None norm=ortho #y=(2,4,3)c64
"""
LOGSUMEXP = """
    torch.amax m 1 1 x a dim=(1) keepdim=True
    pnnx.Expression b 1 1 a b expr=abs(@0)
    torch.eq e 1 1 b c other=inf
    torch.where w 2 1 c a d input=0.0
    pnnx.Expression s 2 1 x d e expr=sub(@0,@1)
    pnnx.Expression p 1 1 e f expr=exp(@0)
    torch.sum t 1 1 f g dim=({dim}) keepdim=True
    pnnx.Expression l 1 1 g h expr=log(@0)
    pnnx.Expression r 2 1 h d y expr=add(@0,@1)
"""
FOUND = [
    ("softplus", SOFTPLUS.format(beta=2, other=2), "F.softplus w 1 1 x y beta=2 threshold=5"),
    (
        "std",
        STD.format(unbiased=True, function="sqrt"),
        "torch.std s 1 1 x y dim=(1) keepdim=False unbiased=True",
    ),
    (
        "fft_rfft",
        TRANSFORM.format(dim=2, start=0, size=5),
        "torch.fft.rfft f 1 1 x y n=5 dim=2 norm=ortho",
    ),
    ("logsumexp", LOGSUMEXP.format(dim=1), "torch.logsumexp r 1 1 x y dim=(1) keepdim=True"),
    ("unbind", PART.format(end=3, dim=1), "Tensor.select s 1 1 x y dim=1 index=2"),
    ("stack", STACKED.format(shape="(2,2,4,6)"), "torch.stack s 2 1 x x y dim=1"),
    (
        "_weight_norm",
        NORMED.format(length="(3,1,1)"),
        "pnnx.Attribute v 0 1 v @data=(3,4,2)f32\npnnx.Attribute g 0 1 g @data=(3,1,1)f32\n"
        "torch._weight_norm n 2 1 v g y dim=0 $v=v $g=g",
    ),
    ("hardswish", HARDSWISH.format(top=6), "F.hardswish w 1 1 x y"),
    ("glu", GLU.format(half=3), "F.glu w 1 1 x y dim=2"),
    (
        "max_pool1d",
        POOL.format(height=1),
        "F.max_pool1d p 1 1 x y kernel_size=(3) stride=(2) padding=(1) dilation=(1)"
        " ceil_mode=False return_indices=False",
    ),
    (
        "rms_norm",
        RMS.format(dim=2),
        "F.rms_norm n 1 1 x y eps=0.1 normalized_shape=(6) weight=None",
    ),
    ("pad", PADDED.format(last=4), "F.pad p 1 1 x y mode=reflect pad=(0,1,1,1) value=None"),
    ("channel_shuffle", SHUFFLE.format(dims="0,2,1,3"), "F.channel_shuffle s 1 1 x y groups=2"),
    (
        "masked_fill",
        FILL.format(shape="(2,4,6)"),
        "torch.gt g 1 1 x m other=0\nTensor.masked_fill f 2 1 x m y value=1.5 $input=x $mask=m",
    ),
    (
        "linear",
        LINEAR.format(shape="(2,4,3)"),
        "pnnx.Attribute w 0 1 w @data=(3,6)f32\nF.linear l 2 1 x w y bias=None $input=x $weight=w",
    ),
    (
        "matmul",
        MATMUL.format(shape="(2,4,4)"),
        "Tensor.permute p 1 1 x t dims=(0,2,1)\ntorch.matmul m 2 1 x t y $input=x $other=t",
    ),
]


@pytest.mark.parametrize(("origin", "before", "after"), FOUND, ids=[one[0] for one in FOUND])
def test_a_function_is_found(origin: str, before: str, after: str) -> None:
    assert_becomes(decomposed(before, origin), after)
    # Neither without word of where it comes from, nor where it comes from something else.
    for other in (None, "exp"):
        assert_becomes(decomposed(before, other), before)


@pytest.mark.parametrize(
    ("origin", "before"),
    [
        ("softplus", SOFTPLUS.format(beta=2, other=3)),
        ("std", STD.format(unbiased=True, function="rsqrt")),
        ("fft_rfft", TRANSFORM.format(dim=2, start=1, size=4)),
        ("fft_irfft", TRANSFORM.format(dim=2, start=0, size=5)),
        ("fft_ihfft", TRANSFORM.format(dim=2, start=0, size=5)),
        ("logsumexp", LOGSUMEXP.format(dim=2)),
        ("unbind", PART.format(end=4, dim=1)),
        ("unbind", PART.format(end=3, dim=0)),
        ("stack", STACKED.format(shape="(2,4,2,6)")),
        ("_weight_norm", NORMED.format(length="(1,4,1)")),
        ("hardswish", HARDSWISH.format(top=5)),
        ("glu", GLU.format(half=2)),
        ("max_pool1d", POOL.format(height=2)),
        ("rms_norm", RMS.format(dim=1)),
        ("pad", PADDED.format(last=3)),
        ("channel_shuffle", SHUFFLE.format(dims="0,1,2,3")),
        ("masked_fill", FILL.format(shape="(3,2,4,6)")),
        ("linear", LINEAR.format(shape="(4,2,3)")),
        ("matmul", MATMUL.format(shape="(2,2,8)")),
    ],
)
def test_what_only_looks_like_it_stays(origin: str, before: str) -> None:
    assert_becomes(decomposed(before, origin), before)


ATTENTION = """
    pnnx.Input in1 0 1 k #k=(2,5,6)f32
    pnnx.Input in2 0 1 v #v=(2,5,6)f32
    pnnx.Expression s 1 1 x a expr=mul(@0,{root})
    Tensor.permute p 1 1 k b dims={flip} #k=(2,5,6)f32 #b=(2,6,5)f32
    pnnx.Expression t 1 1 b c expr=mul(@0,{root})
    torch.matmul m 2 1 a c d
    {mask}
    F.softmax n 1 1 {scores} w dim=-1
    torch.eq e 1 1 {scores} f other=-inf
    torch.logical_not o 1 1 f g
    torch.any i 1 1 g h dim=-1 keepdim=True
    torch.logical_not u 1 1 h j
    pnnx.Attribute z 0 1 zeros @data=(2,4,5)f32
    torch.where r 3 1 j zeros w q
    torch.matmul l 2 1 q v y
"""
CAUSAL = (
    "pnnx.Attribute mask 0 1 mask @data=(4,5)f32\npnnx.Expression add 2 1 d mask h0 expr=add(@0,@1)"
)


def attention(
    zeros: Array, mask: Array | None = None, root: str = "0.5", flip: str = "(0,2,1)"
) -> Graph:
    given = {"mask": "", "scores": "d"} if mask is None else {"mask": CAUSAL, "scores": "h0"}
    text = ATTENTION.format(root=root, flip=flip, **given)
    values = {"z.data": zeros} | ({} if mask is None else {"mask.data": mask})
    return decomposed(text, "scaled_dot_product_attention", values)


ZEROS = np.zeros((2, 4, 5), np.float32)
HIDDEN = np.triu(np.full((4, 5), -np.inf, np.float32), k=1)


@pytest.mark.parametrize(
    ("made", "params"),
    [
        (attention(ZEROS), {"is_causal": False, "attn_mask": None, "scale": 0.25}),
        (attention(ZEROS, HIDDEN), {"is_causal": True, "attn_mask": None, "scale": 0.25}),
        (attention(ZEROS, HIDDEN + 1), {"is_causal": False, "scale": 0.25}),
        (attention(ZEROS, root=str(6**-0.25)), {"is_causal": False, "attn_mask": None}),
    ],
)
def test_attention_is_found(made: Graph, params: dict[str, object]) -> None:
    (op,) = run(made).of_type("F.scaled_dot_product_attention")
    assert op.params == {"dropout_p": 0.0, **params}
    assert [operand.name for operand in op.inputs[:3]] == ["x", "k", "v"]
    assert op.has_input("attn_mask") == ("attn_mask" not in params)


@pytest.mark.parametrize(
    "made",
    [attention(ZEROS + 1), attention(ZEROS, flip="(2,0,1)"), attention(ZEROS, root="2")],
    ids=["no zeros", "another permutation", "not a float"],
)
def test_what_only_looks_like_attention_stays(made: Graph) -> None:
    assert not run(made).of_type("F.scaled_dot_product_attention")


@pytest.mark.parametrize(
    ("shape", "found"), [((1, 4, 1), True), ((2, 4, 1), False), ((1, 1, 6), False)]
)
def test_slopes_are_stored_with_one_dim(shape: tuple[int, ...], found: bool) -> None:
    text = f"""
        pnnx.Attribute w 0 1 w @data=({",".join(map(str, shape))})f32
        torch.gt g 1 1 x a other=0
        pnnx.Expression m 2 1 w x b expr=mul(@0,@1)
        torch.where r 3 1 a x b y
    """
    values = {"w.data": np.arange(np.prod(shape), dtype=np.float32).reshape(shape)}
    made = run(decomposed(text, "prelu", values))
    assert [op.inputs[1].shape for op in made.of_type("F.prelu")] == ([(4,)] if found else [])


@pytest.mark.parametrize("equal", [True, False])
def test_weights_of_an_instance_norm_are_those_of_one_element(equal: bool) -> None:
    text = """
        pnnx.Attribute w 0 1 w @data=(8)f32 #w=(8)f32
        pnnx.Attribute v 0 1 v @data=(8)f32 #v=(8)f32
        Tensor.reshape r 1 1 x a shape=(1,8,6) #a=(1,8,6)f32
        F.batch_norm n 3 1 a w v b running_mean=None running_var=None eps=0.1 training=True $input=a $weight=w $bias=v
        Tensor.reshape s 1 1 b y shape=(2,4,6) #y=(2,4,6)f32
    """  # noqa: E501
    weights = np.tile(np.arange(4, dtype=np.float32), 2)
    values = {"w.data": weights, "v.data": weights if equal else np.arange(8, dtype=np.float32)}
    found = run(decomposed(text, "instance_norm", values)).of_type("F.instance_norm")
    assert [op.input("weight").shape for op in found] == ([(4,)] if equal else [])


@pytest.mark.parametrize("name", ["weight", "bias"])
@pytest.mark.parametrize("statistics", [(), ("running_mean", "running_var")])
def test_an_instance_norm_has_a_weight_or_a_bias_alone(
    name: str, statistics: tuple[str, ...]
) -> None:
    given = (*statistics, name)
    made = "".join(f"pnnx.Attribute {one} 0 1 {one} @data=(8)f32 #{one}=(8)f32\n" for one in given)
    inputs = " ".join(f"${one}={one}" for one in given)
    text = f"""{made}
        Tensor.reshape r 1 1 x a shape=(1,8,6) #a=(1,8,6)f32
        F.batch_norm n {1 + len(given)} 1 a {" ".join(given)} b eps=0.1 training={not statistics} $input=a {inputs}
        Tensor.reshape s 1 1 b y shape=(2,4,6) #y=(2,4,6)f32
    """  # noqa: E501
    values = {f"{one}.data": np.tile(np.arange(4, dtype=np.float32), 2) for one in given}
    (found,) = run(decomposed(text, "instance_norm", values)).of_type("F.instance_norm")
    assert list(found.input_names) == ["input", *given]
    assert {"weight": None, "bias": None}.items() - found.params.items() == {(name, None)}


UNFOLD = """
    Tensor.reshape b 1 1 x i shape=(1,2,4,6) #x=(2,4,6)f32 #i=(1,2,4,6)f32
    F.pad p 1 1 i a mode=constant pad=(1,1,0,0) value=None #i=(1,2,4,6)f32 #a=(1,2,4,8)f32
    pnnx.Attribute r 0 1 r @data=(3,2,1,1)i64 #r=(3,2,1,1)i64
    pnnx.Attribute c 0 1 c @data=(2,3)i64 #c=(2,3)i64
    pnnx.Expression l 2 1 r c e expr=[None,None,@0,@1]
    Tensor.index n 2 1 a e g #g=(1,2,3,2,2,3)f32
    Tensor.permute o 1 1 g h dims=(0,1,2,4,3,5) #h=(1,2,3,2,2,3)f32
    Tensor.reshape s 1 1 h y shape=(1,12,6) #y=(1,12,6)f32
"""
FOLD = """
    Tensor.reshape b 1 1 x i shape=(1,8,6) #x=(2,4,6)f32 #i=(1,8,6)f32
    Tensor.reshape s 1 1 i a shape=(1,2,2,2,2,3) #a=(1,2,2,2,2,3)f32
    Tensor.permute o 1 1 a b dims=(0,1,2,4,3,5) #b=(1,2,2,2,2,3)f32
    pnnx.Attribute z 0 1 z @data=(1,2,3,6)f32 #z=(1,2,3,6)f32
    pnnx.Attribute r 0 1 r @data=(2,2,1,1)i64 #r=(2,2,1,1)i64
    pnnx.Attribute c 0 1 c @data=(2,3)i64 #c=(2,3)i64
    pnnx.Expression l 2 1 r c e expr=[None,None,@0,@1]
    Tensor.index_put n 3 1 z e b d accumulate=True
    F.pad p 1 1 d y mode=constant pad=(-1,-1,0,0) value=0.0 #y=(1,2,3,4)f32
"""
ROWS, COLUMNS = np.array([[0, 1], [1, 2], [2, 3]]), np.array([[0, 2, 4], [3, 5, 7]])


@pytest.mark.parametrize(
    ("rows", "found"), [(ROWS, True), (ROWS + 1, False), (ROWS[::-1].copy(), False)]
)
def test_patches_are_found(rows: Array, found: bool) -> None:
    values = {"r.data": rows.reshape(3, 2, 1, 1), "c.data": COLUMNS}
    ops = run(decomposed(UNFOLD, "im2col", values)).of_type("F.unfold")
    sizes = {"kernel_size": (3, 2), "dilation": (1, 3), "padding": (0, 1), "stride": (1, 2)}
    assert [op.params for op in ops] == ([sizes] if found else [])


@pytest.mark.parametrize(("zero", "found"), [(0, True), (1, False)])
def test_patches_are_added_up(zero: float, found: bool) -> None:
    columns = np.array([[0, 2, 4], [1, 3, 5]])
    values = {
        "r.data": ROWS[:2].reshape(2, 2, 1, 1),
        "c.data": columns,
        "z.data": np.full((1, 2, 3, 6), zero, np.float32),
    }
    ops = run(decomposed(FOLD, "col2im", values)).of_type("F.fold")
    sizes = {"kernel_size": (2, 2), "dilation": (1, 1), "padding": (0, 1), "stride": (1, 2)}
    assert [op.params for op in ops] == ([{**sizes, "output_size": (3, 4)}] if found else [])


@pytest.mark.parametrize(
    ("index", "shifts"), [([4, 5, 0, 1, 2, 3], (2,)), ([0, 1, 2, 3, 4, 5], (0,)), ([5, 4], None)]
)
def test_rolls_are_found(index: list[int], shifts: tuple[int, ...] | None) -> None:
    text = f"""
        pnnx.Attribute i 0 1 i @data=({len(index)})i64 #i=({len(index)})i64
        torch.index_select s 2 1 x i y dim=2 #x=(2,4,6)f32 #y=(2,4,{len(index)})f32
    """
    ops = run(decomposed(text, "roll", {"i.data": np.array(index)})).of_type("torch.roll")
    wanted = [] if shifts is None else [{"shifts": shifts, "dims": (2,)}]
    assert [op.params for op in ops] == wanted


SAME = """
    pnnx.Attribute w 0 1 w @data=(4,4,2,{width})f32 #w=(4,4,2,{width})f32
    torch.unsqueeze u 1 1 x a dim=0 #x=(2,4,6)f32 #a=(1,2,4,6)f32
    F.pad p 1 1 a b mode=constant pad={pad} value={value} #a=(1,2,4,6)f32
    F.conv2d c 2 1 b w d $input=b $weight=w bias=None stride={stride} padding={padding} dilation=(1,3) groups=1 #w=(4,4,2,{width})f32 #d=(1,2,4,6)f32
    torch.squeeze s 1 1 d y dim=0 #d=(1,2,4,6)f32 #y=(2,4,6)f32
"""  # noqa: E501


@pytest.mark.parametrize(
    ("width", "changed", "same"),
    [
        (2, {}, True),
        (4, {"pad": "(0,1,0,1)", "padding": "(0,4)"}, True),
        (3, {"pad": "(0,0,0,1)", "padding": "(0,3)"}, True),
        (3, {"pad": "(3,3,0,1)", "padding": "valid"}, True),
        (2, {"pad": "(1,0,0,1)"}, False),
        (2, {"pad": "(0,1,1,0)"}, False),
        (2, {"pad": "(0,1,0,1,1,0)"}, False),
        (2, {"value": "1"}, False),
        (2, {"stride": "(1,2)"}, False),
        (2, {"padding": "(1,1)"}, False),
        (4, {}, False),
    ],
)
def test_uneven_zeros_are_the_convolution_s_own(
    width: int, changed: dict[str, str], same: bool
) -> None:
    given = {"pad": "(0,1,0,1)", "padding": "(0,1)", "stride": "(1,1)", "value": "0"} | changed
    values = {"w.data": np.zeros((4, 4, 2, width), np.float32)}
    made = run(decomposed(SAME.format(width=width, **given), "conv2d", values))
    (conv,) = made.of_type("F.conv2d")
    assert (conv.params["padding"] == "same") is same
    assert (made.of_type("F.pad") == []) is same
    assert (conv.inputs[0].shape == (2, 4, 6)) is same


def argument_names(function: str) -> list[set[str]]:
    """What the arguments of a function are called, for each of its overloads."""
    return [
        {"input" if each.name == "self" else each.name for each in one.arguments}
        for one in overloads("aten", function.removeprefix("torch.").replace(".", "_"))
    ]


@pytest.mark.parametrize(
    "one",
    [one for one in ALL if isinstance(one, Decomposed) and one.function.startswith("torch.")],
    ids=lambda one: one.function,
)
def test_functions_are_called_with_the_names_of_their_arguments(one):
    given = {*one.inputs, *one.params}
    assert any(given <= names for names in argument_names(one.function)), given
