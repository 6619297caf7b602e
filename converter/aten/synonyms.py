"""Operators that PyTorch has under several names."""

from __future__ import annotations

from collections.abc import Mapping

SYNONYMS: Mapping[str, str] = {
    "_conj": "conj",
    "_conj_physical": "conj_physical",
    "_neg_view": "neg",
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "clip": "clamp",
    "concat": "cat",
    "concatenate": "cat",
    "det": "linalg_det",
    "divide": "div",
    "fix": "trunc",
    "ger": "outer",
    "greater": "gt",
    "greater_equal": "ge",
    "inverse": "linalg_inv",
    "less": "lt",
    "less_equal": "le",
    "linalg_matmul": "matmul",
    "matrix_exp": "linalg_matrix_exp",
    "matrix_power": "linalg_matrix_power",
    "moveaxis": "movedim",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "row_stack": "vstack",
    "special_digamma": "digamma",
    "special_erf": "erf",
    "special_erfc": "erfc",
    "special_erfinv": "erfinv",
    "special_exp2": "exp2",
    "special_expit": "sigmoid",
    "special_expm1": "expm1",
    "special_gammainc": "igamma",
    "special_gammaincc": "igammac",
    "special_gammaln": "lgamma",
    "special_i0": "i0",
    "special_log1p": "log1p",
    "special_logit": "logit",
    "special_logsumexp": "logsumexp",
    "special_multigammaln": "mvlgamma",
    "special_polygamma": "polygamma",
    "special_psi": "digamma",
    "special_sinc": "sinc",
    "subtract": "sub",
    "swapdims": "swapaxes",
    "trapz": "trapezoid",
    "true_divide": "div",
    "unsafe_chunk": "chunk",
    "unsafe_split": "split",
    "unsafe_split_with_sizes": "split_with_sizes",
}


def canonical(target: str) -> str:
    """Spell `aten.arccos.default` as `aten.acos.default`, and copies of views as the views."""
    namespace, name, overload = target.split(".")
    return f"{namespace}.{SYNONYMS.get(name, name.removesuffix('_copy'))}.{overload}"


def functional_name(target: str) -> str:
    """Spell `aten.relu6_.default`, which writes in place, as `aten.relu6.default`."""
    namespace, name, overload = canonical(target).split(".")
    if name.endswith("_") and not name.startswith("__"):
        name = name.removesuffix("_")
    return f"{namespace}.{name}.{overload}"
