"""Which passes run, in which order.

`optlevel=0` spells the program as pnnx does; 1 rewrites it as far as no bit of a result changes;
2, the default, rounds otherwise where that makes it faster (a folded batch-norm).
"""

from __future__ import annotations

from converter.ir import Graph
from converter.passes.adjacent import MergePermutes, MergeReshapes
from converter.passes.base import Pass
from converter.passes.centred_stft import CentredStft
from converter.passes.composites import COMPOSITES
from converter.passes.constants import FoldConstants
from converter.passes.conv_padding import ConvPaddingMode, FusePadding
from converter.passes.dead_code import DeadCode
from converter.passes.decomposed import DECOMPOSED, PRODUCTS
from converter.passes.duplicates import MergeDuplicates
from converter.passes.einsum import CanonicalEinsum
from converter.passes.expand import EliminateExpands
from converter.passes.expression import FoldExpressions
from converter.passes.fold_spectral_norm import FoldSpectralNorm
from converter.passes.fold_weight_norm import FoldWeightNorm
from converter.passes.formulas import FORMULAS
from converter.passes.fuse_attention import FuseAttention
from converter.passes.fuse_batch_norm import FuseBatchNorm
from converter.passes.fuse_scaled_dot_product import FuseScaledDotProduct
from converter.passes.fuse_window_attention import FuseWindowAttention
from converter.passes.inline import InlineIndices, InlineNumbers
from converter.passes.layer_norm import LayerNorm
from converter.passes.layouts import EliminateLayouts, StoredLayouts
from converter.passes.matmul import MatmulOfTransposed, MatmulToLinear
from converter.passes.modules import Modules
from converter.passes.multihead_attention import MultiheadAttention
from converter.passes.noops import EliminateAddedZeros, EliminateNoopMath, EliminateNoops
from converter.passes.prelu import SingleSlope
from converter.passes.recompose import BatchedLinear, Linear
from converter.passes.recurrent_weights import RecurrentWeights
from converter.passes.rms_norm import RMSNorm
from converter.passes.scaled_sum import ScaledSum
from converter.passes.shuffles import Shuffles
from converter.passes.slices import MergeSlices
from converter.passes.spectrograms import SPECTROGRAMS
from converter.passes.stored_weights import StoredWeights
from converter.passes.tensor_split import SlicesToTensorSplit
from converter.passes.unbatched import Unbatched
from converter.passes.unbind import SelectsToUnbind
from converter.passes.unread_outputs import UnreadOutputs

LAYOUT: tuple[Pass, ...] = (EliminateLayouts(),)
"""What patterns need not look for, where bits may change."""

SPELLING: tuple[Pass, ...] = (
    DeadCode(),
    UnreadOutputs(),
    CentredStft(),
    DeadCode(),
    *SPECTROGRAMS,
    Linear(),
    *PRODUCTS,
    FoldWeightNorm(),
    MultiheadAttention(),
    MatmulOfTransposed(),
    FoldConstants(),
    FoldSpectralNorm(),
    InlineNumbers(),
    InlineIndices(),
    DeadCode(),
    *DECOMPOSED,
    *COMPOSITES,
    RecurrentWeights(),
    DeadCode(),
    StoredLayouts(),
    StoredWeights(),
    Modules(),
    Unbatched(),
    ConvPaddingMode(),
    SingleSlope(),
    CanonicalEinsum(),
)
"""The functions and modules that the user wrote."""

RESTORING = frozenset((*PRODUCTS, *DECOMPOSED))
"""Of those, what a program that was not decomposed does not need."""

OPTIMIZATION: tuple[Pass, ...] = (
    EliminateNoops(),
    ScaledSum(),
    EliminateNoopMath(),
    EliminateAddedZeros(),
    BatchedLinear(),
    MatmulToLinear(),
    *FORMULAS,
    LayerNorm(),
    RMSNorm(),
    DeadCode(),
    FusePadding(),
    FuseBatchNorm(),
    MergeSlices(),
    FoldExpressions(),
    MergeDuplicates(),
    EliminateExpands(),
    DeadCode(),
    FuseAttention(),
    FuseWindowAttention(),
    Shuffles(),
    MergePermutes(),
    MergeReshapes(),
    EliminateNoops(),
    FuseScaledDotProduct(),
    DeadCode(),
    SelectsToUnbind(),
    SlicesToTensorSplit(),
)
"""Fewer and larger operators for inference."""


def run_passes(graph: Graph, optlevel: int) -> list[Pass]:
    """Run the passes of this level in order, and return those that changed something."""
    layout, optimization = (
        [one for one in passes if optlevel > one.changes_arithmetic]
        for passes in (LAYOUT, OPTIMIZATION)
    )
    decomposed = any(op.origin is not None for op in graph.operators)
    spelling = [
        one
        for one in SPELLING
        if one not in RESTORING or (decomposed and (optlevel > 1 or not one.changes_arithmetic))
    ]
    return [one for one in (*layout, *spelling, *optimization) if one(graph)]
