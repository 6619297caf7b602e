"""What ncnn cannot express is refused, with the operator, the source line and the mend."""

import pytest
from ncnn_runs import graph_of

from converter.errors import UnsupportedError, Where
from converter.ncnn import lower
from converter.ncnn.registry import RULES

IMAGE = "pnnx.Input in 0 1 0 #0=(1,4,6,7)f32"
REFUSED = {
    "F.nonsense a 1 1 0 1 #1=(1,4,6,7)f32": "F.nonsense a: has no ncnn layer",
    "aten::relu a 1 1 0 1 #1=(1,4,6,7)f32": "aten::relu a: has no ncnn layer",
    "F.max_pool2d a 1 1 0 1 dilation=(2,2) kernel_size=(2,2) padding=(0,0) #1=(1,4,4,5)f32": (
        "dilation is not expressible"
    ),
    "F.max_pool2d a 1 2 0 1 2 dilation=(1,1) kernel_size=(2,2) padding=(0,0) #1=(1,4,3,3)f32 "
    "#2=(1,4,3,3)i64": "ncnn has its first output only",
    "F.pad a 1 1 0 1 mode=other pad=(1,1) value=None #1=(1,4,6,9)f32": "padding mode other",
    "F.pad a 1 1 0 1 mode=constant pad=(-3,-4) value=None #1=(1,4,6,0)f32": "pads to nothing",
    "F.pad a 1 1 0 1 mode=reflect pad=(-1,1) value=None #1=(1,4,6,7)f32": "negative sizes",
    "F.interpolate a 1 1 0 1 mode=nearest-exact size=(9,7) #1=(1,4,9,7)f32": "nearest-exact",
    "F.interpolate a 1 1 0 1 mode=nearest-exact scale_factor=(2.1,2.0) #1=(1,4,12,14)f32": (
        "nearest-exact"
    ),
    "F.gelu a 1 1 0 1 approximate=other #1=(1,4,6,7)f32": "approximate=other",
    "F.dropout a 1 1 0 1 training=True #1=(1,4,6,7)f32": "training=True",
    "F.softmax a 1 1 0 1 dim=7 #1=(1,4,6,7)f32": "dim 7 of a tensor of rank 4",
    "F.softmax a 1 1 0 1 dim=None #1=(1,4,6,7)f32": "dim is None, not an int",
    "torch.norm a 1 1 0 1 dim=(1) keepdim=False p=3 #1=(1,6,7)f32": "p=3.0",
    "pnnx.Expression a 1 1 0 1 expr=erfc(@0) #1=(1,4,6,7)f32": "erfc has no ncnn layer",
    "pnnx.Expression a 1 1 0 1 expr=add(@0,1,2) #1=(1,4,6,7)f32": "cannot read the expression",
    "pnnx.Expression a 1 1 0 1 expr=add(@0) #1=(1,4,6,7)f32": "has no ncnn layer",
    "pnnx.Expression a 1 1 0 1 expr=add(@0,div(1,0)) #1=(1,4,6,7)f32": "division by zero",
    "pnnx.Expression a 1 1 0 1 expr=add(@0,sqrt(-1)) #1=(1,4,6,7)f32": "math domain error",
    "Tensor.slice a 1 1 0 1 dim=1 end=1 start=3 step=1 #1=(1,0,6,7)f32": "to nothing",
    **{
        f"Tensor.index a 1 1 0 1 expr={lists} #1=(1,2,6,7)f32": f"by {lists} is not expressible"
        for lists in ("[None,[True,False]]", "[None,[[0,1],[2,0]]]", "[None,[0],[1]]", "[None,1]")
    },
    "F.adaptive_avg_pool2d a 1 1 0 1 output_size=(0,1) #1=(1,4,0,1)f32": "without elements",
    "torch.unsqueeze a 1 1 0 1 dim=0 #1=(1,1,1,4,6,7)f32": "rank 6 does not fit",
    "torch.sum a 1 1 0 1 dim=(1) dtype=torch.long keepdim=False #1=(1,6,7)i64": "computes in i64",
}


@pytest.mark.parametrize("line", REFUSED)
def test_refused(line: str) -> None:
    read = (line.split()[-1].startswith("#2") and "2") or "1"
    reads = f"pnnx.Output out 1 0 {read}"
    with pytest.raises(UnsupportedError, match="ncnn: ") as caught:
        lower(graph_of("\n".join([IMAGE, line, reads])))
    assert REFUSED[line] in str(caught.value)


def test_the_source_line_and_the_mend_are_told() -> None:
    graph = graph_of(f"{IMAGE}\nF.nonsense a 1 1 0 1 #1=(1,4,6,7)f32\npnnx.Output out 1 0 1")
    graph.operators[1].where = Where("model.py", 12, "F.nonsense(x)")
    with pytest.raises(UnsupportedError) as caught:
        lower(graph)
    assert str(caught.value) == (
        "ncnn: F.nonsense a: has no ncnn layer, at model.py:12 `F.nonsense(x)`; "
        "write it with other operators, or take the .pnnx files"
    )


