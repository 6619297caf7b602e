"""Whether pnnx, which does not tell, wrote a model that computes in another order than the traced.

What it folds and fuses computes the same, rounded in other places. It is seen by comparing how
often an operator is in the traced graph and how often it is in the `.pnnx.param`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

ATTENTION = "nn.MultiheadAttention"
WEIGHTLESS = f"{ATTENTION} without weights"
"""An attention whose weights are not asked for, which PyTorch computes by its fused operator."""

PADDED = "a convolution with a padding mode"
"""A convolution that pads by itself, in the same order as the operators that it stands for."""

PADS = ("Circular", "Constant", "Reflection", "Replication", "Zero")

FOLDED = (
    (("aten::_weight_norm",), ()),
    (
        ("aten::pad",),
        ("F.pad", PADDED, *(f"nn.{mode}Pad{dims}d" for mode in PADS for dims in (1, 2, 3))),
    ),
    (
        ("aten::batch_norm",),
        ("F.batch_norm", "nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d"),
    ),
)
"""Operators that pnnx makes part of others, and what it calls those that stay."""

FUSED = (
    (("aten::hardsigmoid",), ("F.hardsigmoid", "nn.Hardsigmoid")),
    (("aten::hardswish",), ("F.hardswish", "nn.Hardswish")),
    (("aten::layer_norm",), ("F.layer_norm", "nn.LayerNorm")),
    (("aten::rms_norm",), ("F.rms_norm", "nn.RMSNorm")),
    (
        ("aten::scaled_dot_product_attention", "aten::_native_multi_head_attention"),
        ("F.scaled_dot_product_attention", WEIGHTLESS),
    ),
)
"""Operators, and what pnnx calls them, that it also puts in the place of several others."""

REUSED = "pnnx_unique_"
"""How pnnx calls a module of the model where it is called again."""


def changed_arithmetic(traced: Mapping[str, int], modules: set[str], param: str) -> bool:
    """Whether the `.pnnx.param`, given as text, has less that was folded or more that was fused.

    `traced` counts the operators of the traced graph, `modules` are the names of the model's
    modules: an attention under another name was made of several operators.
    """
    operators = list(_operators(param))
    kinds = Counter(kind for kind, _ in operators)

    def more(written: tuple[str, ...], known: tuple[str, ...]) -> int:
        """How many more operators were written than traced."""
        return sum(kinds[kind] for kind in written) - sum(traced.get(kind, 0) for kind in known)

    return (
        any(more(written, known) < 0 for known, written in FOLDED)
        or any(more(written, known) > 0 for known, written in FUSED)
        or any(
            kind.startswith(ATTENTION) and name not in modules and not name.startswith(REUSED)
            for kind, name in operators
        )
    )


def _operators(param: str) -> Iterator[tuple[str, str]]:
    """The kind and name of each operator; two kinds where it does what two operators did."""
    for line in param.splitlines()[2:]:
        kind, name, _, outputs = line.split(maxsplit=4)[:4]
        if " padding_mode=" in line and " padding_mode=zeros" not in line:
            yield PADDED, name
        yield (WEIGHTLESS if kind == ATTENTION and outputs == "1" else kind), name
