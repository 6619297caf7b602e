"""Element-wise arithmetic and functions: dtypes, numbers on either side, broadcasting, rounding."""

from __future__ import annotations

import math

import pytest
import torch
from equality import check, words

torch.manual_seed(0)
x = torch.randn(2, 3, 4)
y = torch.randn(3, 1)
unit = torch.rand(2, 3) * 1.8 - 0.9
above = torch.rand(2, 3) + 1.1
special = torch.tensor([0.0, -0.0, 0.5, 1.5, -2.5, math.inf, -math.inf, math.nan])
ints = torch.randint(-7, 8, (2, 3))
other_ints = torch.randint(1, 5, (2, 3))
bytes_ = torch.randint(0, 255, (2, 3), dtype=torch.uint8)
mask = torch.tensor([[True, False, True], [False, False, True]])
half = torch.randn(2, 3).half()
brain = torch.randn(2, 3).bfloat16()
double = torch.randn(2, 3, dtype=torch.double)
wave = torch.complex(torch.randn(2, 3), torch.randn(2, 3))
scalar = torch.tensor(2.5)
double_scalar = torch.tensor(2.5, dtype=torch.double)
int_scalar = torch.tensor(3)

UNARY = words(
    "abs acos asin atan ceil cos cosh erf exp expm1 floor log log10 log1p neg reciprocal rsqrt "
    "sign sin sinh sqrt square tan tanh trunc sigmoid asinh round"
)


def test_functions_of_expressions() -> None:
    check(
        *[f"torch.{name}(unit)" for name in UNARY],
        *[f"torch.{name}(special)" for name in UNARY],
        *[f"torch.{name}(double)" for name in UNARY],
        *[f"torch.{name}(half)" for name in UNARY],
        *[f"torch.{name}(ints)" for name in UNARY],
        "torch.acosh(above)",
        "torch.atanh(unit)",
        "torch.abs(wave), torch.exp(wave), torch.neg(wave), torch.sqrt(wave)",
        "torch.reciprocal(wave)",
        "torch.abs(bytes_), torch.square(bytes_), torch.sin(mask), torch.round(brain)",
        unit=unit,
        special=special,
        double=double,
        half=half,
        ints=ints,
        above=above,
        wave=wave,
        bytes_=bytes_,
        mask=mask,
        brain=brain,
    )


def test_arithmetic_with_numbers() -> None:
    numbers = ("2", "-3", "0.3", "-1e-8", "1e30", "2**40", "math.inf", "-math.inf", "0")
    check(
        *[f"x {sign} {n}" for sign in "+-*" for n in numbers],
        *[f"({n}) {sign} x" for sign in "+-*/" for n in numbers if "**" not in n],
        "x + True, x * True, x / 3, x / -0.7, x // 0.4, x % 0.7, x // -2, x % -2",
        "2 // x, 2 % x, -2.5 // x, -2.5 % x",
        "x ** 2, x ** 3, x ** -1, x ** 0.5, x ** 0, 2 ** x, 0.5 ** x, (-2.0) ** x, x ** 2.5",
        "ints + 2, ints + 0.5, 3 - ints, ints * 2, ints * True, ints / 2, ints // 2, ints % 3",
        "ints // -2, ints % -3, 7 // other_ints, -7 % other_ints, ints ** 2, 2 ** other_ints",
        "other_ints ** -1.0, ints + (1 + 2j), ints << 1, ints >> 1, 1 << other_ints",
        "mask + 1, mask * 2.5, mask + mask, mask * mask, 1 - mask.int(), mask / 2, mask + True",
        "bytes_ + 250, bytes_ - 255, bytes_ * 3, bytes_ + 1000, bytes_ / 2, bytes_ + 0.5",
        "half + 0.1, half * 3, half / 3, 1 / half, half ** 2, half + ints, half * 1e4",
        "brain + 0.1, brain * 3, brain / 3, 1 / brain, brain ** 2, brain + ints",
        "double + 0.1, double * 3, double / 3, double ** 0.5",
        "wave + 1, wave * 2j, wave / 3, 1 / wave, wave ** 2, wave - (1 - 2j), double * 2j",
        "special + 1, special * 0, special // 1, special % 1, 1 // special, special ** 0",
        x=x,
        ints=ints,
        other_ints=other_ints,
        mask=mask,
        bytes_=bytes_,
        half=half,
        brain=brain,
        double=double,
        wave=wave,
        special=special,
        math=math,
    )


