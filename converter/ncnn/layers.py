"""ncnn's layers: the id of every parameter, and the weights in the order of the `.bin`.

Calling a layer makes a `LayerCall`: parameters by name, checked against the table. What is not
given takes ncnn's own default. Ids, types and order are those of ncnn's operators.md and
operation-param-weight-table.md, and of ncnn 1.0.20261020 where it is ahead of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from converter.ir import Attribute, Operator, Param

INFINITE = (2 - 2.0**-24) * 2.0**127
"""The smallest number that single precision rounds to infinity."""

INT32 = 1 << 31
"""One more than the largest int."""


class Kind(Enum):
    """How a parameter is spelled; ncnn reads `0=1` and `0=1.0` as different types."""

    int = "int"
    float = "float"
    ints = "ints"
    floats = "floats"
    str = "str"


class Slot(NamedTuple):
    """One parameter: its id in the text and its kind."""

    id: int
    kind: Kind


def Float(id: int) -> Slot:  # noqa: N802, reads as a type in the table
    return Slot(id, Kind.float)


def Ints(id: int) -> Slot:  # noqa: N802
    return Slot(id, Kind.ints)


def Floats(id: int) -> Slot:  # noqa: N802
    return Slot(id, Kind.floats)


def Str(id: int) -> Slot:  # noqa: N802
    return Slot(id, Kind.str)


class Weight(NamedTuple):
    """One weight: its name, and how it is stored.

    `tagged`: a word before it tells whether it is fp16. `raw`: in its own dtype, as what is no
    layer of ncnn's has it.
    """

    name: str
    tagged: bool
    raw: bool = False


@dataclass(frozen=True)
class LayerCall:
    """A layer with its parameters and weights, not yet connected to blobs."""

    layer: Layer
    params: Mapping[str, Param]
    weights: Mapping[str, Attribute]


class Layer:
    """A kind of layer. A plain int in the table is the id of an int parameter.

    `weights` names the weights in order; a star marks those that are stored with a tag.
    """

    def __init__(self, type: str, weights: str = "", /, **params: int | Slot) -> None:
        self.type = type
        self.slots = {
            name: Slot(slot, Kind.int) if isinstance(slot, int) else slot
            for name, slot in params.items()
        }
        self.weights = [Weight(word.rstrip("*"), word.endswith("*")) for word in weights.split()]
        LAYERS[type] = self

    def __call__(self, **values: Param | Attribute) -> LayerCall:
        """Give the layer parameters and weights by name. A weight that is None is left out.

        Raises TypeError for a name or type that the table lacks, ValueError for a number that
        ncnn's text cannot hold (inf, nan, an int of more than 32 bits).
        """
        params: dict[str, Param] = {}
        weights: dict[str, Attribute] = {}
        names = {weight.name for weight in self.weights}
        for name, value in values.items():
            if name in names:
                if isinstance(value, Attribute):
                    weights[name] = value
                elif value is not None:
                    raise TypeError(f"{self.type}: the weight {name} is {value!r}")
            elif name not in self.slots:
                raise TypeError(f"{self.type} has no parameter {name!r}")
            elif isinstance(value, Attribute):
                raise TypeError(f"{self.type}: the parameter {name} is a tensor")
            else:
                params[name] = _checked(f"{self.type}: {name}", self.slots[name].kind, value)
        return LayerCall(self, params, weights)

    def __repr__(self) -> str:
        return self.type


def _checked(what: str, kind: Kind, value: Param) -> Param:
    """Return the value in the type that its kind is written in."""
    if kind in (Kind.ints, Kind.floats):
        if not isinstance(value, tuple):
            raise TypeError(f"{what} is {value!r}, not a tuple")
        item = Kind.int if kind is Kind.ints else Kind.float
        return tuple(_checked(what, item, element) for element in value)
    if kind is Kind.float and isinstance(value, int | float):
        if not abs(value) < INFINITE:  # or a NaN
            raise ValueError(f"{what} is {value}, which ncnn's text cannot hold")
        return float(value)
    if kind is Kind.int and isinstance(value, int):
        if not -INT32 <= value < INT32:
            raise ValueError(f"{what} is {value}, which is beyond ncnn's 32 bits")
        return int(value)
    if kind is Kind.str and isinstance(value, str):
        return value
    raise TypeError(f"{what} is {value!r}, not of type {kind.value}")


LAYERS: dict[str, Layer] = {}
"""Every layer of this file by its type."""

FIRST_SHAPE, MOST_SHAPES = 10, 22
"""A foreign layer's parameter that is the shape of its first weight, and how many there may be:
ncnn has 32 parameters.
"""


class ForeignLayer(Layer):
    """A layer that the user registers with ncnn, as pnnx writes it.

    The shapes of its weights, PyTorch's, are the parameters from 10 on, in the order of the names;
    the values follow as they are.
    """

    def __init__(self, type: str, weights: Iterable[str]) -> None:
        names = sorted(weights)
        self.type = type
        self.slots = {name: Ints(FIRST_SHAPE + place) for place, name in enumerate(names)}
        self.weights = [Weight(name, tagged=False, raw=True) for name in names]


def layer_of(operator: Operator) -> Layer:
    """The layer that an operator of a network is of."""
    if operator.opaque:
        return ForeignLayer(operator.type, operator.attrs)
    return LAYERS[operator.type]


_KERNEL = {"kernel_w": 1, "dilation_w": 2, "stride_w": 3}
_KERNEL_H = {"kernel_h": 11, "dilation_h": 12, "stride_h": 13}
_KERNEL_D = {"kernel_d": 21, "dilation_d": 22, "stride_d": 23}
_PAD = {"pad_left": 4, "pad_right": 15}
_PAD_H = {"pad_top": 14, "pad_bottom": 16}
_PAD_D = {"pad_front": 24, "pad_behind": 17}
_WEIGHT = {"num_output": 0, "bias_term": 5, "weight_data_size": 6}
_PAD_VALUE = {"pad_value": Float(18)}
_ACTIVATION: dict[str, int | Slot] = {"activation_type": 9, "activation_params": Floats(10)}
_1D = _WEIGHT | _KERNEL | _PAD | _ACTIVATION
_2D = _1D | _KERNEL_H | _PAD_H
_3D = _2D | _KERNEL_D | _PAD_D
_POOL = {
    "pooling_type": 0,
    "kernel_w": 1,
    "stride_w": 2,
    "pad_left": 3,
    "global_pooling": 4,
    "pad_mode": 5,
    "avgpool_count_include_pad": 6,
    "adaptive_pooling": 7,
    "out_w": 8,
    "pad_right": 14,
}
_POOL_H = {"kernel_h": 11, "stride_h": 12, "pad_top": 13, "pad_bottom": 15, "out_h": 18}
_POOL_D = {"kernel_d": 21, "stride_d": 22, "pad_front": 23, "pad_behind": 16, "out_d": 28}
_RNN = {"num_output": 0, "weight_data_size": 1, "direction": 2}

BATCH_NORM = Layer("BatchNorm", "slope mean var bias", channels=0, eps=Float(1))
BINARY_OP = Layer("BinaryOp", op_type=0, with_scalar=1, b=Float(2))
CELU = Layer("CELU", alpha=Float(0))
CLIP = Layer("Clip", min=Float(0), max=Float(1))
CONCAT = Layer("Concat", axis=0)
CONVOLUTION = Layer("Convolution", "weight* bias", **_2D, **_PAD_VALUE, dynamic_weight=19)
CONVOLUTION_1D = Layer("Convolution1D", "weight* bias", **_1D, **_PAD_VALUE, dynamic_weight=19)
CONVOLUTION_3D = Layer("Convolution3D", "weight* bias", **_3D, **_PAD_VALUE)
CONVOLUTION_DEPTHWISE = Layer(
    "ConvolutionDepthWise", "weight* bias", **_2D, **_PAD_VALUE, group=7, dynamic_weight=19
)
CONVOLUTION_DEPTHWISE_1D = Layer(
    "ConvolutionDepthWise1D", "weight* bias", **_1D, **_PAD_VALUE, group=7, dynamic_weight=19
)
CONVOLUTION_DEPTHWISE_3D = Layer(
    "ConvolutionDepthWise3D", "weight* bias", **_3D, **_PAD_VALUE, group=7
)
COPY_TO = Layer("CopyTo", starts=Ints(9), axes=Ints(11))
CROP = Layer(
    "Crop",
    starts=Ints(9),
    ends=Ints(10),
    axes=Ints(11),
    starts_expr=Str(19),
    ends_expr=Str(20),
    axes_expr=Str(21),
)
CUMULATIVE_SUM = Layer("CumulativeSum", axis=0)
DECONVOLUTION = Layer(
    "Deconvolution",
    "weight* bias",
    **_2D,
    output_pad_right=18,
    output_pad_bottom=19,
    dynamic_weight=28,
)
DECONVOLUTION_1D = Layer(
    "Deconvolution1D", "weight* bias", **_1D, output_pad_right=18, dynamic_weight=28
)
DECONVOLUTION_3D = Layer(
    "Deconvolution3D",
    "weight* bias",
    **_3D,
    output_pad_right=18,
    output_pad_bottom=19,
    output_pad_behind=20,
)
DECONVOLUTION_DEPTHWISE = Layer(
    "DeconvolutionDepthWise",
    "weight* bias",
    **_2D,
    group=7,
    output_pad_right=18,
    output_pad_bottom=19,
    dynamic_weight=28,
)
DECONVOLUTION_DEPTHWISE_1D = Layer(
    "DeconvolutionDepthWise1D",
    "weight* bias",
    **_1D,
    group=7,
    output_pad_right=18,
    dynamic_weight=28,
)
DECONVOLUTION_DEPTHWISE_3D = Layer(
    "DeconvolutionDepthWise3D",
    "weight* bias",
    **_3D,
    group=7,
    output_pad_right=18,
    output_pad_bottom=19,
    output_pad_behind=20,
)
DEFORMABLE_CONV_2D = Layer("DeformableConv2D", "weight* bias", **_2D)
DIAG = Layer("Diag", diagonal=0)
EINSUM = Layer("Einsum", equation=Ints(0))
ELU = Layer("ELU", alpha=Float(0))
EMBED = Layer("Embed", "weight* bias", num_output=0, input_dim=1, bias_term=2, weight_data_size=3)
ERF = Layer("Erf")
FLIP = Layer("Flip", axes=Ints(0))
_FOLD = _KERNEL | _KERNEL_H | _PAD | _PAD_H
FOLD = Layer("Fold", **_FOLD, output_w=20, output_h=21)
GELU = Layer("GELU", fast_gelu=0)
GEMM = Layer(
    "Gemm",
    "a* b* c*",
    alpha=Float(0),
    beta=Float(1),
    transA=2,
    transB=3,
    constantA=4,
    constantB=5,
    constantC=6,
    constantM=7,
    constantN=8,
    constantK=9,
    constant_broadcast_type_C=10,
)
GRID_SAMPLE = Layer("GridSample", sample_type=0, padding_mode=1, align_corner=2, permute_fusion=3)
GROUP_NORM = Layer("GroupNorm", "gamma beta", group=0, channels=1, eps=Float(2), affine=3)
GRU = Layer("GRU", "weight_xc* bias_c* weight_hc*", **_RNN)
HARD_SIGMOID = Layer("HardSigmoid", alpha=Float(0), beta=Float(1))
HARD_SWISH = Layer("HardSwish", alpha=Float(0), beta=Float(1))
INNER_PRODUCT = Layer(
    "InnerProduct", "weight* bias", num_output=0, bias_term=1, weight_data_size=2, **_ACTIVATION
)
INPUT = Layer("Input", w=0, h=1, d=11, c=2)
INSTANCE_NORM = Layer("InstanceNorm", "gamma beta", channels=0, eps=Float(1), affine=2)
INTERP = Layer(
    "Interp",
    resize_type=0,
    height_scale=Float(1),
    width_scale=Float(2),
    output_height=3,
    output_width=4,
    dynamic_target_size=5,
    align_corner=6,
    size_expr=Str(9),
)
INVERSE_SPECTROGRAM = Layer(
    "InverseSpectrogram",
    n_fft=0,
    returns=1,
    hoplen=2,
    winlen=3,
    window_type=4,
    center=5,
    normalized=7,
)
LAYER_NORM = Layer("LayerNorm", "gamma beta", affine_size=0, eps=Float(1), affine=2)
LRN = Layer("LRN", region_type=0, local_size=1, alpha=Float(2), beta=Float(3), bias=Float(4))
LSTM = Layer("LSTM", "weight_xc* bias_c* weight_hc* weight_hr*", **_RNN, hidden_size=3)
MAT_MUL = Layer("MatMul", transB=0)
MEMORY_DATA = Layer("MemoryData", "data", w=0, h=1, d=11, c=2)
MISH = Layer("Mish")
MULTI_HEAD_ATTENTION = Layer(
    "MultiHeadAttention",
    "q_weight* q_bias k_weight* k_bias v_weight* v_bias out_weight* out_bias",
    embed_dim=0,
    num_heads=1,
    weight_data_size=2,
    kdim=3,
    vdim=4,
    attn_mask=5,
    scale=Float(6),
)
NOOP = Layer("Noop")
PADDING = Layer(
    "Padding",
    top=0,
    bottom=1,
    left=2,
    right=3,
    type=4,
    value=Float(5),
    per_channel_pad_data_size=6,
    front=7,
    behind=8,
)
PERMUTE = Layer("Permute", order_type=0)
PIXEL_SHUFFLE = Layer("PixelShuffle", upscale_factor=0, mode=1)
POOLING = Layer("Pooling", **_POOL, **_POOL_H)
POOLING_1D = Layer("Pooling1D", **_POOL)
POOLING_3D = Layer("Pooling3D", **_POOL, **_POOL_H, **_POOL_D)
PRELU = Layer("PReLU", "slope", num_slope=0)
REDUCTION = Layer(
    "Reduction", operation=0, reduce_all=1, coeff=Float(2), axes=Ints(3), keepdims=4, fixbug0=5
)
RELU = Layer("ReLU", slope=Float(0))
REORG = Layer("Reorg", stride=0, mode=1)
RESHAPE = Layer(
    "Reshape", w=0, h=1, d=11, c=2, shape_expr=Str(6), input_batch_axis=12, output_batch_axis=13
)
RMS_NORM = Layer("RMSNorm", "gamma", affine_size=0, eps=Float(1), affine=2)
RNN = Layer("RNN", "weight_xc* bias_c* weight_hc*", **_RNN)
SDPA = Layer("SDPA", attn_mask=5, scale=Float(6))
SELU = Layer("SELU", alpha=Float(0), lambd=Float(1))
SHRINK = Layer("Shrink", bias=Float(0), lambd=Float(1))
SHUFFLE_CHANNEL = Layer("ShuffleChannel", group=0, reverse=1)
SIGMOID = Layer("Sigmoid")
SLICE = Layer("Slice", slices=Ints(0), axis=1, indices=Ints(2))
SOFTMAX = Layer("Softmax", axis=0, fixbug0=1)
SPECTROGRAM = Layer(
    "Spectrogram",
    n_fft=0,
    power=1,
    hoplen=2,
    winlen=3,
    window_type=4,
    center=5,
    pad_type=6,
    normalized=7,
    onesided=8,
)
SPLIT = Layer("Split")
SWISH = Layer("Swish")
TANH = Layer("TanH")
THRESHOLD = Layer("Threshold", threshold=Float(0))
TILE = Layer("Tile", axis=0, tiles=1, repeats=Ints(2))
UNARY_OP = Layer("UnaryOp", op_type=0)
UNFOLD = Layer("Unfold", **_FOLD)
