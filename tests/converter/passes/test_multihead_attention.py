"""nn.MultiheadAttention out of exported programs: recovered where it is proven, else left alone."""

from __future__ import annotations

import math

import pytest
import torch

from converter.archive.read import read_program
from converter.aten.lower import lower
from converter.passes.dead_code import DeadCode
from converter.passes.multihead_attention import CLASS, MultiheadAttention
from converter.symbols import Symbols

WIDTH, HEADS = 16, 4
LENGTH, SOURCE, BATCH = 6, 5, 2
BASIC = {
    "add_bias_kv": False,
    "add_zero_attn": False,
    "batch_first": True,
    "bias": True,
    "embed_dim": WIDTH,
    "kdim": WIDTH,
    "num_heads": HEADS,
    "vdim": WIDTH,
}


class Attentions(torch.nn.Module):
    """One attention for each of the calls, which get it, three sequences and two masks."""

    def __init__(self, calls):
        super().__init__()
        self.calls = {}
        for name, call in calls.items():
            arguments, self.calls[name] = call if isinstance(call, tuple) else ({}, call)
            self.add_module(
                name,
                torch.nn.MultiheadAttention(WIDTH, HEADS, **{"batch_first": True, **arguments}),
            )

    def forward(self, x, y, z, mask, padding):
        return [
            call(self.get_submodule(name), x, y, z, mask, padding)
            for name, call in self.calls.items()
        ]


def export(calls, folder):
    """Export all calls as one program, which takes as long as exporting one."""
    inputs = (
        torch.rand(BATCH, LENGTH, WIDTH),
        torch.rand(BATCH, SOURCE, WIDTH),
        torch.rand(BATCH, SOURCE, WIDTH),
        torch.rand(LENGTH, SOURCE),
        torch.rand(BATCH, SOURCE),
    )
    with torch.no_grad():
        program = torch.export.export(Attentions(calls).eval(), inputs)
    torch.export.save(program, folder / "m.pt2")
    return folder / "m.pt2"


def lowered(path):
    """The graph as torch recorded it."""
    graph = lower(read_program(path), Symbols())
    DeadCode()(graph)
    return graph


def masked(need_weights, **masks):
    """A call with masks made of the two that are given."""
    return lambda m, x, y, z, mask, padding: m(
        x, y, y, need_weights=need_weights, **{name: f(mask, padding) for name, f in masks.items()}
    )[0]


MASKS = {
    "float": {"attn_mask": lambda mask, padding: mask},
    "bool": {"attn_mask": lambda mask, padding: mask > 0.5},
    "per_head": {"attn_mask": lambda mask, padding: mask.expand(BATCH * HEADS, -1, -1)},
    "keys": {"key_padding_mask": lambda mask, padding: padding},
    "bool_keys": {"key_padding_mask": lambda mask, padding: padding > 0.5},
    "both": {
        "attn_mask": lambda mask, padding: mask > 0.5,
        "key_padding_mask": lambda mask, padding: padding > 0.5,
    },
}
SAME = {
    "self": (1, lambda m, x, *_: m(x, x, x)[0]),
    "self_fused": (1, lambda m, x, *_: m(x, x, x, need_weights=False)[0]),
    "cross": (2, lambda m, x, y, *_: m(x, y, y)[0]),
    "cross_fused": (2, lambda m, x, y, *_: m(x, y, y, need_weights=False)[0]),
    "three": (3, lambda m, x, y, z, *_: m(x, y, z)[0]),
    "three_fused": (3, lambda m, x, y, z, *_: m(x, y, z, need_weights=False)[0]),
}
ARGUMENTS = {
    "no_bias": ({"bias": False}, {"in_proj_weight", "out_proj.weight"}),
    "bias_kv": ({"add_bias_kv": True}, {"bias_k", "bias_v"}),
    "zeros": ({"add_zero_attn": True}, {"in_proj_weight"}),
    "bias_and_zeros": ({"add_bias_kv": True, "add_zero_attn": True}, {"bias_k", "bias_v"}),
    "widths": ({"kdim": 8, "vdim": 12}, {"q_proj_weight", "k_proj_weight", "v_proj_weight"}),
}