def test_arithmetic_between_tensors() -> None:
    check(
        "x + y, x - y, x * y, x / y, x // y, x % y, x.abs() ** y, y + x, y / x",
        "torch.add(x, y, alpha=2), torch.add(x, 2, alpha=0.3), torch.sub(x, y, alpha=-0.7)",
        "torch.rsub(x, y), torch.rsub(x, y, alpha=3)",
        "torch.rsub(x, 2), torch.rsub(x, 2, alpha=0.3)",
        "torch.add(ints, other_ints, alpha=3), torch.sub(ints, other_ints, alpha=2)",
        "torch.div(x, y, rounding_mode='floor'), torch.div(x, y, rounding_mode='trunc')",
        "torch.div(x, 0.3, rounding_mode='floor'), torch.div(x, 0.3, rounding_mode='trunc')",
        "torch.div(x, y, rounding_mode=None), torch.div(ints, 2, rounding_mode='trunc')",
        "torch.div(ints, other_ints, rounding_mode='floor'), ints // other_ints, ints % other_ints",
        "torch.floor_divide(x, y), torch.fmod(x, y), torch.fmod(x, 0.3), torch.remainder(x, y)",
        "torch.fmod(ints, other_ints), torch.fmod(ints, -3), torch.remainder(ints, -3)",
        "torch.remainder(2, x), torch.remainder(x, -0.3), torch.pow(2, x), torch.pow(x, 3)",
        "torch.atan2(x, y), torch.atan2(ints, other_ints), torch.logaddexp(x, y)",
        "torch.maximum(x, y), torch.minimum(x, y), torch.max(x, y), torch.min(x, y)",
        "torch.maximum(ints, half), torch.maximum(mask, ~mask), torch.min(ints, other_ints)",
        "torch.true_divide(ints, other_ints), torch.true_divide(x, 2)",
        "torch.subtract(x, y), torch.subtract(x, 2), torch.multiply(x, y), torch.divide(x, y)",
        "torch.multiply(x, 2), torch.divide(x, y, rounding_mode='floor')",
        "ints & other_ints, ints | other_ints, ints ^ other_ints, ints & 3, 3 | ints, 3 ^ ints",
        "mask & ~mask, mask | True, mask ^ True, ~mask, ~ints, mask & ints.bool()",
        "torch.bitwise_and(3, ints), torch.bitwise_or(3, ints), torch.bitwise_xor(3, ints)",
        "torch.bitwise_and(ints, 3), torch.bitwise_not(bytes_)",
        "ints << other_ints, ints >> other_ints, torch.bitwise_left_shift(ints, 2)",
        "torch.bitwise_left_shift(2, other_ints), torch.bitwise_right_shift(100, other_ints)",
        "torch.bitwise_right_shift(ints, other_ints), torch.bitwise_right_shift(ints, 1)",
        x=x,
        y=y,
        ints=ints,
        other_ints=other_ints,
        half=half,
        mask=mask,
        bytes_=bytes_,
    )


def test_dtypes_of_mixed_operands() -> None:
    operands = ("half", "brain", "double", "ints", "bytes_", "mask", "wave")
    scalars = ("scalar", "double_scalar", "int_scalar")
    check(
        *[f"{one} + {other}" for one in operands for other in operands],
        *[f"{one} * {other}" for one in operands for other in scalars],
        *[f"{other} - {one}" for one in operands if one != "mask" for other in scalars],
        *[f"{one} / {other}" for one in scalars for other in scalars],
        "torch.where(mask, half, scalar), torch.where(mask, ints, 0.5), torch.where(mask, 1, 2)",
        "(half * double_scalar) * ints, (ints + int_scalar) / double_scalar, -(scalar * ints)",
        half=half,
        brain=brain,
        double=double,
        ints=ints,
        bytes_=bytes_,
        mask=mask,
        wave=wave,
        scalar=scalar,
        double_scalar=double_scalar,
        int_scalar=int_scalar,
    )