def test_a_tensor_in_the_place_of_a_number_is_not_left_out() -> None:
    image = "#{}=(1,4,6,7)f32"
    graph = graph_of(
        f"{IMAGE}\nF.relu r 1 1 0 1 {image.format(1)}\n"
        f"F.leaky_relu a 2 1 0 1 2 $input=0 $negative_slope=1 {image.format(2)}\n"
        "pnnx.Output out 1 0 2"
    )
    with pytest.raises(UnsupportedError, match=r"F\.leaky_relu a: negative_slope is a tensor"):
        lower(graph)


@pytest.mark.parametrize(("scale", "size", "fits"), [(2.3, 73, False), (1.7, 54, True)])
def test_elements_must_be_those_that_pytorch_takes(scale: float, size: int, fits: bool) -> None:
    graph = graph_of(
        "pnnx.Input in 0 1 0 #0=(1,3,32)f32\n"
        f"F.interpolate a 1 1 0 1 mode=nearest scale_factor=({scale}) #1=(1,3,{size})f32\n"
        "pnnx.Output out 1 0 1"
    )
    if fits:
        lower(graph)
    else:
        with pytest.raises(UnsupportedError, match=r"other elements for scale_factor=2\.3; give"):
            lower(graph)


def test_integers_are_not_computed_with() -> None:
    graph = graph_of("""
pnnx.Input       in   0 1 0 #0=(2,3)i64
pnnx.Expression  a    1 1 0 1 expr=add(@0,1) #1=(2,3)i64
pnnx.Output      out  1 0 1
""")
    with pytest.raises(UnsupportedError, match=r"computes in i64, and ncnn in floats; convert"):
        lower(graph)


def test_a_constant_without_elements() -> None:
    graph = graph_of("""
pnnx.Input      in   0 1 0 #0=(2,3)f32
pnnx.Attribute  w    0 1 1 @data=(2,0)f32 #1=(2,0)f32
F.relu          a    1 1 1 2 #2=(2,0)f32
pnnx.Output     out  2 0 0 2
""")
    with pytest.raises(
        UnsupportedError, match=r"F.relu a: reads or makes a tensor without elements"
    ):
        lower(graph)


def test_integers_are_not_moved_among_floats() -> None:
    graph = graph_of("""
pnnx.Input  in0  0 1 0 #0=(2,3)i64
pnnx.Input  in1  0 1 1 #1=(2,3)f32
torch.cat   a    2 1 0 1 2 dim=0 #2=(4,3)f32
pnnx.Output out  1 0 2
""")
    with pytest.raises(UnsupportedError, match=r"torch.cat a: mixes i64 and f32"):
        lower(graph)


@pytest.mark.parametrize("dtype", ["bool", "c64"])
def test_inputs_that_ncnn_has_not(dtype: str) -> None:
    graph = graph_of(f"pnnx.Input in 0 1 0 #0=(2,3){dtype}\npnnx.Output out 1 0 0")
    with pytest.raises(UnsupportedError, match=f"pnnx.Input in: is of {dtype}, which ncnn does"):
        lower(graph)


def test_dynamic_sizes_are_refused_where_they_matter() -> None:
    line = "torch.chunk a 1 2 0 1 2 chunks=2 dim=2 #0=(1,4,?,7)f32 #1=(1,4,?,7)f32"
    graph = graph_of(f"pnnx.Input in 0 1 0\n{line}\npnnx.Output out 1 0 1")
    with pytest.raises(UnsupportedError, match=r"needs fixed sizes, and gets \(\?\); give inputs"):
        lower(graph)


def test_dynamic_sizes_pass_where_they_do_not() -> None:
    graph = graph_of("""
pnnx.Input            in   0 1 0 #0=(1,4,?,?)f32
F.relu                a    1 1 0 1 #1=(1,4,?,?)f32
F.adaptive_avg_pool2d b    1 1 1 2 output_size=(1,1) #2=(1,4,1,1)f32
torch.flatten         c    1 1 2 3 end_dim=-1 start_dim=1 #3=(1,4)f32
pnnx.Output           out  1 0 3
""")
    assert [layer.type for layer in lower(graph).layers.operators] == ["Input", "ReLU", "Pooling"]


def test_the_graph_is_not_changed() -> None:
    graph = graph_of(f"{IMAGE}\nF.relu a 1 1 0 1 #1=(1,4,6,7)f32\npnnx.Output out 1 0 1")
    before = [(repr(op), dict(op.params)) for op in graph.operators]
    lower(graph)
    assert [(repr(op), dict(op.params)) for op in graph.operators] == before
    graph.check()


def test_every_rule_is_documented_by_its_operators() -> None:
    prefixes = ("F.", "nn.", "torch.", "torchaudio.", "torchvision.", "Tensor.", "pnnx.")
    assert all(type.startswith(prefixes) for type in RULES)
