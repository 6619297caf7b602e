"""ATen's second names for operators: `arccos` is `acos`, with the same overloads and arguments."""

from __future__ import annotations

from converter.aten.registry import LOWERINGS, register

SYNONYMS = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "divide": "div",
    "fix": "trunc",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "special_digamma": "digamma",
    "special_erf": "erf",
    "special_erfc": "erfc",
    "special_erfinv": "erfinv",
    "special_exp2": "exp2",
    "special_expm1": "expm1",
    "special_gammaln": "lgamma",
    "special_log1p": "log1p",
    "special_logit": "logit",
    "special_logsumexp": "logsumexp",
    "special_psi": "digamma",
    "special_sinc": "sinc",
    "subtract": "sub",
    "true_divide": "div",
}


def register_synonyms() -> None:
    """Register every overload of each second name. The first names must be registered by now."""
    known = dict(LOWERINGS)
    for synonym, name in SYNONYMS.items():
        for target, lowering in known.items():
            namespace, operator, overload = target.split(".")
            if (namespace, operator) == ("aten", name):
                register(f"aten.{synonym}.{overload}", lowering)