def with_everything(m, x, y, z, mask, padding):
    key, value = y[..., : m.kdim], z[..., : m.vdim]
    return m(x, key, value, attn_mask=mask, key_padding_mask=padding)


def unbatched(m, x, y, z, mask, padding):
    return m(x[0], y[0], y[0], attn_mask=mask, key_padding_mask=padding[0])


def unbatched_keys(need_weights):
    return lambda m, x, y, z, mask, padding: m(
        x[0], y[0], y[0], key_padding_mask=padding[0] > 0.5, need_weights=need_weights
    )


def time_first(m, x, y, *_):
    return m(x.transpose(0, 1), y.transpose(0, 1), y.transpose(0, 1))


def hinted(m, x, y, z, mask, padding):
    square = mask[:, :1].expand(LENGTH, LENGTH)
    return m(x, x, x, attn_mask=square, is_causal=True, need_weights=False)[0]


RECOVERED = {
    **{name: call for name, (_, call) in SAME.items()},
    **{name: (arguments, with_everything) for name, (arguments, _) in ARGUMENTS.items()},
    **{
        f"{name}_{need_weights}": masked(need_weights, **keywords)
        for name, keywords in MASKS.items()
        for need_weights in (True, False)
    },
    "weights": lambda m, x, y, *_: m(x, y, y),
    "time_first": ({"batch_first": False}, time_first),
    "unbatched": unbatched,
    "unbatched_keys": unbatched_keys(need_weights=True),
    "unbatched_keys_fused": unbatched_keys(need_weights=False),
    "unbatched_time_first": ({"batch_first": False}, unbatched),
    "twice": lambda m, x, y, *_: (m(x, y, y)[0], m(x, x, x)[0], m(x, y, y)[0]),
    "chained": lambda m, x, y, *_: m(m(x, x, x)[0], y, y)[0],
}
LEFT = {
    "per_head_weights": lambda m, x, *_: m(x, x, x, average_attn_weights=False),
    "causal": hinted,
    "projection": lambda m, x, *_: m.out_proj(x),
}


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """The modules that are recovered of all calls, by name."""
    graph = lowered(export({**RECOVERED, **LEFT}, tmp_path_factory.mktemp("attention")))
    MultiheadAttention()(graph)
    DeadCode()(graph)
    graph.check()
    found = {}
    for op in graph.of_type("nn.MultiheadAttention"):
        found.setdefault(op.name, []).append(op)
    return found


def test_what_is_recovered(modules):
    assert modules.keys() == RECOVERED.keys()
    assert [len(op.inputs) for op in modules["twice"]] == [2, 1, 2]
    first, second = modules["chained"]
    assert second.inputs[0] is first.outputs[0]


@pytest.mark.parametrize("name", SAME)
def test_inputs_that_are_the_same_stand_once(name, modules):
    (op,) = modules[name]
    assert op.params == BASIC
    assert [len(op.inputs), len(op.outputs), op.input_names] == [SAME[name][0], 1, []]
    assert {key: attr.shape for key, attr in op.attrs.items()} == {
        "in_proj_weight": (3 * WIDTH, WIDTH),
        "in_proj_bias": (3 * WIDTH,),
        "out_proj.weight": (WIDTH, WIDTH),
        "out_proj.bias": (WIDTH,),
    }


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_of_the_module(name, modules):
    (op,) = modules[name]
    arguments, tensors = ARGUMENTS[name]
    assert op.params == {**BASIC, **arguments}
    assert op.attrs.keys() >= tensors
    assert op.input_names == ["", "", "", "attn_mask", "key_padding_mask"]
    assert len(op.outputs) == 2


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("name", MASKS)
def test_masks(name, need_weights, modules):
    (op,) = modules[f"{name}_{need_weights}"]
    assert op.input_names == ["", "", *MASKS[name]]
    # Weights that were asked for are asked for again: they decide what a masked query gives.
    assert len(op.outputs) == 1 + need_weights


