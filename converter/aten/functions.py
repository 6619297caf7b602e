"""Element-wise functions that expressions lack: `torch.lgamma` and so on, with ATen's arguments."""

from __future__ import annotations

from converter.aten.call import Call
from converter.aten.emit import Emitter
from converter.aten.registry import lowers, overloads, same

PLAIN = (
    "angle bitwise_not conj conj_physical deg2rad digamma erfc erfinv exp2 fmax fmin frac gcd "
    "heaviside hypot i0 igamma igammac imag isfinite isinf isnan isneginf isposinf isreal lcm "
    "lgamma log2 logaddexp2 logical_and logical_not logical_or logical_xor logit mvlgamma "
    "nan_to_num nextafter positive rad2deg real sgn signbit sinc"
)
for target in overloads(PLAIN):
    same(target, f"torch.{target.split('.')[0]}")

BINARY = {
    "copysign": "Tensor Scalar",
    "eq": "Tensor Scalar",
    "float_power": "Tensor_Tensor Tensor_Scalar Scalar",
    "ge": "Tensor Scalar",
    "gt": "Tensor Scalar",
    "isclose": "default",
    "isin": "Tensor_Tensor Tensor_Scalar Scalar_Tensor",
    "ldexp": "Tensor",
    "le": "Tensor Scalar",
    "lerp": "Tensor Scalar",
    "lt": "Tensor Scalar",
    "ne": "Tensor Scalar",
    "xlogy": "Tensor Scalar_Self Scalar_Other",
    "bitwise_and": "Tensor Scalar Scalar_Tensor",
    "bitwise_or": "Tensor Scalar Scalar_Tensor",
    "bitwise_xor": "Tensor Scalar Scalar_Tensor",
    "bitwise_left_shift": "Tensor Tensor_Scalar Scalar_Tensor",
    "bitwise_right_shift": "Tensor Tensor_Scalar Scalar_Tensor",
}
"""Functions of several arguments, by their overloads."""

for name, suffixes in BINARY.items():
    same(overloads(name, *suffixes.split()), f"torch.{name}")

same("addcdiv.default", "torch.addcdiv")
same("addcmul.default", "torch.addcmul")
same("complex.default", "torch.complex")
same("frexp.Tensor", "torch.frexp")
same("polar.default", "torch.polar")
same("polygamma.default", "Tensor.polygamma")
same(["round.decimals", "special_round.default"], "torch.round")
same("_conj.default", "torch.conj")
same("_conj_physical.default", "torch.conj_physical")
same("_neg_view.default", "torch.neg")
same(overloads("clamp", "default", "Tensor"), "torch.clamp")


@lowers(*overloads("where", "self", "ScalarOther", "ScalarSelf", "Scalar"))
def where(call: Call, emit: Emitter) -> None:
    condition, one, other = call.args.values()
    emit.op("torch.where", call.output, condition=condition, input=one, other=other)


@lowers("clamp_min.default", "clamp_min.Tensor")
def clamp_min(call: Call, emit: Emitter) -> None:
    emit.op("torch.clamp", call.output, input=call.tensor("self"), min=call.args["min"], max=None)


@lowers("clamp_max.default", "clamp_max.Tensor")
def clamp_max(call: Call, emit: Emitter) -> None:
    emit.op("torch.clamp", call.output, input=call.tensor("self"), min=None, max=call.args["max"])


SPECIAL = (
    "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 entr erfcx i0e i1 i1e log_ndtr "
    "modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtr ndtri "
    "scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0"
)
SPECIAL_BINARY = (
    "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
    "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p "
    "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
    "shifted_chebyshev_polynomial_w xlog1py zeta"
)
for name in SPECIAL.split():
    same(f"special_{name}.default", f"torch.special.{name}")
"""Of torch.special, what torch has under no other name (see synonyms)."""

SIDES = {
    "xlog1py": ("default", "self_scalar", "other_scalar"),
    "zeta": ("default", "self_scalar", "other_scalar"),
}
for name in SPECIAL_BINARY.split():
    sides = SIDES.get(name, ("default", "x_scalar", "n_scalar"))
    same(overloads(f"special_{name}", *sides), f"torch.special.{name}")
