"""Functions that are a few of ncnn's layers, as the expression of their arguments."""

from __future__ import annotations

import math

from converter.ncnn.blob import Blob
from converter.ncnn.expression import evaluated
from converter.ncnn.op import Op
from converter.ncnn.registry import ncnn

FORMULAS = {
    "torch.addcdiv": "add(@input,mul(div(@tensor1,@tensor2),@value))",
    "torch.addcmul": "add(@input,mul(mul(@tensor1,@tensor2),@value))",
    "torch.deg2rad": f"mul(@input,{math.pi / 180})",
    "torch.exp2": f"exp(mul(@input,{math.log(2)}))",
    "torch.frac": "sub(@input,trunc(@input))",
    "torch.lerp": "add(@input,mul(sub(@end,@input),@weight))",
    "torch.log2": f"mul(log(@input),{1 / math.log(2)})",
    "torch.rad2deg": f"mul(@input,{180 / math.pi})",
    "torch.sgn": "sign(@input)",
}
LOGIT = "log(div({x},sub(1,{x})))"


def _formula(type: str, text: str) -> None:
    @ncnn(type)
    def formula(op: Op) -> Blob:
        return evaluated(op, text)


for type, text in FORMULAS.items():
    _formula(type, text)


@ncnn("torch.div")
def rounded_quotient(op: Op) -> Blob:
    """Rounded down, or cut off at the point."""
    op.expect("rounding_mode", "floor", "trunc")
    return evaluated(op, f"{op.text('rounding_mode')}(div(@input,@other))")


@ncnn("torch.logit", "torch.special.logit")
def logit(op: Op) -> Blob:
    """Of numbers within eps of 0 or 1, that of eps or 1 - eps."""
    eps = op.params.get("eps")
    x = "@input" if eps is None else f"min(max(@input,@eps),{1 - op.number('eps')})"
    return evaluated(op, LOGIT.format(x=x))


@ncnn("torch.round")
def rounded(op: Op) -> Blob:
    """To so many decimals, or to a power of ten where that is negative."""
    decimals = op.integer("decimals", 0)
    if decimals == 0:
        return evaluated(op, "round(@input)")
    scale, back = ("mul", "div") if decimals > 0 else ("div", "mul")
    ten = 10.0 ** abs(decimals)
    return evaluated(op, f"{back}(round({scale}(@input,{ten})),{ten})")
