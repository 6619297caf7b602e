"""Linear algebra: `torch.linalg`."""

from __future__ import annotations

from converter.aten.registry import joins, overloads, same

PLAIN = (
    "cholesky cholesky_ex cross det diagonal eig eigh eigvals eigvalsh householder_product inv "
    "inv_ex ldl_factor ldl_factor_ex ldl_solve lu lu_factor lu_factor_ex lu_solve matrix_exp "
    "matrix_power qr slogdet solve solve_ex solve_triangular svd svdvals tensorinv tensorsolve "
    "vander vecdot"
)
for target in overloads(PLAIN):
    name = target.split(".")[0]
    same(f"linalg_{target}", f"torch.linalg.{name}")

same(overloads("linalg_cond", "default", "p_str"), "torch.linalg.cond")
same(overloads("linalg_norm", "default", "ord_str"), "torch.linalg.norm")
same(overloads("linalg_matrix_norm", "default", "str_ord"), "torch.linalg.matrix_norm")
joins("linalg_multi_dot.default", "torch.linalg.multi_dot")

TOLERANCES = ("atol_rtol_float", "atol_rtol_tensor")
same(overloads("linalg_pinv", *TOLERANCES), "torch.linalg.pinv")
same("linalg_pinv.default", "torch.linalg.pinv", names={"rcond": "rtol"})
same("linalg_pinv.rcond_tensor", "torch.linalg.pinv", names={"rcond": "rtol"})
same(overloads("linalg_matrix_rank", *TOLERANCES), "torch.linalg.matrix_rank")
same(overloads("linalg_matrix_rank", "default", "tol_tensor"), "torch.linalg.matrix_rank")

CLASSIC = (
    "cholesky_inverse cholesky_solve geqrf logdet lu_solve lu_unpack ormqr pinverse qr svd "
    "triangular_solve cholesky slogdet"
)
for target in overloads(CLASSIC):
    same(target, f"torch.{target.split('.')[0]}")