def test_stored_numbers_promote_as_tensors_do() -> None:
    check(
        *[f"{one} * {other}" for one in ("half", "ints") for other in ("a", "b", "c")],
        "(half + a) * b, half.sum() * b, half.sum() * a, ints.sum() * a",
        half=half,
        ints=ints,
        **{
            name: torch.nn.Parameter(torch.tensor(2.5, dtype=dtype), requires_grad=False)
            for name, dtype in (("a", torch.float), ("b", torch.double), ("c", torch.half))
        },
    )


PLAIN = words(
    "angle deg2rad digamma erfc exp2 frac i0 isfinite isinf isnan isneginf isposinf lgamma log2 "
    "positive rad2deg sgn signbit sinc nan_to_num special.entr special.erfcx special.i0e "
    "special.i1 special.i1e special.log_ndtr special.ndtr special.airy_ai special.bessel_j0 "
    "special.bessel_j1 special.bessel_y0 special.bessel_y1 special.modified_bessel_i0 "
    "special.modified_bessel_i1 special.modified_bessel_k0 special.modified_bessel_k1 "
    "special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1 "
    "special.spherical_bessel_j0 special.expit special.psi special.gammaln special.exp2 "
    "absolute arctan negative fix special.sinc special.i0"
)


def test_functions_by_their_names() -> None:
    check(
        *[f"torch.{name}(x)" for name in PLAIN],
        *[f"torch.{name}(special)" for name in PLAIN],
        "torch.erfinv(unit), torch.logit(unit), torch.logit(unit, eps=0.2), torch.arccos(unit)",
        "torch.arcsin(unit), torch.arctanh(unit), torch.arccosh(above), torch.arcsinh(x)",
        "torch.special.ndtri(above - 1), torch.special.logit(above - 1)",
        "torch.polygamma(1, above), torch.polygamma(2, above), torch.special.polygamma(3, above)",
        "torch.mvlgamma(above, 2), torch.special.multigammaln(above, 2)",
        "torch.round(x, decimals=2), torch.round(x, decimals=-1)",
        "torch.special.round(x, decimals=1)",
        "torch.nan_to_num(special, nan=1.5), torch.nan_to_num(special, 0.0, 2.0, -2.0)",
        "torch.frexp(x), torch.frexp(special[:5])",
        "torch.logical_not(ints), torch.logical_not(special)",
        "torch.isnan(ints), torch.isfinite(ints), torch.isreal(x), torch.isreal(wave)",
        "torch.sgn(wave), torch.angle(wave), torch.conj(wave), torch.conj_physical(wave)",
        "torch.real(wave), torch.imag(wave), wave.real + 1, wave.imag * 2, wave.conj() * wave",
        x=x,
        special=special,
        unit=unit,
        above=above,
        ints=ints,
        wave=wave,
    )


