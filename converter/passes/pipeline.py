"""Which passes run, in which order."""

from __future__ import annotations

from converter.passes.base import Pass
from converter.passes.composites import COMPOSITES
from converter.passes.dead_code import DeadCode
from converter.passes.expression import FoldExpressions
from converter.passes.fold_weight_norm import FoldWeightNorm
from converter.passes.fuse_batch_norm import FuseBatchNorm
from converter.passes.modules import Modules
from converter.passes.stored_weights import StoredWeights
from converter.passes.unread_outputs import UnreadOutputs

PIPELINE: tuple[Pass, ...] = (
    DeadCode(),
    UnreadOutputs(),
    FoldWeightNorm(),
    # Spelling: the functions and modules that the user wrote.
    *COMPOSITES,
    DeadCode(),
    StoredWeights(),
    Modules(),
    # Optimization.
    FuseBatchNorm(),
    FoldExpressions(),
    DeadCode(),
)
