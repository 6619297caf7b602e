"""Which functions, methods and modules a generated `_pnnx.py` may call, and what they return.

The operators of a graph may come from a file that nobody has vetted: a type that is not listed here
never becomes code. Functions that read or write files, run code or leave the graph are not listed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from converter.ir import Operator
from converter.pnnx.names import words

_NAMES = {
    "F": """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
        adaptive_max_pool2d adaptive_max_pool3d affine_grid alpha_dropout avg_pool1d
        avg_pool2d avg_pool3d batch_norm bilinear binary_cross_entropy
        binary_cross_entropy_with_logits celu channel_shuffle conv1d conv2d conv3d conv_tbc
        conv_transpose1d conv_transpose2d conv_transpose3d cosine_embedding_loss
        cosine_similarity cross_entropy ctc_loss dropout dropout1d dropout2d dropout3d elu
        embedding embedding_bag feature_alpha_dropout fold fractional_max_pool2d
        fractional_max_pool3d gaussian_nll_loss gelu glu grid_sample group_norm gumbel_softmax
        hardshrink hardsigmoid hardswish hardtanh hinge_embedding_loss huber_loss
        instance_norm interpolate kl_div l1_loss layer_norm leaky_relu linear
        linear_cross_entropy local_response_norm log_softmax logsigmoid lp_pool1d lp_pool2d
        lp_pool3d margin_ranking_loss max_pool1d max_pool2d max_pool3d max_unpool1d
        max_unpool2d max_unpool3d mish mse_loss multi_margin_loss multilabel_margin_loss
        multilabel_soft_margin_loss nll_loss normalize one_hot pad pairwise_distance pdist
        pixel_shuffle pixel_unshuffle poisson_nll_loss prelu relu relu6 rms_norm rrelu
        scaled_dot_product_attention selu sigmoid silu smooth_l1_loss soft_margin_loss softmax
        softmin softplus softshrink softsign tanh tanhshrink threshold triplet_margin_loss
        triplet_margin_with_distance_loss unfold upsample upsample_bilinear upsample_nearest
    """,
    "nn": """
        AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d
        AdaptiveMaxPool2d AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d AvgPool3d
        BatchNorm1d BatchNorm2d BatchNorm3d Bilinear CELU ChannelShuffle CircularPad1d
        CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d Conv1d Conv2d
        Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d CosineSimilarity Dropout
        Dropout1d Dropout2d Dropout3d ELU Embedding EmbeddingBag FeatureAlphaDropout Flatten
        Fold FractionalMaxPool2d FractionalMaxPool3d GELU GLU GRU GRUCell GroupNorm Hardshrink
        Hardsigmoid Hardswish Hardtanh Identity InstanceNorm1d InstanceNorm2d InstanceNorm3d
        LPPool1d LPPool2d LPPool3d LSTM LSTMCell LayerNorm LeakyReLU Linear LocalResponseNorm
        LogSigmoid LogSoftmax MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d
        MaxUnpool3d Mish MultiheadAttention PReLU PairwiseDistance PixelShuffle PixelUnshuffle
        RMSNorm RNN RNNCell RReLU ReLU ReLU6 ReflectionPad1d ReflectionPad2d ReflectionPad3d
        ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU SiLU Sigmoid Softmax Softmax2d
        Softmin Softplus Softshrink Softsign SyncBatchNorm Tanh Tanhshrink Threshold Unflatten
        Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d
    """,
    "Tensor": """
        abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr adjoint all amax
        amin aminmax angle any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax
        argmin argsort argwhere as_strided as_strided_scatter asin asinh atan atan2 atanh
        baddbmm bernoulli bfloat16 bincount bitwise_and bitwise_left_shift bitwise_not
        bitwise_or bitwise_right_shift bitwise_xor bmm bool broadcast_to byte cdouble ceil
        cfloat chalf char cholesky cholesky_inverse cholesky_solve chunk clamp clamp_max
        clamp_min clip clone conj conj_physical contiguous copysign corrcoef cos cosh
        count_nonzero cov cross cummax cummin cumprod cumsum deg2rad det detach diag
        diag_embed diagflat diagonal diagonal_scatter diff digamma dist div divide dot double
        dsplit eq erf erfc erfinv exp exp2 expand expand_as expm1 fill fix flatten flip fliplr
        flipud float float_power floor floor_divide fmax fmin fmod frac frexp gather gcd ge
        geqrf ger greater greater_equal gt half heaviside histc histogram hsplit hypot i0
        igamma igammac index index_add index_copy index_fill index_put index_reduce
        index_select inner int inverse isclose isfinite isinf isnan isneginf isposinf isreal
        istft kron kthvalue lcm ldexp le lerp less less_equal lgamma log log10 log1p log2
        log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and logical_not
        logical_or logical_xor logit logsumexp long lt lu_solve masked_fill masked_scatter
        masked_select matmul matrix_exp matrix_power max maximum mean median min minimum mm
        mode moveaxis movedim msort mul multinomial multiply mv mvlgamma nan_to_num nanmean
        nanmedian nanquantile nansum narrow narrow_copy ne neg negative new_empty
        new_empty_strided new_full new_ones new_zeros nextafter nonzero norm not_equal orgqr
        ormqr outer permute pinverse polygamma positive pow prod put qr quantile rad2deg ravel
        reciprocal remainder renorm repeat repeat_interleave reshape reshape_as resolve_conj
        resolve_neg roll rot90 round rsqrt scatter scatter_add scatter_reduce select
        select_scatter sgn short sigmoid sign signbit sin sinc sinh slice slice_copy
        slice_scatter slogdet softmax sort split sqrt square squeeze std stft sub subtract sum
        sum_to_size svd swapaxes swapdims t take take_along_dim tan tanh tensor_split tile to
        topk trace transpose triangular_solve tril triu true_divide trunc type_as unbind
        unflatten unfold unsqueeze var vdot view view_as vsplit where xlogy
    """,
    "torch": """
        abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr adjoint all amax
        amin aminmax angle any arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh
        argmax argmin argsort argwhere as_strided as_strided_scatter asin asinh atan atan2
        atanh atleast_1d atleast_2d atleast_3d baddbmm bartlett_window bernoulli bincount
        binomial bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
        bitwise_xor blackman_window block_diag bmm broadcast_tensors broadcast_to bucketize
        cartesian_prod cat cdist ceil chain_matmul cholesky cholesky_inverse cholesky_solve
        chunk clamp clamp_max clamp_min clip clone column_stack complex concat concatenate
        conj conj_physical copysign corrcoef cos cosh cosine_similarity count_nonzero cov
        cross cummax cummin cumprod cumsum cumulative_trapezoid deg2rad det detach diag
        diag_embed diagflat diagonal diagonal_scatter diff digamma dist div divide dot dsplit
        dstack einsum empty empty_like empty_permuted empty_strided eq erf erfc erfinv exp
        exp2 expm1 eye fill fix flatten flip fliplr flipud float_power floor floor_divide fmax
        fmin fmod frac frexp frobenius_norm full full_like gather gcd ge geqrf ger gradient greater
        greater_equal gt hamming_window hann_window heaviside histc histogram
        hsplit hstack hypot i0 igamma igammac imag index_add index_copy index_fill index_put
        index_reduce index_select inner inverse isclose isfinite isin isinf isnan isneginf
        isposinf isreal istft kaiser_window kron kthvalue lcm ldexp le lerp less less_equal
        lgamma linspace log log10 log1p log2 log_softmax logaddexp logaddexp2 logcumsumexp
        logdet logical_and logical_not logical_or logical_xor logit logspace logsumexp lt lu
        lu_solve lu_unpack masked_fill masked_scatter masked_select matmul matrix_exp
        matrix_power max maximum mean median meshgrid min minimum mm mode moveaxis movedim
        msort mul multinomial multiply mv mvlgamma nan_to_num nanmean nanmedian nanquantile
        nansum narrow ne neg negative nextafter nonzero norm normal not_equal nuclear_norm
        ones ones_like orgqr ormqr outer pairwise_distance permute pinverse poisson polar
        polygamma positive pow prod put qr quantile rad2deg rand rand_like randint
        randint_like randn randn_like randperm ravel real reciprocal relu remainder renorm
        repeat_interleave reshape resolve_conj resolve_neg roll rot90 round row_stack rsqrt
        rsub scalar_tensor scatter scatter_add scatter_reduce searchsorted segment_reduce
        select select_scatter sgn sigmoid sign signbit sin sinc sinh slice_scatter slogdet
        softmax sort split sqrt square squeeze stack std std_mean stft sub subtract sum svd
        swapaxes swapdims t take take_along_dim tan tanh tensor_split tensordot tile topk
        trace transpose trapezoid trapz triangular_solve tril tril_indices triu triu_indices
        true_divide trunc unbind unflatten unique unique_consecutive unravel_index unsqueeze
        vander var var_mean vdot view_as_complex view_as_real vsplit vstack where xlogy zeros
        zeros_like
    """,
    "torch.fft": """
        fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft
        ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn
    """,
    "torch.linalg": """
        cholesky cholesky_ex cond cross det diagonal eig eigh eigvals eigvalsh
        householder_product inv inv_ex ldl_factor ldl_factor_ex ldl_solve lstsq lu lu_factor
        lu_factor_ex lu_solve matmul matrix_exp matrix_norm matrix_power matrix_rank multi_dot
        norm pinv qr slogdet solve solve_ex solve_triangular svd svdvals tensorinv tensorsolve
        vander vecdot vector_norm
    """,
    "torch.special": """
        airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 chebyshev_polynomial_t
        chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w digamma entr erf
        erfc erfcx erfinv exp2 expit expm1 gammainc gammaincc gammaln hermite_polynomial_h
        hermite_polynomial_he i0 i0e i1 i1e laguerre_polynomial_l legendre_polynomial_p log1p
        log_ndtr log_softmax logit logsumexp modified_bessel_i0 modified_bessel_i1
        modified_bessel_k0 modified_bessel_k1 multigammaln ndtr ndtri polygamma psi round
        scaled_modified_bessel_k0 scaled_modified_bessel_k1 shifted_chebyshev_polynomial_t
        shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
        shifted_chebyshev_polynomial_w sinc softmax spherical_bessel_j0 xlog1py xlogy zeta
    """,
    "torchvision.ops": """
        DeformConv2d PSRoIAlign PSRoIPool RoIAlign RoIPool deform_conv2d nms ps_roi_align
        ps_roi_pool roi_align roi_pool
    """,
}

CALLABLES = frozenset(f"{owner}.{name}" for owner, names in _NAMES.items() for name in words(names))
"""The operator types that are called by their own name, `torch.topk` or `Tensor.permute`."""


def is_module(type: str) -> bool:
    """Whether an operator is a module: it is made once, holds its tensors and is then called."""
    owner, _, name = type.rpartition(".")
    return type in CALLABLES and owner in ("nn", "torchvision.ops") and name[0].isupper()


def _with_dim(op: Operator) -> int:
    return 1 if op.params.get("dim") is None else 2


def _with_indices(op: Operator) -> int:
    return 2 if op.params.get("return_indices") else 1


def _as_given(op: Operator) -> int:
    return len(op.inputs)


def _unique(op: Operator) -> int:
    return 1 + bool(op.params.get("return_inverse")) + bool(op.params.get("return_counts"))


_PAIRS = words(
    """
    aminmax cummax cummin frexp geqrf histogram kthvalue mode qr slogdet sort std_mean topk
    triangular_solve var_mean linalg.cholesky_ex linalg.eig linalg.eigh linalg.inv_ex
    linalg.ldl_factor linalg.lu_factor linalg.qr linalg.slogdet linalg.solve_ex
    """
)
_TRIPLES = words("svd lu_unpack linalg.ldl_factor_ex linalg.lu linalg.lu_factor_ex linalg.svd")

RESULTS: Mapping[str, int | Callable[[Operator], int]] = {
    **dict.fromkeys(("torch.max", "torch.min", "torch.median", "torch.nanmedian"), _with_dim),
    **dict.fromkeys(("torch.atleast_1d", "torch.atleast_2d", "torch.atleast_3d"), _as_given),
    **dict.fromkeys(("torch.unique", "torch.unique_consecutive"), _unique),
    **{
        f"{owner}{kind}{rank}d": _with_indices
        for rank in (1, 2, 3)
        for owner, kinds in (
            ("F.", ("max_pool", "adaptive_max_pool", "fractional_max_pool")),
            ("nn.", ("MaxPool", "AdaptiveMaxPool", "FractionalMaxPool")),
        )
        for kind in kinds
        if f"{owner}{kind}{rank}d" in CALLABLES
    },
    **{f"torch.{name}": 2 for name in _PAIRS},
    **{f"torch.{name}": 3 for name in _TRIPLES},
    "torch.linalg.lstsq": 4,
    "nn.LSTMCell": 2,
}
"""How many results a call returns, where it is not one."""

LISTS = frozenset(
    f"torch.{name}"
    for name in words(
        """
        broadcast_tensors chunk dsplit gradient hsplit meshgrid split
        tensor_split unbind vsplit
        """
    )
)
"""What returns a list of as many tensors as its arguments make."""


def results(op: Operator) -> int | None:
    """Count the results of a call; None for a list as long as its arguments make it."""
    type = op.type.replace("Tensor.", "torch.")
    count = None if type in LISTS else RESULTS.get(type, 1)
    return count(op) if callable(count) else count
