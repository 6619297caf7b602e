"""Recognize the functions that PyTorch composes of others, as its own Python source does.

`torch.export` sees through `F.softmin` and the like and records what they call. The rewritten
operator calls the same functions in the same order, so that not a bit changes.
"""

from __future__ import annotations

import math

from converter.ir import Graph, Operator, Param
from converter.passes.pattern import Match, PatternPass
from converter.pnnx.value import parse_value


class Softmin(PatternPass):
    """Before: `neg(x)`, then softmax. After: `F.softmin`."""

    pattern = """
        pnnx.Input      x   0 1 x
        pnnx.Expression neg 1 1 x a expr=neg(@0)
        F.softmax       softmax 1 1 a out dim=%dim
        pnnx.Output     out 1 0 out
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        return replace(graph, match, "softmax", "F.softmin", dim=match.captured["dim"])


class Softsign(PatternPass):
    """Before: `x / (1 + |x|)` as three expressions. After: `F.softsign`."""

    pattern = """
        pnnx.Input      x   0 1 x
        pnnx.Expression abs 1 1 x a expr=abs(@0)
        pnnx.Expression add 1 1 a b expr=add(@0,1)
        pnnx.Expression div 2 1 x b out expr=div(@0,@1)
        pnnx.Output     out 1 0 out
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        return replace(graph, match, "div", "F.softsign")


