"""Which passes run, in which order."""

from __future__ import annotations

from converter.passes.adjacent import MergePermutes, MergeReshapes
from converter.passes.base import Pass
from converter.passes.composites import COMPOSITES
from converter.passes.conv_padding import ConvPaddingMode, FusePadding
from converter.passes.dead_code import DeadCode
from converter.passes.duplicates import MergeDuplicates
from converter.passes.einsum import CanonicalEinsum
from converter.passes.expression import FoldExpressions
from converter.passes.fold_weight_norm import FoldWeightNorm
from converter.passes.formulas import FORMULAS
from converter.passes.fuse_batch_norm import FuseBatchNorm
from converter.passes.modules import Modules
from converter.passes.noops import EliminateAddedZeros, EliminateNoopMath, EliminateNoops
from converter.passes.prelu import SingleSlope
from converter.passes.slices import MergeSlices
from converter.passes.stored_weights import StoredWeights
from converter.passes.tensor_split import SlicesToTensorSplit
from converter.passes.unbatched import Unbatched
from converter.passes.unbind import SelectsToUnbind
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
    Unbatched(),
    ConvPaddingMode(),
    SingleSlope(),
    CanonicalEinsum(),
    # Optimization.
    EliminateNoops(),
    EliminateNoopMath(),
    EliminateAddedZeros(),
    *FORMULAS,
    DeadCode(),
    FusePadding(),
    FuseBatchNorm(),
    MergeSlices(),
    FoldExpressions(),
    MergeDuplicates(),
    DeadCode(),
    MergePermutes(),
    MergeReshapes(),
    EliminateNoops(),
    SelectsToUnbind(),
    SlicesToTensorSplit(),
)
