"""Weight norm: the weight that a direction and a length make."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from graphs import assert_stays, graph

from converter.passes.fold_weight_norm import FoldWeightNorm

TEXT = """
    pnnx.Attribute     v 0 1 v @data=(4,3,2)f32
    pnnx.Attribute     g 0 1 g @data={length}f32
    torch._weight_norm w 2 1 v g w dim={dim} $v=v $g=g
    pnnx.Output        out 1 0 w
"""
LENGTHS = {0: (4, 1, 1), 1: (1, 3, 1), 2: (1, 1, 2), -2: (1, 3, 1), -1: ()}


@pytest.mark.parametrize("dim", LENGTHS)
def test_folds_to_the_weight_that_torch_computes(dim: int) -> None:
    random = np.random.default_rng(0)
    v = random.standard_normal((4, 3, 2), np.float32)
    g = random.random(LENGTHS[dim], np.float32) + np.float32(0.5)
    length = str(LENGTHS[dim]).replace(" ", "").replace(",)", ")")
    made = graph(TEXT.format(dim=dim, length=length), {"v.data": v, "g.data": np.asarray(g)})
    assert FoldWeightNorm()(made) == 1
    folded = made.operands["w"].stored
    assert folded is not None
    direction, norm = torch.from_numpy(v).double(), torch.from_numpy(np.asarray(g)).double()
    expected = torch._weight_norm(direction, norm, dim).float()
    np.testing.assert_allclose(folded.array(), expected.numpy(), rtol=1e-6)
    assert b"".join(folded.data.chunks(16)) == folded.array().tobytes()


def test_a_direction_that_is_not_stored_stays() -> None:
    assert_stays(
        FoldWeightNorm(),
        """
        pnnx.Input         v 0 1 v #v=(4,3)f32
        pnnx.Attribute     g 0 1 g @data=(4,1)f32
        torch._weight_norm w 2 1 v g w dim=0 $v=v $g=g
        pnnx.Output        out 1 0 w
        """,
    )
