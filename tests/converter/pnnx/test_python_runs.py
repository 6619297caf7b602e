"""Generated modules, run: what pnnx does not write, or writes wrongly."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from generated import flat, generate, graph_of
from torch import Tensor

from converter.errors import UnsupportedError
from converter.ir import DTYPES, Graph
from converter.pnnx.callables import CALLABLES, LISTS, RESULTS
from converter.pnnx.python import _TORCH_DTYPES, write_python
from converter.pnnx.scope import _MODULE_MEMBERS


def run(graph: Graph, folder: Path, *inputs: Tensor) -> list[Tensor]:
    with torch.no_grad():
        return flat([generate(graph, folder).Model().eval()(*inputs)])


X = torch.arange(24.0).reshape(2, 3, 4)
INPUT = "pnnx.Input in 0 1 0 #0=(2,3,4)f32"


def one(line: str, *before: str) -> Graph:
    """A graph of one input `0`, some operators and one more whose result is `9`."""
    return graph_of("\n".join([INPUT, *before, line, "pnnx.Output out 1 0 9"]))


@pytest.mark.parametrize(
    ("line", "before", "expected"),
    [
        ("Tensor.fill f 1 1 0 9 value=3.0 $input=0", [], torch.full_like(X, 3)),
        ("torch.where w 2 1 1 0 9 other=2.5 $condition=1 $input=0",
         ["torch.gt gt 1 1 0 1 other=5 $input=0"], torch.where(X > 5, X, 2.5)),
        ("torch.where w 2 1 1 0 9 input=-1 $condition=1 $other=0",
         ["torch.gt gt 1 1 0 1 other=5 $input=0"], torch.where(X > 5, -1, X)),
        ("torch.view_as_complex c 1 1 1 9 $input=1",
         ["Tensor.permute p 1 1 0 1 dims=(1,2,0) $input=0"], torch.complex(X[0], X[1])),
        ("Tensor.slice s 1 1 0 9 dim=-1 start=1 end=-1 step=2 $input=0", [], X[..., 1:-1:2]),
        ("Tensor.slice s 1 1 0 9 dims=(2,0) starts=(1,0) ends=(9223372036854775807,0) "
         "steps=(1,1) selects=(2147483647,1) $input=0", [], X[1, :, 1:]),
        ("Tensor.slice s 2 1 0 1 9 dim=1 start=0 step=1 $input=0 $end=1",
         ["pnnx.Expression e 1 1 0 1 expr=sub(size(@0,1),1)"], X[:, :2]),
        ("Tensor.slice s 2 1 0 2 9 dims=(0,1) starts=(0,0) steps=(1,1) $input=0 $ends=2",
         ["pnnx.Expression e 1 1 0 1 expr=sub(size(@0,1),1)",
          "pnnx.SliceIndexes i 1 1 1 2 indexes=(1,@0)"], X[:1, :2]),
        ("Tensor.slice_copy s 2 1 0 1 9 dim=1 start=1 end=3 step=1 $self=0 $src=1",
         ["Tensor.slice z 1 1 0 1 dim=1 start=0 end=2 step=1 $input=0"],
         torch.cat([X[:, :1], X[:, :2]], 1)),
        ("Tensor.slice_copy s 2 1 0 1 9 dim=0 start=0 end=0 step=0 select=1 $self=0 $src=1",
         ["Tensor.select z 1 1 0 1 dim=0 index=0 $input=0"], torch.stack([X[0], X[0]])),
        ("Tensor.index i 1 1 0 9 expr=[None,[0,2]] $input=0", [], X[:, [0, 2]]),
        ("Tensor.index i 1 1 1 9 expr=[None,[0,2]] $input=1",
         ["pnnx.Expression e 1 1 0 1 expr=add(@0,1)"], X[:, [0, 2]] + 1),
        ("Tensor.index i 2 1 0 2 9 $input=0 $expr=2",
         ["torch.argmax a 1 1 0 1 dim=2 keepdim=False $input=0",
          "pnnx.Expression e 1 1 1 2 expr=[None,None,@0]"], X[:, :, X.argmax(2)]),
        ("Tensor.index_put p 2 1 0 2 9 values=-1.0 accumulate=False $input=0 $indices=2",
         ["torch.gt g 1 1 0 1 other=20 $input=0", "pnnx.Expression e 1 1 1 2 expr=[@0]"],
         torch.where(X > 20, -1, X)),
        ("torch.unbind u 1 1 1 9 dim=0 $input=1 #9=(3,4)f32",
         ["Tensor.slice s 1 1 0 1 dim=0 start=1 end=2 step=1 $input=0"], X[1]),
        ("prim::ListUnpack u 1 2 1 8 9", ["torch.unbind b 1 1 0 1 dim=0 $input=0"], X[1]),
        ("torch.topk t 1 1 0 9 dim=1 k=2 $input=0", [], X.topk(2, 1)[0]),
        ("torch.atleast_3d a 1 1 0 9 $input=0", [], X),
        ("torch.atleast_3d a 2 2 0 0 8 9", [], X),
        ("torch.meshgrid m 2 2 1 1 8 9 indexing=ij",
         ["Tensor.reshape r 1 1 0 1 shape=(24) $input=0"],
         torch.meshgrid(X.reshape(24), X.reshape(24), indexing="ij")[1]),
        ("Tensor.topk t 1 1 0 9 dim=1 k=2 $input=0", [], X.topk(2, 1)[0]),
        ("Tensor.unbind u 1 2 0 8 9 dim=0 $input=0", [], X[1]),
        ("torch.max m 1 1 0 9 dim=1 keepdim=True $input=0", [], X.max(1, keepdim=True)[0]),
        ("torch.max m 1 1 0 9 $input=0", [], X.max()),
        ("F.upsample_bilinear u 1 1 1 9 size=(6,8) $input=1",
         ["torch.unsqueeze s 1 1 0 1 dim=0 $input=0"],
         F.interpolate(X[None], (6, 8), mode="bilinear", align_corners=True)),
        ("F.adaptive_avg_pool1d a 1 1 0 9 output_size=2 $input=0", [], F.adaptive_avg_pool1d(X, 2)),
        ("torch.einsum e 2 1 0 0 9 equation=ijk,ilk->ijl", [], torch.einsum("ijk,ilk->ijl", X, X)),
        ("torch.hstack h 2 1 0 0 9", [], torch.hstack([X, X])),
        ("pnnx.Expression e 1 1 0 9 expr=max(@0,4)", [], X.clamp(min=4)),
        ("pnnx.Expression e 1 1 0 9 expr=mul(@0,sqrt(size(@0,1)))", [], X * 3**0.5),
        ("pnnx.Expression e 1 1 0 9 expr=add(rsqrt(add(@0,1)),pow(-2,@0))", [],
         (X + 1).rsqrt() + (-2) ** X),
        ("torch.div d 2 1 0 0 9 rounding_mode=trunc $input=0 $other=0", [],
         torch.div(X, X, rounding_mode="trunc")),
        ("Tensor.view v 1 1 1 9 shape=(24) $input=1",
         ["torch.transpose t 1 1 0 1 dim0=0 dim1=2 $input=0"], X.transpose(0, 2).reshape(-1)),
        ("Tensor.to t 1 1 0 9 dtype=torch.int copy=False $input=0", [], X.int()),
    ],
)  # fmt: skip
def test_one_operator(line: str, before: list[str], expected: Tensor, tmp_path: Path) -> None:
    """The values are PyTorch's, and the input stays as it was."""
    given = X.clone()
    (got,) = run(one(line, *before), tmp_path, given)
    torch.testing.assert_close(got, expected, rtol=0, atol=0, equal_nan=True)
    assert torch.equal(given, X)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("aten::log2 op 1 1 0 9", "no operator of PyTorch's Python interface"),
        ("F.relu op 1 2 0 8 9", "2 results, not 1"),
        ("nn.LSTM op 1 2 0 8 9", "which of its results are the 2 outputs is not told"),
        ("nn.LSTM op 2 1 0 0 9", "takes 1 or 3 inputs, not 2"),
        ("pnnx.Expression op 1 1 0 9 expr=foo(@0)", r"'foo\(@0\)': there is no function foo"),
        ("pnnx.Expression op 1 1 0 9 expr=sign(2)", "there is no function sign of numbers"),
        ("Tensor.slice op 1 1 0 9 dim=3 $input=0", "3 is not one of its dims"),
        ("Tensor.slice op 1 1 0 9 dims=(0,1) starts=(0) $input=0", "1 starts for 2 dims"),
        ("Tensor.slice op 1 1 0 9 dims=(1,-2) $input=0", "stands twice"),
        ("Tensor.index op 1 1 0 9 expr=add(1,2) $input=0", "its index is not a list"),
        ("Tensor.reshape op 1 1 0 9 $input=0", "expected a tensor and sizes"),
        ("torch.einsum op 1 1 0 9", "it has no equation"),
        ("F.relu op 1 1 0 9 @weight=(2)f32", "it is no module, but holds a tensor"),
        ("pnnx.Attribute op 0 1 9", "it does not hold one tensor, data"),
        ("torch.where op 1 1 0 9 $condition=0", "takes a condition and two values"),
        ("torch.relu op 1 1 0 9 input=1 $input=0", "'input' cannot be the name"),
        ("torch.relu op 1 1 0 9 lambda=1 $input=0", "'lambda' cannot be the name"),
    ],
)
def test_what_does_not_fit_is_refused(line: str, message: str) -> None:
    graph = graph_of("\n".join([INPUT, line, "pnnx.Output out 1 0 9"]), {"op.weight": np.ones(2)})
    with pytest.raises(UnsupportedError, match=message):
        write_python(graph, io.StringIO(), "m.pnnx.bin", "m_pnnx")


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_inputs_and_stored_tensors_of_any_dtype(dtype: str, tmp_path: Path) -> None:
    """Inputs are drawn in order after seed 0; tensors come as they are, in shapes odd and empty."""
    torch_dtype = eval(_TORCH_DTYPES[dtype])
    stored = {f"{n}.data": np.ones(shape, DTYPES[dtype]) for n, shape in (("a", ()), ("b", (0, 2)))}
    graph = graph_of(
        f"""
        pnnx.Input      in0 0 1 0 #0=(3,?){dtype}
        pnnx.Input      in1 0 1 1 #1=(){dtype}
        pnnx.Attribute  a   0 1 2 @data=(){dtype}
        pnnx.Attribute  b   0 1 3 @data=(0,2){dtype}
        prim::TupleConstruct t 4 1 0 1 2 3 4
        pnnx.Output     out 1 0 4
        """,
        stored,
    )
    generated = generate(graph, tmp_path)
    first, second, a, b = generated.test_inference()
    assert {t.dtype for t in (first, second, a, b)} == {torch_dtype}
    assert [tuple(t.shape) for t in (first, second, a, b)] == [(3, 128), (), (), (0, 2)]
    assert a == torch.ones((), dtype=torch_dtype)
    torch.manual_seed(0)
    for drawn in (first, second):
        if torch_dtype.is_floating_point or torch_dtype.is_complex:
            again = torch.rand(drawn.shape, dtype=torch_dtype)
        else:
            again = torch.randint(2 if dtype == "bool" else 10, drawn.shape, dtype=torch_dtype)
        assert torch.equal(drawn, again)