def test_weights_that_are_read_are_an_output(modules):
    (op,) = modules["weights"]
    assert [one.shape for one in op.outputs] == [(BATCH, LENGTH, WIDTH), (BATCH, LENGTH, SOURCE)]


def test_the_order_of_dims(modules):
    (op,) = modules["time_first"]
    assert op.params == {name: value for name, value in BASIC.items() if name != "batch_first"}
    assert op.inputs[0].shape == (LENGTH, BATCH, WIDTH)


@pytest.mark.parametrize("name", ["unbatched", "unbatched_time_first"])
def test_without_a_batch(name, modules):
    (op,) = modules[name]
    assert "batch_first" not in op.params
    assert [one.shape for one in op.outputs] == [(LENGTH, WIDTH), (LENGTH, SOURCE)]


@pytest.mark.parametrize(("name", "outputs"), [("unbatched_keys", 2), ("unbatched_keys_fused", 1)])
def test_the_mask_of_keys_without_a_batch_is_no_mask_of_scores(name, outputs, modules):
    (op,) = modules[name]
    assert op.input_names == ["", "", "", "key_padding_mask"]
    assert op.inputs[3].shape == (SOURCE,)
    assert len(op.outputs) == outputs


# --- what is not proven


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The files of two single calls."""
    return {
        need_weights: export(
            {"one": masked(need_weights, **MASKS["float"])}, tmp_path_factory.mktemp("one")
        )
        for need_weights in (True, False)
    }


def set_param(**params):
    return lambda graph, op: op.params.update(params)


def swap_inputs(graph, op):
    graph.set_inputs(op, op.inputs[::-1], op.input_names)


def swap_selects(graph, op):
    """Take the value for the key, and the other way."""
    one, other = graph.of_type("Tensor.select")
    one.params, other.params = other.params, one.params


@pytest.mark.parametrize(
    ("need_weights", "type", "tamper"),
    [
        (True, "pnnx.Expression", set_param(expr=f"mul(@0,{math.sqrt(0.3)!r})")),
        (True, "F.softmax", set_param(dim=1)),
        (True, "torch.baddbmm", set_param(alpha=2)),
        (True, "torch.bmm", swap_inputs),
        (True, "Tensor.select", swap_selects),
        (False, "F.scaled_dot_product_attention", set_param(is_causal=True)),
        (False, "F.scaled_dot_product_attention", set_param(scale=0.3)),
        (False, "F.scaled_dot_product_attention", set_param(enable_gqa=True)),
        (False, "Tensor.permute", set_param(dims=(0, 2, 1, 3))),
    ],
)
def test_what_differs_in_one_place_stays(need_weights, type, tamper, programs):
    """Whatever the archive says of the module: only what is proven is rewritten."""
    graph = lowered(programs[need_weights])
    tamper(graph, graph.of_type(type)[0])
    assert MultiheadAttention()(graph) == 0


def test_what_others_read_in_between_stays(programs):
    graph = lowered(programs[True])
    (softmax,) = graph.of_type("F.softmax")
    (output,) = graph.of_type("pnnx.Output")
    graph.set_inputs(output, [*output.inputs, softmax.outputs[0]])
    assert MultiheadAttention()(graph) == 0


def test_the_name_of_the_module_matters_not_what_it_proves(programs):
    graph = lowered(programs[True])
    for op in graph.operators:
        op.module = ("other", "torch.nn.modules.linear.Linear")
    assert MultiheadAttention()(graph) == 0
    for op in graph.operators:
        op.module = ("other", CLASS)
    assert MultiheadAttention()(graph) == 1