class Tanhshrink(PatternPass):
    """Before: `x - tanh(x)`. After: `F.tanhshrink`."""

    pattern = """
        pnnx.Input      x    0 1 x
        F.tanh          tanh 1 1 x a
        pnnx.Expression sub  2 1 x a out expr=sub(@0,@1)
        pnnx.Output     out  1 0 out
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        return replace(graph, match, "sub", "F.tanhshrink")


class Normalize(PatternPass):
    """Before: `x / clamp(norm(x), eps)`, spread over x. After: `F.normalize`."""

    pattern = """
        pnnx.Input       x      0 1 x
        torch.norm       norm   1 1 x a p=%p dim=%dim keepdim=True
        torch.clamp      clamp  1 1 a b min=%eps max=None
        Tensor.expand_as expand 2 1 b x c
        pnnx.Expression  div    2 1 x c out expr=div(@0,@1)
        pnnx.Output      out    1 0 out
    """

    def rewrite(self, graph: Graph, match: Match) -> bool:
        dim, p = match.captured["dim"], match.captured["p"]
        if dim is None or not isinstance(p, int | float):
            return False
        if isinstance(dim, tuple) and len(dim) == 1:
            dim = dim[0]
        return replace(graph, match, "div", "F.normalize", dim=dim, eps=match.captured["eps"], p=p)


class DecomposedNormalize(Normalize):
    """The same where a decomposition spreads to a shape, not to that of x by its name."""

    pattern = Normalize.pattern.replace(
        "Tensor.expand_as expand 2 1 b x c", "Tensor.expand expand 1 1 b c"
    )


class LocalResponseNorm(PatternPass):
    """Before: `x / (avg(x * x) * alpha + k) ** beta`, averaged over channels by a padded 3-d pool.

    After: `F.local_response_norm`.
    """

    pattern = """
        pnnx.Input      x       0 1 x
        pnnx.Expression square  1 1 x a expr=mul(@0,@0)
        Tensor.reshape  split   1 1 a b shape=%split
        F.pad           pad     1 1 b c mode=constant pad=%pad
        F.avg_pool3d    pool    1 1 c d kernel_size=%kernel stride=(1,1,1) padding=(0,0,0) ceil_mode=False count_include_pad=True divisor_override=None
        torch.squeeze   squeeze 1 1 d e dim=1
        Tensor.reshape  join    1 1 e f
        pnnx.Expression alpha   1 1 f g
        pnnx.Expression k       1 1 g h
        pnnx.Expression beta    1 1 h i
        pnnx.Expression div     2 1 x i out expr=div(@0,@1)
        pnnx.Output     out     1 0 out
    """  # noqa: E501

    def rewrite(self, graph: Graph, match: Match) -> bool:
        shape, kernel = match.operands["x"].shape, match.captured["kernel"]
        if shape is None or not isinstance(kernel, tuple) or kernel[1:] != (1, 1):
            return False
        size = kernel[0]
        assert isinstance(size, int)
        split = match.captured["split"]
        assert isinstance(split, tuple)
        wanted = (shape[0], 1, *shape[1:])[:4]
        if split[:4] != wanted or not pads_channels(match, 3, size):
            return False
        return local_response_norm(graph, match, size)


class LocalResponseNorm1d(PatternPass):
    """The same for inputs of three dims, by a padded 2-d pool."""

    pattern = """
        pnnx.Input      x         0 1 x
        pnnx.Expression square    1 1 x a expr=mul(@0,@0)
        torch.unsqueeze unsqueeze 1 1 a b dim=1
        F.pad           pad       1 1 b c mode=constant pad=%pad
        F.avg_pool2d    pool      1 1 c d kernel_size=%kernel stride=(1,1) padding=(0,0) ceil_mode=False count_include_pad=True divisor_override=None
        torch.squeeze   squeeze   1 1 d e dim=1
        pnnx.Expression alpha     1 1 e g
        pnnx.Expression k         1 1 g h
        pnnx.Expression beta      1 1 h i
        pnnx.Expression div       2 1 x i out expr=div(@0,@1)
        pnnx.Output     out       1 0 out
    """  # noqa: E501

    def rewrite(self, graph: Graph, match: Match) -> bool:
        kernel = match.captured["kernel"]
        if not isinstance(kernel, tuple) or kernel[1] != 1 or not isinstance(kernel[0], int):
            return False
        if not pads_channels(match, 2, kernel[0]):
            return False
        return local_response_norm(graph, match, kernel[0])


def pads_channels(match: Match, dims: int, size: int) -> bool:
    """Whether zeros are put around the channels, as many as keep their number."""
    pad = (*(0,) * (2 * dims - 2), size // 2, (size - 1) // 2)
    return match.captured["pad"] == pad and match["pad"].params["value"] in (None, 0)


def local_response_norm(graph: Graph, match: Match, size: int) -> bool:
    alpha = number(match["alpha"], "mul")
    k = number(match["k"], "add")
    beta = number(match["beta"], "pow")
    if alpha is None or k is None or beta is None:
        return False
    return replace(
        graph, match, "div", "F.local_response_norm", alpha=alpha, beta=beta, k=k, size=size
    )


class LPPool(PatternPass):
    """Before: `(sign(m) * relu(|m|) * n) ** (1 / p)` of the mean m of `x ** p` over n elements.

    After: `F.lp_pool1d`, `F.lp_pool2d` or `F.lp_pool3d`.
    """

    pattern = """
        pnnx.Input      x    0 1 x
        pnnx.Expression pow  1 1 x a
        F.avg_pool1d|F.avg_pool2d|F.avg_pool3d pool 1 1 a b kernel_size=%kernel stride=%stride ceil_mode=%ceil count_include_pad=True
        pnnx.Expression sign 1 1 b c expr=sign(@0)
        pnnx.Expression abs  1 1 b d expr=abs(@0)
        F.relu          relu 1 1 d e
        pnnx.Expression both 2 1 c e f expr=mul(@0,@1)
        pnnx.Expression sum  1 1 f g
        pnnx.Expression root 1 1 g out
        pnnx.Output     out  1 0 out
    """  # noqa: E501

    def rewrite(self, graph: Graph, match: Match) -> bool:
        pool, kernel = match["pool"], match.captured["kernel"]
        p, root = number(match["pow"], "pow"), number(match["root"], "pow")
        count = number(match["sum"], "mul")
        assert isinstance(kernel, tuple)
        if p is None or p == 0 or root != 1.0 / p or count != math.prod(map(int_of, kernel)):
            return False
        padding = pool.params["padding"]
        if any(padding) if isinstance(padding, tuple) else padding:
            return False
        if pool.params.get("divisor_override") is not None:
            return False
        dims = len(kernel)
        stride = match.captured["stride"]
        if dims == 1:
            kernel, stride = kernel[0], stride[0] if isinstance(stride, tuple) else stride
        return replace(
            graph,
            match,
            "root",
            f"F.lp_pool{dims}d",
            ceil_mode=match.captured["ceil"],
            kernel_size=kernel,
            norm_type=p,
            stride=stride,
        )


def int_of(value: Param) -> int:
    assert isinstance(value, int)
    return value


def number(op: Operator, function: str) -> int | float | None:
    """The second argument of `function(@0,number)`; None where the expression is another."""
    text = op.params["expr"]
    assert isinstance(text, str)
    if not text.startswith(f"{function}(@0,") or not text.endswith(")"):
        return None
    try:
        value = parse_value(text[len(function) + 4 : -1])
    except ValueError:
        return None
    return value if isinstance(value, int | float) else None


def replace(graph: Graph, match: Match, last: str, type: str, **params: Param) -> bool:
    """Make the pattern's last operator compute `type` of the pattern's input x."""
    op = match[last]
    op.type, op.params = type, dict(params)
    graph.set_inputs(op, [match.operands["x"]], ["input"])
    return True


COMPOSITES: tuple[PatternPass, ...] = (
    Softmin(),
    Softsign(),
    Tanhshrink(),
    Normalize(),
    DecomposedNormalize(),
    LocalResponseNorm(),
    LocalResponseNorm1d(),
    LPPool(),
)