def test_functions_of_several_tensors() -> None:
    check(
        *[
            f"torch.{name}(x, y)"
            for name in words("fmax fmin hypot copysign nextafter heaviside logaddexp2 xlogy")
        ],
        *[
            f"torch.{name}(x, {other})"
            for name in words("eq ne lt le gt ge not_equal less less_equal greater greater_equal")
            for other in ("y", "0.5", "x", "1")
        ],
        "x == y, x != 0, x < y, x <= 1, x > y, x >= 0, ints == 2, ints < 2.5, mask == True",
        "wave == wave, half == x[0, :2, :3], 1 < x, 2 >= ints",
        "torch.gcd(ints, other_ints), torch.lcm(ints, other_ints), torch.ldexp(x, ints[0, 0])",
        "torch.igamma(above, above), torch.igammac(above, above * 2)",
        "torch.special.gammainc(above, above), torch.special.gammaincc(above, above)",
        "torch.isclose(x, y), torch.isclose(x, x + 1e-6, rtol=1e-3)",
        "torch.isclose(n, n, equal_nan=True)",
        "torch.isin(ints, other_ints), torch.isin(ints, 3), torch.isin(3, ints, invert=True)",
        "torch.isin(ints, other_ints, assume_unique=False, invert=True)",
        "torch.copysign(x, -1.0), torch.copysign(ints, -2), torch.float_power(x.abs(), y)",
        "torch.float_power(ints, 2), torch.float_power(2, ints), torch.float_power(x.abs(), 0.3)",
        "torch.xlogy(above, 2.0), torch.xlogy(2.0, above), torch.special.xlog1py(above, above)",
        "torch.special.xlog1py(above, 2.0), torch.special.xlog1py(2.0, above)",
        "torch.special.zeta(above, above), torch.special.zeta(above, 2.0)",
        "torch.special.zeta(2.0, above)",
        *[
            f"torch.special.{name}({args})"
            for name in words(
                "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v "
                "chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he "
                "laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t "
                "shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
                "shifted_chebyshev_polynomial_w"
            )
            for args in ("unit, other_ints", "unit, 3", "0.3, other_ints")
        ],
        "torch.logical_and(ints, mask), torch.logical_or(x, y), torch.logical_xor(mask, ints)",
        "torch.lerp(x, y, 0.3), torch.lerp(x, y, x), torch.lerp(half, half, 0.25)",
        "torch.addcmul(x, x, y), torch.addcmul(x, x, y, value=0.3)",
        "torch.addcmul(ints, ints, ints, value=2)",
        "torch.addcdiv(x, x, y), torch.addcdiv(x, x, y, value=-2)",
        "torch.complex(unit, above), torch.polar(above, unit)",
        "torch.where(x > 0, x, y), torch.where(mask, unit, 0.5), torch.where(mask, 1.5, unit)",
        "torch.where(mask, 1.0, 2.0), torch.where(mask, 1, 2.5), torch.where(mask, ints, unit)",
        "torch.where(mask, scalar, unit), torch.where(mask, True, False)",
        x=x,
        y=y,
        n=special,
        ints=ints,
        other_ints=other_ints,
        above=above,
        unit=unit,
        mask=mask,
        half=half,
        wave=wave,
        scalar=scalar,
    )


def test_limits() -> None:
    check(
        "x.clamp(0), x.clamp(max=0.5), x.clamp(-0.1, 0.1), x.clamp(0, 1), x.clip(-1, 1)",
        "torch.clamp(x, y, y + 1), torch.clamp(x, min=y), torch.clamp(x, max=y)",
        "torch.clip(x, min=y)",
        "x.clamp_min(0.1), x.clamp_max(0.1), x.clamp_min(y), x.clamp_max(y)",
        "ints.clamp(0, 2), ints.clamp(0.5), ints.clamp(max=1.5), half.clamp(0.1), n.clamp(0, 1)",
        "ints.clamp(min=int_scalar), half.clamp(min=x[0, 0, 0]), bytes_.clamp(3, 200)",
        x=x,
        y=y,
        ints=ints,
        half=half,
        n=special,
        int_scalar=int_scalar,
        bytes_=bytes_,
    )


def test_changes_of_dtype() -> None:
    dtypes = words("half bfloat16 float double uint8 int8 short int long bool complex64 complex128")
    check(
        *[f"x.to(torch.{dtype})" for dtype in dtypes if dtype != "uint8"],
        *[f"ints.to(torch.{dtype})" for dtype in dtypes],
        "wave.to(torch.complex128), mask.float(), mask.long(), brain.half(), double.bfloat16()",
        "x.to(torch.float), x.to(torch.float, copy=True), x.to(ints.dtype), x.to(half), half.to(x)",
        "x.to('cpu'), x.to('cpu', torch.double), x.cpu()",
        "x.to(torch.half, memory_format=torch.preserve_format)",
        "x.view(torch.int), ints.view(torch.double), double.view(torch.half), x.view(torch.double)",
        "x.transpose(0, 1).view(torch.short), x.type_as(ints), x.type_as(x)",
        "half.type_as(double), x.double().float()",
        x=x,
        ints=ints,
        wave=wave,
        mask=mask,
        brain=brain,
        double=double,
        half=half,
    )


@pytest.mark.parametrize("depth", [3, 60])
def test_long_formulas(depth: int) -> None:
    check("sum_of(x, y)", x=x, y=y, sum_of=lambda x, y: alternate(x, y, depth))


def alternate(x: torch.Tensor, y: torch.Tensor, depth: int) -> torch.Tensor:
    for step in range(depth):
        x = (x + y) * 0.5 if step % 2 else y - x / 2
    return x
