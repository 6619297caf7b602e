"""Memory formats; as_strided of what fills a part of the memory in any order, else refused."""

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


def test_kernels_find_tensors_as_they_lay_in_the_export() -> None:
    """The same bits: attention adds in another order where its inputs lie otherwise."""
    attention = "F.scaled_dot_product_attention(y, y, y, scale=0.5)"
    check(
        f"(y := image.contiguous(memory_format=torch.channels_last), {attention})",
        f"(y := image.to(memory_format=torch.channels_last), {attention})",
        f"(y := image.double().to(torch.float, memory_format=torch.channels_last), {attention})",
        f"(y := image.transpose(1, 2).contiguous(), {attention})",
        f"(y := image.transpose(1, 2), {attention})",
        f"(y := volume.contiguous(memory_format=torch.channels_last_3d)[..., 0], {attention})",
        image=torch.randn(1, 3, 8, 6),
        volume=torch.randn(1, 3, 8, 6, 2),
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
