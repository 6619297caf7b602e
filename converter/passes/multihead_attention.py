"""Recover nn.MultiheadAttention from the operators that torch.export records for it.

The archive tells which operators an nn.MultiheadAttention made, but not with which arguments it was
made and called. They are guessed from the operators, and the guess is proven: what the module does
with these arguments must be, term by term, what the operators do. Else they stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import ClassVar, NamedTuple

from converter.ir import Graph, Operand, Operator, Param, Shape
from converter.passes.base import Pass
from converter.passes.layout import LayoutError
from converter.passes.region import region
from converter.passes.stand_ins import StandIns
from converter.passes.term_readers import read_graph
from converter.passes.terms import Term, Terms, View

CLASS = "torch.nn.modules.activation.MultiheadAttention"


class Call(NamedTuple):
    """A call of an nn.MultiheadAttention, by the operands that it is given and that it holds."""

    query: Operand
    key: Operand
    value: Operand
    num_heads: int
    weights: tuple[Operand, ...]
    """All of in_proj_weight, or one each for query, key and value."""
    bias: Operand | None
    out_weight: Operand
    out_bias: Operand | None
    bias_k: Operand | None
    bias_v: Operand | None
    add_zero_attn: bool
    need_weights: bool
    projections: int
    """How many linear functions project the inputs: two where key and value share one."""
    batch_first: bool = False
    attn_mask: Operand | None = None
    key_padding_mask: Operand | None = None

    @property
    def batched(self) -> bool:
        return len(self.query.shape or ()) == 3


class MultiheadAttention(Pass):
    """Before: `F.linear x -> …` to `F.linear … -> y`, made by an nn.MultiheadAttention.

    After: `nn.MultiheadAttention x -> y`, or `… -> y weights` where the weights are read. The
    module chooses between kernels that round differently. Where there is a mask, weights that were
    asked for stay an output though nobody reads them: without them, a query all of whose keys are
    masked gives 0 and not NaN.
    """

    changes_arithmetic: ClassVar[bool] = True

    def run(self, graph: Graph) -> int:
        linears = [op for op in graph.of_type("F.linear", "torch.addmm") if is_attention(op)]
        terms: dict[tuple[str, str] | None, Terms] = {}
        sizes = StandIns()
        changed = 0
        for linear in linears:
            module = linear.module
            if module not in terms:
                terms[module] = read_graph(graph, partial(is_made_by, module), sizes.shape)
            if recover(graph, terms[module], sizes, linear):
                changed += 1
                del terms[module]  # another call of it may read the result, an operand from now on
        return changed


def is_attention(op: Operator) -> bool:
    return op.module is not None and op.module[1] == CLASS


def is_made_by(module: tuple[str, str] | None, op: Operator) -> bool:
    return op.module == module


def recover(graph: Graph, terms: Terms, sizes: StandIns, linear: Operator) -> bool:
    """Write a module for the attention that ends with this linear function, if one does."""
    try:
        calls = list(guesses(terms, linear))
    except NoAttentionError:
        return False
    for call in calls:
        try:
            output, weights = attend(terms, call)
        except LayoutError:
            continue
        read = [operand for operand in terms.holders(weights) if operand.consumers]
        masked = call.attn_mask is not None or call.key_padding_mask is not None
        for made in terms.holders(output):
            for averaged in (*read, sizes.dims(weights.shape) if masked and weights else None):
                if write(graph, call, linear, made, averaged):
                    return True
    return False


# --- guessing


class NoAttentionError(Exception):
    """The operators are not those of an attention."""


def guesses(terms: Terms, linear: Operator) -> Iterator[Call]:
    """The calls that may have made the attention. Raises NoAttentionError."""
    end = expect(terms, terms.view(linear.outputs[0]), "linear")
    core = terms.term(end.inputs[0])
    need_weights = core.kind == "bmm"
    if need_weights:
        query, key, value, mask = weighed(terms, core)
    elif core.kind == "attention":
        query, key, value, *rest = core.inputs
        mask = rest[0] if rest else None
    else:
        raise NoAttentionError
    width = end.inputs[0].shape[-1]
    first, _, _ = projection(terms, query)
    second, bias_k, zero_k = projection(terms, key)
    third, bias_v, zero_v = projection(terms, value)
    linears = [first, second, third]
    in_weights = [whole(terms, terms.base(one.inputs[1])) for one in linears]
    biases = [whole(terms, terms.base(one.inputs[2])) for one in linears if len(one.inputs) > 2]
    call = Call(
        query=whole(terms, terms.base(first.inputs[0])),
        key=whole(terms, terms.base(second.inputs[0])),
        value=whole(terms, terms.base(third.inputs[0])),
        num_heads=width // query.shape[-1],
        weights=tuple(in_weights if len(set(in_weights)) > 1 else in_weights[:1]),
        bias=biases[0] if biases else None,
        out_weight=whole(terms, end.inputs[1]),
        out_bias=whole(terms, end.inputs[2]) if len(end.inputs) > 2 else None,
        bias_k=bias_k,
        bias_v=bias_v,
        add_zero_attn=zero_k and zero_v,
        need_weights=need_weights,
        projections=len(set(linears)),
    )
    for attn_mask, key_mask in mask_guesses(terms, mask):
        masked = call._replace(attn_mask=attn_mask, key_padding_mask=key_mask)
        yield masked
        if call.batched:
            yield masked._replace(batch_first=True)


def weighed(terms: Terms, core: Term) -> tuple[View, View, View, View | None]:
    """Query, key, value and mask of `softmax(query * scale @ key.T + mask) @ value`."""
    scores = expect(terms, expect(terms, core.inputs[0], "softmax").inputs[0], "add", "bmm")
    mask = None
    if scores.kind == "add":
        one, other = scores.inputs
        mask, product = (one, other) if terms.term(other).kind == "bmm" else (other, one)
        scores = expect(terms, product, "bmm")
    query = expect(terms, scores.inputs[0], "multiply").inputs[0]
    return query, scores.inputs[1].permute(0, 2, 1), core.inputs[1], mask


def projection(terms: Terms, view: View) -> tuple[Term, Operand | None, bool]:
    """The linear function behind a view, the bias that follows it, and whether zeros do."""
    term, bias, zeros = terms.term(view), None, False
    while term.kind == "cat":
        last = terms.term(term.inputs[-1])
        zeros = zeros or last.kind == "number"
        bias = bias or last.operand
        term = terms.term(term.inputs[0])
    if term.kind != "linear":
        raise NoAttentionError
    return term, bias, zeros


def mask_guesses(
    terms: Terms, mask: View | None
) -> Iterator[tuple[Operand | None, Operand | None]]:
    """Which operands may be the mask of the attention, and which the one of the padded keys."""
    operands = terms.operands(mask) if mask is not None else []
    if len(operands) > 2:
        raise NoAttentionError
    one, other = [*operands, None, None][:2]
    yield one, other
    yield other, one


def expect(terms: Terms, view: View | None, *kinds: str) -> Term:
    if view is None or terms.term(view).kind not in kinds:
        raise NoAttentionError
    return terms.term(view)


def whole(terms: Terms, view: View) -> Operand:
    operand = terms.operand(view)
    if operand is None:
        raise NoAttentionError
    return operand


# --- what the module does


def attend(terms: Terms, call: Call) -> tuple[View, View | None]:
    """The output and the averaged weights, as torch.nn.functional.multi_head_attention_forward.

    Raises LayoutError for arguments that do not fit.
    """
    inputs = [batched(terms, call, operand) for operand in (call.query, call.key, call.value)]
    query, key, value = project(terms, call, inputs)
    length, batch, width = query.shape
    heads, depth = call.num_heads, width // call.num_heads
    mask, padding = canonical(terms, call.attn_mask), canonical(terms, call.key_padding_mask)
    if mask is not None and len(mask.shape) == 2:
        mask = mask.reshape(1, *mask.shape)
    if mask is not None and len(mask.shape) != 3:
        raise LayoutError(f"a mask of {len(mask.shape)} dims")
    if call.bias_k is not None and call.bias_v is not None:
        key = append(terms, key, known(terms, call.bias_k).expand(1, batch, width), 0)
        value = append(terms, value, known(terms, call.bias_v).expand(1, batch, width), 0)
        mask, padding = padded(terms, mask), padded(terms, padding)
    query = query.reshape(length, batch * heads, depth).permute(1, 0, 2)
    key = key.reshape(key.shape[0], batch * heads, depth).permute(1, 0, 2)
    value = value.reshape(value.shape[0], batch * heads, depth).permute(1, 0, 2)
    if call.add_zero_attn:
        zeros = terms.fill(0.0, (batch * heads, 1, depth))
        key, value = append(terms, key, zeros, 1), append(terms, value, zeros, 1)
        mask, padding = padded(terms, mask), padded(terms, padding)
    source = key.shape[1]
    if padding is not None:
        padding = padding.reshape(batch, 1, 1, source).expand(batch, heads, 1, source)
        padding = padding.reshape(batch * heads, 1, source)
        mask = padding if mask is None else terms.add(mask, padding)
    result, weights = (weigh if call.need_weights else fuse)(
        terms, (query, key, value), mask, batch
    )
    output = terms.linear(result, known(terms, call.out_weight), optional(terms, call.out_bias))
    output = output.reshape(length, batch, output.shape[-1])
    if not call.batched:
        return output.select(1, 0), weights and weights.select(0, 0)
    return output.permute(1, 0, 2) if call.batch_first else output, weights


def weigh(
    terms: Terms, parts: tuple[View, View, View], mask: View | None, batch: int
) -> tuple[View, View | None]:
    """The heads' results, side by side in rows, and their weights averaged over the heads."""
    query, key, value = parts
    rows, length, depth = query.shape
    scores = terms.bmm(terms.multiply(query, math.sqrt(1.0 / depth)), key.permute(0, 2, 1))
    if mask is not None:
        scores = terms.add(mask, scores)
    weights = terms.apply("softmax", scores.shape, [scores], -1)
    result = terms.bmm(weights, value).permute(1, 0, 2)
    by_head = weights.reshape(batch, rows // batch, length, key.shape[1])
    averaged = terms.apply("mean", (batch, length, key.shape[1]), [by_head], 1)
    return result.reshape(length * batch, rows // batch * depth), averaged


def fuse(
    terms: Terms, parts: tuple[View, View, View], mask: View | None, batch: int
) -> tuple[View, View | None]:
    """The heads' results, side by side in rows."""
    rows, length, depth = parts[0].shape
    heads, source = rows // batch, parts[1].shape[1]
    if mask is not None:
        one = mask.shape[0] == 1
        mask = mask.reshape(1 if one else batch, 1 if one else heads, mask.shape[1], source)
    views = [part.reshape(batch, heads, part.shape[1], depth) for part in parts]
    views += [mask] if mask is not None else []
    result = terms.apply("attention", views[0].shape, views, False, None)
    return result.permute(2, 0, 1, 3).reshape(length * batch, heads * depth), None


def project(terms: Terms, call: Call, inputs: list[View]) -> list[View]:
    """Query, key and value, of inputs as (length, batch, features)."""
    width = inputs[0].shape[-1]
    bias = optional(terms, call.bias)
    weights = [known(terms, weight) for weight in call.weights]
    if len(weights) == 3:
        biases = [bias and bias.narrow(0, width * place, width) for place in range(3)]
        return list(map(terms.linear, inputs, weights, biases))
    taken: list[View] = []
    for count in {1: (3,), 2: (1, 2), 3: (1, 1, 1)}[call.projections]:
        start = width * len(taken)
        part = weights[0].narrow(0, start, width * count)
        projected = terms.linear(
            inputs[len(taken)], part, bias and bias.narrow(0, start, width * count)
        )
        parts = projected.reshape(*projected.shape[:-1], count, width)
        taken += (parts.select(2, index) for index in range(count))
    return taken


def batched(terms: Terms, call: Call, operand: Operand) -> View:
    """An input as (length, batch, features)."""
    view = known(terms, operand)
    if not call.batched:
        return view.reshape(view.shape[0], 1, *view.shape[1:])
    return view.permute(1, 0, 2) if call.batch_first else view


def known(terms: Terms, operand: Operand) -> View:
    view = terms.view(operand)
    assert view is not None
    return view


def optional(terms: Terms, operand: Operand | None) -> View | None:
    return None if operand is None else known(terms, operand)


def canonical(terms: Terms, operand: Operand | None) -> View | None:
    """A mask to add: minus infinity where a boolean one is true."""
    view = optional(terms, operand)
    if view is None or operand is None or operand.dtype != "bool":
        return view
    return terms.apply("choose", view.shape, [view], -math.inf, 0.0)


def append(terms: Terms, view: View, more: View, dim: int) -> View:
    shape = list(view.shape)
    shape[dim] += more.shape[dim]
    return terms.apply("cat", shape, [view, more], dim)


def padded(terms: Terms, mask: View | None) -> View | None:
    """A mask that lets one more key be seen."""
    if mask is None:
        return None
    return terms.apply("pad", (*mask.shape[:-1], mask.shape[-1] + 1), [mask], (0, 1), 0)


# --- writing


def write(
    graph: Graph, call: Call, last: Operator, output: Operand, weights: Operand | Shape | None
) -> bool:
    """Put a module in the place of the operators between its inputs and its outputs.

    `weights` is the operand that holds them, or the shape of a new one. False, with nothing
    changed, where other operators read what is in between.
    """
    inputs = [call.query, call.key, call.value]
    named = {"attn_mask": call.attn_mask, "key_padding_mask": call.key_padding_mask}
    masks = {name: operand for name, operand in named.items() if operand is not None}
    outputs = [output, weights] if isinstance(weights, Operand) else [output]
    inside = region(outputs, {*inputs, *masks.values(), *worked_out_sizes(graph)})
    if inside is None or last not in inside:
        return False
    attrs = {name: operand.stored for name, operand in stored(call).items()}
    if sum(op.type == "F.softmax" for op in inside) > 1 or not all(attrs.values()):
        return False
    if call.key is call.value:
        inputs = inputs[:1] if call.query is call.key else inputs[:2]
    assert last.module is not None
    if isinstance(weights, tuple):
        outputs.append(graph.fresh(f"{output.name}_weights", weights, call.query.dtype))
    op = graph.add(
        "nn.MultiheadAttention",
        last.module[0],
        [*inputs, *masks.values()],
        outputs,
        input_names=[*[""] * len(inputs), *masks] if masks else [],
        params=params(call),
        attrs={name: tensor for name, tensor in attrs.items() if tensor is not None},
        before=output.producer,
    )
    op.where, op.module = last.where, last.module
    graph.remove_all(inside)
    return True


def worked_out_sizes(graph: Graph) -> set[Operand]:
    """The operands that are lists of sizes and no tensors."""
    made = (operand for op in graph.of_type("pnnx.Expression") for operand in op.outputs)
    return {operand for operand in made if operand.shape is None}


def stored(call: Call) -> dict[str, Operand]:
    """The tensors that the module holds, by its names for them."""
    names = ["in_proj_weight"]
    if len(call.weights) == 3:
        names = ["q_proj_weight", "k_proj_weight", "v_proj_weight"]
    found = {
        **dict(zip(names, call.weights, strict=True)),
        "in_proj_bias": call.bias,
        "out_proj.weight": call.out_weight,
        "out_proj.bias": call.out_bias,
        "bias_k": call.bias_k,
        "bias_v": call.bias_v,
    }
    return {name: operand for name, operand in found.items() if operand is not None}


def params(call: Call) -> dict[str, Param]:
    """The arguments that the module is made with; pnnx writes batch_first only where it is true."""
    found: dict[str, Param] = {
        "add_bias_kv": call.bias_k is not None,
        "add_zero_attn": call.add_zero_attn,
        "bias": call.bias is not None,
        "embed_dim": (call.query.shape or ())[-1],
        "kdim": (call.key.shape or ())[-1],
        "num_heads": call.num_heads,
        "vdim": (call.value.shape or ())[-1],
    }
    return {**found, "batch_first": True} if call.batch_first else found
