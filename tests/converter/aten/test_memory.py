"""as_strided: of tensors that fill a part of the memory, in whatever order; refused elsewhere."""

from __future__ import annotations

import pytest
import torch
from equality import AS_EXPORTED, check, refusal

x = torch.arange(24.0).reshape(2, 3, 4)


def test_reads_memory_as_it_was_in_the_export() -> None:
    check(
        "x.as_strided((2, 2, 4), (12, 4, 1))",
        "(x * 2).as_strided((2, 5, 4), (8, 2, 1))",
        "x.transpose(0, 1).as_strided((2, 5, 4), (8, 2, 1))",
        "x.permute(2, 0, 1).mul(2).as_strided((2, 5, 4), (8, 2, 1))",
        "x.reshape(2, 1, 12).transpose(0, 1).as_strided((2, 5, 4), (8, 2, 1))",
        "x.transpose(1, 2).reshape(2, 12).as_strided((2, 3, 6), (12, 3, 1))",
        "x.transpose(1, 2).contiguous().as_strided((4, 2), (1, 12))",
        "x[1:].as_strided((4,), (2,))",
        "x.as_strided((0, 3), (1, 1))",
        "x.as_strided((), ())",
        x=x,
        how=AS_EXPORTED,
    )


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("x[:, 1:].as_strided((2, 2), (2, 1))", "do not fill a part of the memory"),
        ("x[:, :, ::2].as_strided((2, 2), (2, 1))", "do not fill a part of the memory"),
        ("x.expand(2, 2, 3, 4).as_strided((2, 2), (2, 1))", "do not fill a part of the memory"),
        ("x.as_strided((2, 2), (2, 1), 1)", "storage_offset counts from outside of the tensor"),
        ("x[:1].as_strided((2, 12), (12, 1))", "it reads beyond the tensor"),
    ],
)
def test_refuses_what_memory_decides(expression: str, why: str) -> None:
    assert why in refusal(expression, x=x)
