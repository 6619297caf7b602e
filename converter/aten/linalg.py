"""Linear algebra: `torch.linalg`."""

from __future__ import annotations

from converter.aten.call import Call
from converter.aten.emit import Emitter
from converter.aten.registry import joins, lowers, overloads, same

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

# The forms of decomposed programs, which return by-products too.
same("_linalg_det.default", "torch.linalg.det", names={"A": "input"}, unread=2)
same("_linalg_slogdet.default", "torch.linalg.slogdet", names={"A": "input"}, unread=2)
same("_linalg_eigvals.default", "torch.linalg.eigvals")


@lowers("_linalg_eigh.default")
def eigh(call: Call, emit: Emitter) -> None:
    values, vectors = call.outputs
    matrix, half = call.tensor("A"), call.string("UPLO")
    if call.flag("compute_v"):
        emit.op("torch.linalg.eigh", call.outputs, input=matrix, UPLO=half)
    else:
        emit.unread(vectors)
        emit.op("torch.linalg.eigvalsh", values, input=matrix, UPLO=half)


@lowers("_linalg_svd.default")
def svd(call: Call, emit: Emitter) -> None:
    left, values, right = call.outputs
    matrix, driver = call.tensor("A"), call.args["driver"]
    if call.flag("compute_uv"):
        full = call.flag("full_matrices")
        emit.op("torch.linalg.svd", call.outputs, A=matrix, full_matrices=full, driver=driver)
    else:
        emit.unread(left)
        emit.unread(right)
        emit.op("torch.linalg.svdvals", values, A=matrix, driver=driver)


@lowers("_linalg_solve_ex.default")
def solve_ex(call: Call, emit: Emitter) -> None:
    result, factors, pivots, info = call.outputs
    emit.unread(factors)
    emit.unread(pivots)
    arguments = {name: call.args[name] for name in ("A", "B", "left", "check_errors")}
    emit.op("torch.linalg.solve_ex", [result, info], **arguments)


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