def test_an_input_without_a_shape_is_refused() -> None:
    graph = graph_of("pnnx.Input in 0 1 0\npnnx.Output out 1 0 0")
    with pytest.raises(UnsupportedError, match="input 0 is not known; give it with inputshape="):
        write_python(graph, io.StringIO(), "m.pnnx.bin", "m_pnnx")


def test_modules_of_any_name_hold_their_own_weights(tmp_path: Path) -> None:
    names = ["0", "forward", "class", "a.b", "a_b", "é", "_x", "__init__", "train", "a b", "1.0"]
    graph = Graph()
    value = graph.operand("x", (2, 3), "f32")
    graph.add("pnnx.Input", "in", [], [value])
    stored = {name: np.random.default_rng(i).random((3, 3), "f4") for i, name in enumerate(names)}
    for name, weight in stored.items():
        rows = graph_of(
            "pnnx.Input in 0 1 0\nnn.Linear w 1 1 0 1 bias=False in_features=3 out_features=3 "
            "@weight=(3,3)f32",
            {"w.weight": weight},
        )
        linear = rows.operators[1]
        made = graph.operand(f"y{name}")
        graph.add("nn.Linear", name, [value], [made], params=linear.params, attrs=linear.attrs)
        value = made
    graph.add("pnnx.Output", "out", [value])
    x = torch.rand(2, 3)
    expected = x
    for weight in stored.values():
        expected = F.linear(expected, torch.from_numpy(weight))
    (got,) = run(graph, tmp_path, x)
    torch.testing.assert_close(got, expected, rtol=0, atol=0)


