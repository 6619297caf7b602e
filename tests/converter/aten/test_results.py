"""What models take and return: nests of tensors, numbers and None, in classes of their own too."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from equality import load
from torch import nn
from torch.utils import _pytree as pytree

import converter
from converter.errors import UnsupportedError
from suites.compare import compare, exact

Pair = namedtuple("Pair", "first second")


@dataclasses.dataclass
class Boxes:
    corners: torch.Tensor
    scores: torch.Tensor
    masks: torch.Tensor | None = None


class Opaque:
    """A class of the user's whose parts have no names."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


pytree._register_namedtuple(Pair, serialized_type_name="test_results.Pair")
torch.export.register_dataclass(Boxes, serialized_type_name="test_results.Boxes")
pytree.register_pytree_node(
    Opaque,
    lambda opaque: ([opaque.tensor], None),
    lambda parts, context: Opaque(*parts),
    serialized_type_name="test_results.Opaque",
    to_dumpable_context=lambda context: None,
    from_dumpable_context=lambda context: None,
)

x = torch.arange(6.0).reshape(2, 3)
y = torch.tensor([3.0, -1.0, 2.0])


class Forward(nn.Module):
    def __init__(self, forward: Callable[..., Any]) -> None:
        super().__init__()
        self.function = forward
        self.register_buffer("state", torch.tensor([1.0, 2.0]))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def export(folder: Path, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Path:
    with torch.no_grad():
        program = torch.export.export(Forward(function).eval(), args, kwargs)
    torch.export.save(program, folder / "m.pt2")
    return folder / "m.pt2"


def check(folder: Path, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Convert a function, call what was generated with the leaves of its arguments; compare."""
    converter.convert(export(folder, function, *args, **kwargs), ncnn=False)
    leaves = pytree.tree_leaves((args, kwargs))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    actual = load(folder / "m_pnnx.py")(*tensors)
    expected = function(*args, **kwargs)
    if isinstance(expected, Boxes):
        expected = {k: v for k, v in vars(expected).items() if v is not None}
    compare(expected, actual, exact)
    return actual


def nested(x: torch.Tensor) -> Any:
    return [x + 1, (x.relu(), {"k": [x, x * 2], 1: x.neg()}, None)], 3, 2.5, True


def fitted(x: torch.Tensor) -> Any:
    result = defaultdict(list)
    result["last_hidden.state:0"] = x + 1
    return result


@pytest.mark.parametrize(
    "function",
    [
        nested,
        fitted,
        lambda x: x,
        lambda x: None,
        lambda x: (x, x),
        lambda x: (x.relu(),) * 2,
        lambda x: ((), [], {}, x),
        lambda x: (x.shape, x.relu()),
        lambda x: (x.relu(), torch.ones(2, 3), torch.arange(3), 0, "mean"),
        lambda x: {"b": x + 1, "a": None},
        lambda x: OrderedDict(z=x + 1, a=x.relu()),
        lambda x: Pair(x + 1, [x.relu()]),
        lambda x: Boxes(x + 1, x),
        lambda x: Boxes(x + 1, x, x * 3),
    ],
)
def test_results_are_nested_as_the_model_nests_them(
    function: Callable[..., Any], tmp_path: Path
) -> None:
    check(tmp_path, function, x)


def test_a_deque_becomes_a_list(tmp_path: Path) -> None:
    converter.convert(export(tmp_path, lambda x: deque([x, x + 1]), x), ncnn=False)
    compare([x, x + 1], load(tmp_path / "m_pnnx.py")(x), exact)


@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (lambda t: t[0] - t[1], ((x, y),), {}),
        (lambda ts, z: [t - z for t in ts], ([x, y], x), {}),
        (lambda d: d["b"] - d["a"], ({"b": x, "a": y},), {}),
        (lambda n: n[0]["k"][1] - n[1], (({"k": [y, x]}, y),), {}),
        (lambda p: p.first - p.second, (Pair(x, y),), {}),
        (lambda b: b.corners - b.scores, (Boxes(x, y),), {}),
        (lambda x, *, scale, mask=None: (x - scale) * mask, (x,), {"scale": y, "mask": x}),
        (lambda x, *, scale, mask=None: x - scale, (x,), {"scale": y}),
        (lambda *xs, **more: xs[1] - more["z"][0], (x, y), {"z": [x]}),
        (lambda x, n, f, s, b, none: x * n + f if b else x, (x, 3, 2.5, "s", True, None), {}),
        (lambda unread, x: x + 1, (y, x), {}),
    ],
)
def test_arguments_are_taken_in_the_order_of_their_leaves(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], tmp_path: Path
) -> None:
    check(tmp_path, function, *args, **kwargs)


def test_parameters_and_buffers_are_returned(tmp_path: Path) -> None:
    model = Forward(lambda x: (x.relu(), model.state))
    torch.export.save(torch.export.export(model, (x,)), tmp_path / "m.pt2")
    converter.convert(tmp_path / "m.pt2", ncnn=False)
    compare(model(x), load(tmp_path / "m_pnnx.py")(x), exact)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: {"two words": x + 1}, "returns 'two words', which pnnx cannot write"),
        (lambda x: {"1": x + 1}, "returns '1', which pnnx cannot write"),
        (lambda x: {"None": x + 1}, "returns 'None', which pnnx cannot write"),
        (lambda x: (x, "a\nb"), "returns 'a\\nb', which pnnx cannot write"),
        (lambda x: Opaque(x + 1), "returns a test_results.Opaque, whose fields the file"),
    ],
)
def test_what_cannot_be_written_is_refused(
    function: Callable[..., Any], why: str, tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedError) as refused:
        converter.convert(export(tmp_path, function, x), ncnn=False)
    assert why in str(refused.value)


def test_ncnn_returns_the_values_of_a_dict(tmp_path: Path) -> None:
    image = torch.rand(1, 3, 4, 4)
    path = export(tmp_path, lambda x: {"b": [x.relu()], "a": x.sigmoid()}, image)
    assert converter.convert(path).ncnn_refusal is None
    assert "return ((out0, ), out1, )" in (tmp_path / "m_ncnn.py").read_text()


def test_ncnn_returns_words_beside_the_blobs(tmp_path: Path) -> None:
    path = export(tmp_path, lambda x: {"a": x.relu(), "b": "a"}, torch.rand(1, 3, 4, 4))
    assert converter.convert(path).ncnn_refusal is None
    assert "return (out0, 'a', )" in (tmp_path / "m_ncnn.py").read_text()
