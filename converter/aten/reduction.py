"""Reductions and scans."""

from __future__ import annotations

from converter.aten.call import Arg, Call
from converter.aten.dtype import cast
from converter.aten.emit import Emitter
from converter.aten.registry import lowers, same
from converter.ir import Operand

for name in ("amax", "amin", "argmax", "argmin", "logsumexp"):
    same(f"{name}.default", f"torch.{name}")
for name in ("all", "any"):
    same([f"{name}.default", f"{name}.dim", f"{name}.dims"], f"torch.{name}")
for name in ("max", "min"):
    same([f"{name}.default", f"{name}.dim"], f"torch.{name}")
for name in ("argsort", "cummax", "cummin", "count_nonzero", "kthvalue", "logcumsumexp", "sort"):
    same(f"{name}.default", f"torch.{name}")
same(["median.default", "median.dim"], "torch.median")
same(["mode.default"], "torch.mode")
same("sort.stable", "torch.sort")
same("argsort.stable", "torch.argsort")
same("count_nonzero.dim_IntList", "torch.count_nonzero")
same("topk.default", "torch.topk")


def converted(call: Call, emit: Emitter) -> Operand:
    """The input in the dtype that `dtype=` asks for: pnnx's reductions have no such argument."""
    source, dtype = call.tensor("self"), call.args.get("dtype")
    if dtype is None or dtype == source.dtype:
        return source
    return cast(emit, source, str(dtype))


def reduce(type: str, call: Call, emit: Emitter) -> None:
    """A reduction over some dims, or over all where `dim` is None or empty."""
    source = converted(call, emit)
    dim = call.args.get("dim")
    if dim is None or dim == ():
        if not call.args.get("keepdim", False):
            emit.op(type, call.output, input=source)
            return
        dim = tuple(range(len(source.shape or ())))
    emit.op(type, call.output, input=source, dim=dim, keepdim=call.flag("keepdim"))


@lowers("sum.default", "sum.dim_IntList")
def sum(call: Call, emit: Emitter) -> None:
    reduce("torch.sum", call, emit)


@lowers("mean.default", "mean.dim")
def mean(call: Call, emit: Emitter) -> None:
    reduce("torch.mean", call, emit)


@lowers("prod.default", "prod.dim_int")
def prod(call: Call, emit: Emitter) -> None:
    reduce("torch.prod", call, emit)


@lowers("nansum.default")
def nansum(call: Call, emit: Emitter) -> None:
    reduce("torch.nansum", call, emit)


@lowers("cumsum.default")
def cumsum(call: Call, emit: Emitter) -> None:
    emit.op("torch.cumsum", call.output, input=converted(call, emit), dim=call.integer("dim"))


@lowers("cumprod.default")
def cumprod(call: Call, emit: Emitter) -> None:
    emit.op("torch.cumprod", call.output, input=converted(call, emit), dim=call.integer("dim"))


@lowers("std.default", "std.dim", "std.correction")
def std(call: Call, emit: Emitter) -> None:
    deviation("torch.std", call, emit)


@lowers("var.default", "var.dim", "var.correction")
def var(call: Call, emit: Emitter) -> None:
    deviation("torch.var", call, emit)


def deviation(type: str, call: Call, emit: Emitter) -> None:
    """pnnx says `unbiased`, which is a correction of 1 or 0; others keep torch's `correction`."""
    source = call.tensor("self")
    correction = call.args.get("correction", 1)
    correction = 1 if correction is None else correction
    arguments: dict[str, Arg] = {"input": source}
    dim = call.args.get("dim")
    keepdim = call.args.get("keepdim", False)
    if dim in (None, ()) and keepdim:
        dim = tuple(range(len(source.shape or ())))
    if dim not in (None, ()):
        arguments |= {"dim": dim, "keepdim": keepdim}
    if "unbiased" in call.args:
        arguments["unbiased"] = call.args["unbiased"]
    elif correction in (0, 1):
        arguments["unbiased"] = correction == 1
    else:
        arguments["correction"] = correction
        arguments.setdefault("dim", None)
    emit.op(type, call.output, **arguments)


@lowers("norm.Scalar", "norm.ScalarOpt_dim", "norm.ScalarOpt_dtype", "norm.ScalarOpt_dim_dtype")
def norm(call: Call, emit: Emitter) -> None:
    p = call.args["p"]
    vector_norm(call, emit, 2 if p is None else call.number("p"))


@lowers("linalg_vector_norm.default")
def linalg_vector_norm(call: Call, emit: Emitter) -> None:
    vector_norm(call, emit, call.number("ord"))


def vector_norm(call: Call, emit: Emitter, p: float) -> None:
    dim = call.args.get("dim")
    emit.op(
        "torch.norm",
        call.output,
        input=converted(call, emit),
        dim=None if dim == () else dim,
        keepdim=call.args.get("keepdim", False),
        p=p,
    )
