"""Overloads that decompositions and older exports leave, called directly."""

from __future__ import annotations

import torch
from equality import AS_EXPORTED, check

torch.manual_seed(0)
aten = torch.ops.aten
x = torch.randn(2, 4, 6)
image = torch.randn(1, 4, 6, 6)
volume = torch.randn(1, 4, 4, 5, 6)
rows = torch.tensor([1, 0])
weight = torch.randn(6, 4, 3, 3)


def test_convolutions_and_padding() -> None:
    check(
        "aten._convolution(image, w, b, one, one, one, False, [0, 0], 1, *flags)",
        "aten.convolution(image, w, None, [2], [1], [1], False, [0], 1)",
        "aten.convolution(image, w.transpose(0, 1), b, [2, 2], [1, 1], [1, 1], True, [1, 1], 1)",
        "aten.reflection_pad1d(x, [1, 2]), aten.reflection_pad2d(image, [1, 2, 0, 1])",
        "aten.reflection_pad3d(volume, [1, 2, 0, 1, 1, 1]), aten.replication_pad1d(x, [1, 2])",
        "aten.replication_pad2d(image, [1, 2, 0, 1]), aten.constant_pad_nd(x, [1, 1], 2)",
        "aten.replication_pad3d(volume, [1, 2, 0, 1, 1, 1]), aten.constant_pad_nd(x, [0, 0, 1, 0])",
        aten=aten,
        x=x,
        image=image,
        volume=volume,
        w=weight,
        b=torch.randn(6),
        one=[1, 1],
        flags=(False, False, True, True),
        how=AS_EXPORTED,
    )


PLANE, SPACE = "2.0, 1.5", "2.0, 1.5, 1.6"
RESIZES = (
    ("upsample_nearest1d _upsample_nearest_exact1d upsample_linear1d", "x", [5], [12], "2.0"),
    ("upsample_nearest2d _upsample_nearest_exact2d", "image", [5, 3], [12, 9], PLANE),
    ("upsample_bilinear2d upsample_bicubic2d", "image", [5, 3], [12, 9], PLANE),
    ("_upsample_bilinear2d_aa _upsample_bicubic2d_aa", "image", [5, 3], [3, 2], "0.5, 0.4"),
    ("upsample_nearest3d _upsample_nearest_exact3d", "volume", [5, 3, 4], [8, 7, 9], SPACE),
    ("upsample_trilinear3d", "volume", [5, 3, 4], [8, 7, 9], SPACE),
)
"""Names, the input, a size of the result; another size, and the factors that it comes from."""


def test_resizing() -> None:
    check(
        *[
            f"aten.{name}({tensor}, {arguments})"
            for names, tensor, size, other, factors in RESIZES
            for name in names.split()
            for corners in ([""] if "nearest" in name else [", False", ", True"])
            for arguments in (f"{size}{corners}", f"{other}{corners}, {factors}")
        ],
        aten=aten,
        x=x,
        image=image,
        volume=volume,
        how=AS_EXPORTED,
    )


def test_by_products_that_are_not_read() -> None:
    check(
        "aten.embedding_bag(x[0], rows, rows[1:])[0], aten.conj(wave)",
        "aten._scaled_dot_product_flash_attention_for_cpu(q, q, q)[0]",
        "aten.stft.center(x[0], 4, center=False, return_complex=True)",
        aten=aten,
        x=x,
        q=torch.randn(1, 2, 4, 8),
        rows=rows,
        wave=torch.complex(x, x),
        how=AS_EXPORTED,
    )


def test_other_overloads() -> None:
    check(
        "aten._unsafe_index(x, [None, rows]), aten._unsafe_index_put(x, [rows], x)",
        "aten._unsafe_view(x, [8, 6])",
        "aten._index_put_impl(x, [rows], x), aten.split.sizes(x, [1, 3], 1), aten.lift_fresh(x)",
        "aten.norm.Scalar(x, 1), aten.norm.ScalarOpt_dim(x, None, [1]), aten.to.other(x, rows)",
        "aten.norm.ScalarOpt_dtype(x, 2, dtype=torch.double)",
        "aten.norm.ScalarOpt_dim_dtype(x, 3, [1], True, dtype=torch.double)",
        "aten.div.Scalar_mode(x, 2, rounding_mode='trunc')",
        "aten.div.Scalar_mode(x, 2, rounding_mode='floor')",
        "aten.floor_divide.Scalar(x, 2), aten.mul.Scalar(x, 2), aten.add.Scalar(x, 2, 3)",
        "aten.sub.Scalar(x, 2)",
        "aten.nll_loss(x[:, :, 0], rows)",
        "aten.nll_loss2d(image, rows[:1, None, None].expand(1, 6, 6))",
        "aten.nll_loss_forward(x[:, :, 0], rows, None, 1, -100)[0], torch.conj(wave)",
        "aten.pow.Scalar(2, x)",
        "aten.nll_loss2d_forward(image, rows[:1, None, None].expand(1, 6, 6), None, 0, 1)[0]",
        "aten.multilabel_margin_loss_forward(x[0], x[0].argsort(1), 1)[0], aten.detach_(x * 1)",
        "torch.nanquantile(x, x[0, 0, :2].sigmoid()), torch.atleast_1d([x, rows])",
        "torch.logspace(0, rows[0], 3), torch.logspace(rows[0], rows[1], 3)",
        "torch.ops.prims.convert_element_type(x, torch.double)",
        "torch.empty_strided((2, 3), (3, 1)).zero_() + x[0, 0, 0]",
        "x.new_empty_strided((2, 3), (3, 1)).fill_(2), aten.bitwise_left_shift(rows, rows)",
        aten=aten,
        x=x,
        image=image,
        rows=rows,
        wave=torch.complex(x, x),
        how=AS_EXPORTED,
    )