def test_deep_expressions_run(tmp_path: Path) -> None:
    depth = 500
    expr = "add(" * depth + "@0" + ",1)" * depth
    (got,) = run(one(f"pnnx.Expression e 1 1 0 9 expr={expr}"), tmp_path, X)
    assert torch.equal(got, X + depth)


def test_custom_operators_run(tmp_path: Path) -> None:
    @torch.library.custom_op("pnnx_parity_test::scale", mutates_args=())
    def scale(x: Tensor, factor: float) -> Tensor:
        return x * factor

    (got,) = run(
        one("pnnx.custom_op.pnnx_parity_test.scale op 1 1 0 9 arg_1=3.0 $arg_0=0"), tmp_path, X
    )
    assert torch.equal(got, X * 3)


# --- the file


LINEAR = """
pnnx.Input   in 0 1 0 #0=(2,?)f32
nn.Linear    fc 1 1 0 1 bias=False in_features=3 out_features=3 @weight=(3,3)f32 #0=(2,?)f32
prim::TupleConstruct t 2 1 0 1 2
pnnx.Output  out 1 0 2
"""


def test_exports_compute_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TorchScript and exported programs; ONNX needs onnxscript, which no cell installs."""
    graph = graph_of(LINEAR.replace("?", "3"), {"fc.weight": np.eye(3, dtype=np.float32)})
    generated = generate(graph, tmp_path)
    monkeypatch.chdir(tmp_path)
    generated.export_torchscript()
    generated.export_exported_program()
    expected = generated.test_inference()
    inputs = generated._inputs()
    for net in (torch.jit.load("m_pnnx.py.pt"), torch.export.load("m_pnnx.py.pt2").module()):
        assert all(map(torch.equal, net(*inputs), expected))


def test_dynamic_dims_stay_dynamic_in_exported_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = graph_of(LINEAR.replace("(2,?)", "(?,3)"), {"fc.weight": np.eye(3, dtype=np.float32)})
    generated = generate(graph, tmp_path)
    monkeypatch.chdir(tmp_path)
    generated.export_exported_program()
    net = torch.export.load("m_pnnx.py.pt2").module()
    assert [tuple(one.shape) for one in net(torch.rand(7, 3))] == [(7, 3), (7, 3)]


def test_a_stored_tensor_of_another_size_is_told(tmp_path: Path) -> None:
    graph = graph_of(LINEAR, {"fc.weight": np.eye(3, dtype=np.float32)})
    generated = generate(graph, tmp_path)
    text = (tmp_path / "m_pnnx.py").read_text().replace("(3, 3)", "(3, 4)")
    exec(compile(text, str(tmp_path / "m_pnnx.py"), "exec"), generated.__dict__)
    with pytest.raises(ValueError, match=r"fc\.weight does not have 48 bytes"):
        generated.Model()


def test_the_file_runs_from_any_folder_with_torch_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    graph = graph_of(LINEAR.replace("?", "3"), {"fc.weight": np.eye(3, dtype=np.float32)})
    generate(graph, tmp_path)
    blocked = "converter torchvision torchaudio pnnx"
    code = (
        "import runpy, sys\n"
        f"sys.modules.update(dict.fromkeys({blocked.split()!r}))\n"
        "runpy.run_path('../m_pnnx.py', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path / "elsewhere",
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("(tensor([[0.4963")


# --- the lists


def test_what_may_be_called_exists() -> None:
    names = {"F": F, "nn": torch.nn, "Tensor": Tensor, "torch": torch}
    own = {"Tensor.slice", "Tensor.slice_copy", "Tensor.index", "Tensor.fill"}
    for type in CALLABLES - own:
        owner, *path = type.split(".")
        if owner in names:
            found = names[owner]
            for name in path:
                found = getattr(found, name)
            assert callable(found), type


def test_results_are_of_what_may_be_called() -> None:
    assert (set(RESULTS) | LISTS) <= CALLABLES


def schema_name(type: str) -> str:
    return type.replace("torch.", "aten::", 1).replace(".", "_")


def returns(type: str) -> set[str]:
    """What the overloads of a function return: `1`, `2`, `Tensor[]`."""
    kinds = set()
    for schema in torch._C._jit_get_schemas_for_operator(schema_name(type)):
        if not any(one.is_out for one in schema.arguments):
            is_list = len(schema.returns) == 1 and str(schema.returns[0].type) == "List[Tensor]"
            kinds.add("Tensor[]" if is_list else str(len(schema.returns)))
    return kinds


@pytest.mark.parametrize("owner", ["torch", "torch.linalg", "torch.fft", "torch.special"])
def test_results_are_as_many_as_pytorch_s_schemas_say(owner: str) -> None:
    for type in sorted(CALLABLES):
        if type.rpartition(".")[0] == owner and (kinds := returns(type)):
            known = RESULTS.get(type, "Tensor[]" if type in LISTS else 1)
            assert callable(known) or kinds - OTHERS.get(type, set()) == {str(known)}, (type, kinds)


OTHERS = {
    "torch.sort": {"0"},  # of a list, in place
    "torch.split": {"1"},  # of a string
    "torch.where": {"Tensor[]"},  # of a condition alone
}


@pytest.mark.parametrize("type", sorted(LISTS))
def test_lists_are_lists_even_of_one(type: str) -> None:
    arguments = {"torch.chunk": (1,), "torch.split": (2,), "torch.unbind": ()}
    by_dim = ("torch.gradient", "torch.meshgrid")  # of each dim, or of each of one dim, one result
    sections = () if type in (*by_dim, "torch.broadcast_tensors") else (1,)
    tensor = X[0, 0] if type in by_dim else X[:1]
    got = getattr(torch, type.removeprefix("torch."))(tensor, *arguments.get(type, sections))
    assert isinstance(got, tuple | list)
    assert len(got) == 1


def test_module_members_are_reserved() -> None:
    assert {name for name in dir(torch.nn.Module()) if name[0] != "_"} <= _MODULE_MEMBERS
