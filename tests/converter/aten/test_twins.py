"""Every call that writes to its arguments, of an operator that is converted, has a twin that is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from converter.aten.in_place import functional
from converter.aten.operators import find
from converter.aten.schema_table import TABLE, OpSchema, overloads, schema

LEFT = {
    "lists of tensors that are written to": {
        *("split_copy.Tensor_out", "split_with_sizes_copy.out", "unbind_copy.int_out"),
        *("unsafe_split.Tensor_out", "unsafe_split_with_sizes.out"),
    },
    "statistics that are written beside the results": {
        *("_batch_norm_with_update.default", "_batch_norm_with_update.out"),
        *("_native_batch_norm_legit.default", "_native_batch_norm_legit.out"),
    },
    "TorchScript's own": {
        *("_index_put_impl_.hacked_twin", "copy_.Tensor", "copy_.float", "copy_.int"),
        "index_put_.hacked_twin",
    },
    "products in another dtype than their factors'": {
        *("addmm.dtype_out", "baddbmm.dtype_out", "bmm.dtype_out", "mm.dtype_out"),
    },
    "noise that is written to in training, which is refused, and not in inference": {
        *("rrelu_with_noise.default", "rrelu_with_noise.out", "rrelu_with_noise_.default"),
    },
    "random": {
        *("rand.generator_out", "rand_like.generator_out", "randint.generator_out"),
        *("randint.low_generator_out", "randn.generator_out", "randn_like.generator_out"),
    },
}
"""Those that have none, and why."""


def writing() -> Iterator[OpSchema]:
    """ATen's operators that write to an argument."""
    keys = (line.partition("(")[0] for line in TABLE.read_text(encoding="utf-8").splitlines())
    for name in {key.partition(".")[0] for key in keys if key.startswith("aten::")}:
        yield from (op for op in overloads("aten", name.removeprefix("aten::")) if op.mutates)


def is_converted(op: OpSchema) -> bool:
    return find(f"{op.namespace}.{op.name}.{op.overload}") is not None


def test_twins_are_converted_as_what_they_are_twins_of() -> None:
    without = {
        f"{op.name}.{op.overload}"
        for op in writing()
        if not (functional(op).written and find(functional(op).target))
        if any(map(is_converted, overloads("aten", op.name.rstrip("_"))))
    }
    assert without == set().union(*LEFT.values())


@pytest.mark.parametrize(
    ("target", "twin"),
    [
        ("add.out", "add.Tensor"),
        ("add_.Tensor", "add.Tensor"),
        ("sum.IntList_out", "sum.dim_IntList"),
        ("max.dim_max", "max.dim"),
        ("topk.values", "topk.default"),
        ("arange.start_out", "arange.start_step"),
        ("zeros.out", "zeros.default"),
        ("div.out_mode", "div.Tensor_mode"),
        ("__iand__.Scalar", "__and__.Scalar"),
        ("pow_.Scalar", "pow.Tensor_Scalar"),
        ("fill_diagonal_.default", "fill_diagonal.default"),
        ("relu.default", "relu.default"),
    ],
)
def test_twin(target: str, twin: str) -> None:
    op = schema(f"torch.ops.aten.{target}")
    assert op is not None
    assert functional(op).target == f"aten.{twin}"


def test_arguments_go_by_name_or_in_order() -> None:
    def arguments(target: str, **bound: int) -> dict[str, object]:
        op = schema(f"torch.ops.aten.{target}")
        assert op is not None
        return dict(functional(op).arguments(bound))

    assert list(arguments("polygamma_.default", self=1, n=2).items()) == [("n", 2), ("self", 1)]
    assert arguments("dropout_.default", self=1, p=2, train=3) == {"input": 1, "p": 2, "train": 3}
    made = arguments("full.out", size=1, fill_value=2, out=3)
    assert (made["size"], made["fill_value"]) == (1, 2)
    assert "out" not in made
    assert made["dtype"] is None
