"""Reductions and scans."""

from __future__ import annotations

from converter.aten.call import Arg, Call
from converter.aten.dtype import FLOATING, cast, convert, kind
from converter.aten.emit import Emitter
from converter.aten.registry import lowers, none_if_empty, overloads, same
from converter.ir import Operand

PLAIN = (
    "aminmax argmax argmin argsort bincount count_nonzero cummax cummin "
    "diff dist histc kthvalue logcumsumexp logsumexp mode msort nanmedian nonzero argwhere renorm "
    "sort topk"
)
for target in overloads(PLAIN):
    same(target, f"torch.{target.split('.')[0]}")

same("amax.default", "torch.amax", convert={"dim": none_if_empty})
same("amin.default", "torch.amin", convert={"dim": none_if_empty})

OVERLOADS = {
    "all": "default dim dims",
    "any": "default dim dims",
    "argsort": "stable",
    "count_nonzero": "dim_IntList",
    "cumulative_trapezoid": "x dx",
    "gradient": "array scalararray scalarint scalarrayarray scalarrayint",
    "max": "default dim",
    "median": "default dim",
    "min": "default dim",
    "nanmedian": "dim",
    "nanquantile": "default scalar",
    "quantile": "default scalar",
    "sort": "stable",
    "trapezoid": "x dx",
}
for name, suffixes in OVERLOADS.items():
    same(overloads(name, *suffixes.split()), f"torch.{name}")


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
    keepdim = call.args.get("keepdim", False)
    if dim in (None, ()) and keepdim:
        dim = tuple(range(call.rank(source)))
    named: dict[str, Arg] = {} if dim in (None, ()) and not keepdim else {"dim": dim}
    if named:
        named["keepdim"] = keepdim
    in_dtype(type, call, emit, source, **named)


def in_dtype(type: str, call: Call, emit: Emitter, source: Operand, **arguments: Arg) -> None:
    """Sums and products of integers are `i64` by themselves; `dtype=i32` converts them back."""
    integral = source.dtype is not None and kind(source.dtype) < FLOATING
    natural = "i64" if integral and type not in KEEPING else source.dtype
    if natural == call.output.dtype:
        emit.op(type, call.output, input=source, **arguments)
    else:
        result = emit.temporary(call.output.shape, natural)
        emit.op(type, result, input=source, **arguments)
        convert(emit, call.output, result, str(call.output.dtype))


KEEPING = frozenset({"torch.mean", "torch.nanmean"})
"""What has no results of another dtype than its input."""


def reduces(type: str, *targets: str) -> None:
    @lowers(*targets)
    def lowering(call: Call, emit: Emitter) -> None:
        reduce(type, call, emit)


reduces("torch.sum", "sum.default", "sum.dim_IntList")
reduces("torch.mean", "mean.default", "mean.dim")
reduces("torch.prod", "prod.default", "prod.dim_int")
reduces("torch.nansum", "nansum.default")
reduces("torch.nanmean", "nanmean.default")


def scans(type: str, *targets: str) -> None:
    @lowers(*targets)
    def lowering(call: Call, emit: Emitter) -> None:
        in_dtype(type, call, emit, converted(call, emit), dim=call.integer("dim"))


scans("torch.cumsum", "cumsum.default")
scans("torch.cumprod", "cumprod.default")


def deviation(type: str, *targets: str) -> None:
    """pnnx says `unbiased`, which is a correction of 1 or 0; others keep torch's `correction`."""

    @lowers(*targets)
    def lowering(call: Call, emit: Emitter) -> None:
        source = call.tensor("self")
        arguments: dict[str, Arg] = {}
        dim = call.args.get("dim")
        keepdim = call.args.get("keepdim", False)
        if dim in (None, ()) and keepdim:
            dim = tuple(range(call.rank(source)))
        if dim not in (None, ()):
            arguments |= {"dim": dim, "keepdim": keepdim}
        correction = call.args.get("correction")
        if "unbiased" in call.args:
            arguments["unbiased"] = call.args["unbiased"]
        elif correction is None or correction in (0, 1):
            arguments["unbiased"] = correction != 0
        else:
            arguments = {"dim": None, **arguments, "correction": correction}
        emit.op(type, call.outputs, input=source, **arguments)


for name in ("std", "std_mean", "var", "var_mean"):
    deviation(f"torch.{name}", *overloads(name, "default", "dim", "correction"))


@lowers(*overloads("norm", "Scalar", "ScalarOpt_dim", "ScalarOpt_dtype", "ScalarOpt_dim_dtype"))
def norm(call: Call, emit: Emitter) -> None:
    p = call.args["p"]
    vector_norm(call, emit, 2 if p is None else call.number("p"))


@lowers("linalg_vector_norm.default")
def linalg_vector_norm(call: Call, emit: Emitter) -> None:
    vector_norm(call, emit, call.number("ord"))


@lowers("frobenius_norm.dim")
def frobenius_norm(call: Call, emit: Emitter) -> None:
    vector_norm(call, emit, 2)


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


@lowers("_unique2.default", "unique_dim.default", "unique_consecutive.default")
def unique(call: Call, emit: Emitter) -> None:
    """PyTorch returns the inverse and the counts where they are asked for, ATen always."""
    arguments = {"input" if name == "self" else name: arg for name, arg in call.args.items()}
    asked = (True, call.flag("return_inverse"), call.flag("return_counts"))
    kept = [output for output, wanted in zip(call.outputs, asked, strict=True) if wanted]
    for output in call.outputs:
        if output not in kept:
            emit.unread(output)
    consecutive = "consecutive" in call.target
    emit.op("torch.unique_consecutive" if consecutive else "torch.unique", kept, **arguments)
