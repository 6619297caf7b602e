"""Losses."""

from __future__ import annotations

from converter.aten.registry import overloads, same
from converter.ir import Param


def reduction(number: int) -> Param:
    """`F.mse_loss` and the like spell out what ATen numbers."""
    return ("none", "mean", "sum")[number]


REDUCTION = {"reduction": reduction}

PLAIN = (
    "binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss "
    "hinge_embedding_loss huber_loss kl_div l1_loss margin_ranking_loss mse_loss "
    "multi_margin_loss multilabel_margin_loss poisson_nll_loss smooth_l1_loss soft_margin_loss "
    "triplet_margin_loss"
)
for target in overloads(PLAIN):
    same(target, f"F.{target.split('.')[0]}", convert=REDUCTION)

same("cross_entropy_loss.default", "F.cross_entropy", convert=REDUCTION)
same(overloads("nll_loss nll_loss2d nll_loss_nd"), "F.nll_loss", convert=REDUCTION)
same(overloads("nll_loss_forward nll_loss2d_forward"), "F.nll_loss", convert=REDUCTION, unread=1)
same(
    "multilabel_margin_loss_forward.default",
    "F.multilabel_margin_loss",
    convert=REDUCTION,
    unread=1,
)
