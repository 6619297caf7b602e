"""Functions that `run_decompositions()` took apart, put together again.

A program that was decomposed converts to the graph of the program before, as far as that can be
told from what is left: `suites/decomposed.toml` lists where it cannot.
"""

from converter.passes.base import Pass
from converter.passes.dead_code import DeadCode
from converter.passes.decomposed.activations import ACTIVATIONS
from converter.passes.decomposed.attention import ATTENTION
from converter.passes.decomposed.convolutions import SameConvolutions, UnbatchedConvolutions
from converter.passes.decomposed.functions import FUNCTIONS, LOGSUMEXPS
from converter.passes.decomposed.matmul import BatchedMatmul
from converter.passes.decomposed.moves import MOVES, PermutedBack
from converter.passes.decomposed.norms import NORMS
from converter.passes.decomposed.padding import Padding
from converter.passes.decomposed.parts import Stack, Unbind
from converter.passes.decomposed.patches import PATCHES
from converter.passes.decomposed.pools import PoolsOfOneDim
from converter.passes.decomposed.resizing import RESIZING
from converter.passes.decomposed.rolls import Roll
from converter.passes.decomposed.rows import LINEAR, LINEAR_WITH_BIAS, RowsJoined
from converter.passes.decomposed.spectra import SPECTRA
from converter.passes.decomposed.transforms import Transforms
from converter.passes.decomposed.weight_norm import WEIGHT_NORMS

PRODUCTS: tuple[Pass, ...] = (
    *WEIGHT_NORMS,
    BatchedMatmul(),
    *FUNCTIONS,
    DeadCode(),
    *LINEAR,
    RowsJoined(),
    LINEAR_WITH_BIAS,
    *ATTENTION,
    PermutedBack(),
    DeadCode(),
)
"""Before constants are folded, which products are made of."""

DECOMPOSED: tuple[Pass, ...] = (
    *ACTIVATIONS,
    PoolsOfOneDim(),
    *ATTENTION,
    PermutedBack(),
    *MOVES,
    *NORMS,
    SameConvolutions(),
    UnbatchedConvolutions(),
    Padding(),
    Unbind(),
    Stack(),
    *SPECTRA,
    Transforms(),
    *LOGSUMEXPS,
    *PATCHES,
    *RESIZING,
    Roll(),
    DeadCode(),
)
