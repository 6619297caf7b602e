"""Work out operators of known tensors with NumPy, where it gives the bits that torch gives.

Moving, comparing and converting elements, whole numbers, and the four operations that IEEE 754
rounds correctly are the same everywhere. Sums of floats, powers, roots, `exp` and the like depend
on the kernel (torch's square roots differ from NumPy's in a last bit): they are not here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from converter import rules
from converter.ir import DTYPES, Array, Operator, Param
from converter.passes.adjacent import permutation
from converter.passes.evaluated_shapes import contradicted
from converter.passes.formula import Function, Place, Tree, parse

Arrays = Sequence[Array]
Evaluator = Callable[[Operator, dict[str, Array]], Arrays]

EVALUATORS: dict[str, Evaluator] = {}
"""By type: the outputs of an operator, of its inputs by name or, where they have none, by place."""

CHECKED: set[str] = set()
"""Those that may raise EvaluationError, depending on the values."""


class EvaluationError(Exception):
    """NumPy and torch may differ for these values, or torch refuses them."""


def evaluate(op: Operator, inputs: Arrays) -> Arrays:
    """The outputs of an operator. Raises EvaluationError."""
    names = dict(enumerate(op.input_names))
    named = {names.get(place) or str(place): array for place, array in enumerate(inputs)}
    try:
        evaluator = EVALUATORS[op.type]
        rules.went_through(rules.named(evaluator.__module__, evaluator.__name__))
        with np.errstate(all="ignore"):
            results = evaluator(op, named)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise EvaluationError(str(error)) from None
    for result, operand in zip(results, op.outputs, strict=True):
        if result.shape != operand.shape:
            raise contradicted(op, result.shape)
        if result.dtype != DTYPES.get(operand.dtype or ""):
            raise EvaluationError(f"{result.dtype} is not {operand.dtype}")
    return results


def evaluates(*types: str, checked: bool = False) -> Callable[[Evaluator], Evaluator]:
    def decorate(evaluator: Evaluator) -> Evaluator:
        EVALUATORS.update(dict.fromkeys(types, evaluator))
        if checked:
            CHECKED.update(types)
        return evaluator

    return decorate


def only(inputs: dict[str, Array]) -> Array:
    (array,) = inputs.values()
    return array


def output_shape(op: Operator, place: int = 0) -> tuple[int, ...]:
    shape = op.outputs[place].shape
    if shape is None or not all(isinstance(dim, int) for dim in shape):
        raise EvaluationError("the shape is dynamic")
    return tuple(int(dim) for dim in shape)


def output_dtype(op: Operator) -> np.dtype[Any]:
    return DTYPES[op.outputs[0].dtype or ""]


def integer(value: Param) -> int:
    if not isinstance(value, int):
        raise EvaluationError(f"{value!r} is not an int")
    return value


def integers(value: Param) -> list[int]:
    return [integer(item) for item in (value if isinstance(value, tuple) else (value,))]


# --- moving elements


@evaluates(
    "Tensor.contiguous",
    "Tensor.reshape",
    "Tensor.reshape_as",
    "Tensor.unflatten",
    "torch.flatten",
    "torch.squeeze",
    "torch.unsqueeze",
    "torch.clone",
)
def reshape(op: Operator, inputs: dict[str, Array]) -> Arrays:
    return [next(iter(inputs.values())).reshape(output_shape(op))]


@evaluates("Tensor.permute", "torch.transpose")
def permute(op: Operator, inputs: dict[str, Array]) -> Arrays:
    return [only(inputs).transpose(permutation(op))]


@evaluates("torch.t")
def t(op: Operator, inputs: dict[str, Array]) -> Arrays:
    return [only(inputs).T]


@evaluates("Tensor.expand", "Tensor.expand_as")
def expand(op: Operator, inputs: dict[str, Array]) -> Arrays:
    return [np.broadcast_to(next(iter(inputs.values())), output_shape(op))]


@evaluates("Tensor.repeat")
def repeat(op: Operator, inputs: dict[str, Array]) -> Arrays:
    return [np.tile(only(inputs), integers(op.params["sizes"]))]


@evaluates("Tensor.select")
def select(op: Operator, inputs: dict[str, Array]) -> Arrays:
    axis = integer(op.params["dim"])
    return [np.take(only(inputs), integer(op.params["index"]), axis)]


@evaluates("Tensor.slice")
def slice_(op: Operator, inputs: dict[str, Array]) -> Arrays:
    array, params = only(inputs), op.params
    index: list[slice] = [slice(None)] * array.ndim
    bounds = (integer(params[name]) for name in ("start", "end", "step"))
    index[integer(params["dim"])] = slice(*bounds)
    return [array[tuple(index)]]


@evaluates("torch.chunk", "torch.split", "torch.tensor_split")
def split(op: Operator, inputs: dict[str, Array]) -> Arrays:
    axis = integer(op.params["dim"])
    sizes = [output_shape(op, place)[axis] for place in range(len(op.outputs))]
    return np.split(only(inputs), np.cumsum(sizes)[:-1], axis)


@evaluates("torch.unbind")
def unbind(op: Operator, inputs: dict[str, Array]) -> Arrays:
    return list(np.moveaxis(only(inputs), integer(op.params["dim"]), 0))


@evaluates("torch.cat")
def cat(op: Operator, inputs: dict[str, Array]) -> Arrays:
    return [np.concatenate([*inputs.values()], integer(op.params["dim"]))]


@evaluates("torch.stack")
def stack(op: Operator, inputs: dict[str, Array]) -> Arrays:
    return [np.stack([*inputs.values()], integer(op.params["dim"]))]


@evaluates("torch.flip")
def flip(op: Operator, inputs: dict[str, Array]) -> Arrays:
    return [np.flip(only(inputs), tuple(integers(op.params["dims"])))]


@evaluates("torch.tril", "torch.triu")
def triangle(op: Operator, inputs: dict[str, Array]) -> Arrays:
    function = np.tril if op.type == "torch.tril" else np.triu
    return [function(only(inputs), integer(op.params["diagonal"]))]


@evaluates("F.pad")
def pad(op: Operator, inputs: dict[str, Array]) -> Arrays:
    array, amounts = only(inputs), integers(op.params["pad"])
    if op.params["mode"] != "constant" or min(amounts, default=0) < 0:
        raise EvaluationError("it does not pad with one value")
    value = cast(np.asarray(op.params["value"] or 0), array.dtype)
    widths = [(0, 0)] * (array.ndim - len(amounts) // 2)
    widths += [(amounts[n], amounts[n + 1]) for n in range(len(amounts) - 2, -1, -2)]
    return [np.pad(array, widths, constant_values=value)]


@evaluates("torch.index_select", "F.embedding", checked=True)
def rows(op: Operator, inputs: dict[str, Array]) -> Arrays:
    if op.type == "F.embedding":
        return [inputs["weight"][from_zero(inputs["input"])]]
    return [np.take(inputs["input"], from_zero(inputs["index"]), integer(op.params["dim"]))]


@evaluates("Tensor.index", checked=True)
def index(op: Operator, inputs: dict[str, Array]) -> Arrays:
    """The last inputs are those of the list of indices, None where a dim is taken whole."""
    source, *arrays = inputs.values()
    listed = op.input("expr").producer
    items = str(listed.params["expr"]).strip("[]").split(",") if listed is not None else []
    taken = tuple(arrays[int(item[1:])] if item[0] == "@" else slice(None) for item in items)
    places = [array for array in arrays if array.dtype.kind != "b"]
    if len(places) == len(arrays):
        whole = [
            size for size, one in zip(source.shape, taken, strict=False) if isinstance(one, slice)
        ]
        rows = np.broadcast_shapes(*(array.shape for array in places))
        if math.prod((*rows, *whole, *source.shape[len(taken) :])) != math.prod(output_shape(op)):
            raise contradicted(op, None)
    return [source[taken]]


@evaluates("torch.gather", checked=True)
def gather(op: Operator, inputs: dict[str, Array]) -> Arrays:
    array, index, axis = inputs["input"], inputs["index"], integer(op.params["dim"])
    part: list[slice] = [slice(size) for size in index.shape]
    part[axis] = slice(None)
    return [np.take_along_axis(array[tuple(part)], from_zero(index), axis)]


def from_zero(index: Array) -> Array:
    """torch takes no negative index here."""
    if index.size and index.min() < 0:
        raise EvaluationError("an index is negative")
    return index


@evaluates("torch.where")
def where(op: Operator, inputs: dict[str, Array]) -> Arrays:
    dtype = output_dtype(op)
    parts = [inputs.get(name, op.params.get(name)) for name in ("input", "other")]
    chosen = [cast(np.asarray(part), dtype) for part in parts]
    return [np.where(inputs["condition"], *chosen)]


@evaluates("Tensor.masked_fill")
def masked_fill(op: Operator, inputs: dict[str, Array]) -> Arrays:
    array = inputs["input"]
    value = inputs.get("value", op.params.get("value"))
    return [np.where(inputs["mask"], cast(np.asarray(value), array.dtype), array)]


@evaluates("Tensor.fill")
def fill(op: Operator, inputs: dict[str, Array]) -> Arrays:
    array = inputs.get("input", inputs.get("0"))
    assert array is not None
    return [np.full(array.shape, cast(np.asarray(op.params["value"]), array.dtype))]


@evaluates("Tensor.slice_copy", "torch.slice_scatter")
def slice_copy(op: Operator, inputs: dict[str, Array]) -> Arrays:
    """A copy of a tensor with another one in the place of a part."""
    source, params = inputs["self" if "self" in inputs else "input"], op.params
    result = source.copy()
    place: list[slice | int] = [slice(None)] * result.ndim
    bounds = (integer(params[name]) for name in ("start", "end", "step"))
    chosen = integer(params["select"]) if "select" in params else slice(*bounds)
    place[integer(params["dim"])] = chosen
    result[tuple(place)] = inputs["src"]
    return [result]


# --- converting them


@evaluates("Tensor.to", "Tensor.type_as", checked=True)
def to(op: Operator, inputs: dict[str, Array]) -> Arrays:
    return [cast(next(iter(inputs.values())), output_dtype(op))]


def cast(array: Array, dtype: np.dtype[Any]) -> Array:
    """Convert as torch does. Raises EvaluationError where C++ leaves open what comes out."""
    if array.dtype.kind == "c" and dtype.kind != "c":
        raise EvaluationError("complex numbers lose a part")
    if dtype.kind == "b":
        return np.not_equal(array, 0)
    if is_float(array.dtype) and dtype.kind in "iu":
        whole = np.trunc(array.astype(np.float64))
        limits = np.iinfo(dtype)
        if not np.all((whole >= limits.min) & (whole <= limits.max)):
            raise EvaluationError("a number is out of range")
    if is_float(dtype) and dtype.itemsize == 2 and array.dtype != dtype:
        array = array.astype(np.float32)  # torch rounds twice on the way to half precision
    return array.astype(dtype)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Also bfloat16, whose kind NumPy does not know."""
    return dtype in (DTYPES["f16"], DTYPES["bf16"], DTYPES["f32"], DTYPES["f64"])


# --- arithmetic

UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "neg": np.negative,
    "reciprocal": lambda x: x.dtype.type(1) / x,
    "round": np.round,
    "sign": lambda x: (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype),
    "square": lambda x: x * x,
    "trunc": np.trunc,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "div": np.divide,
    "max": np.maximum,
    "maximum": np.maximum,
    "min": np.minimum,
    "minimum": np.minimum,
    "mul": np.multiply,
    "sub": np.subtract,
}
BITWISE: dict[str, Callable[[Any, Any], Any]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
WHOLE: dict[str, Callable[[Any, Any], Any]] = {
    "floor_divide": np.floor_divide,
    "fmod": np.fmod,
    "remainder": np.remainder,
}


@evaluates("pnnx.Expression", checked=True)
def expression(op: Operator, inputs: dict[str, Array]) -> Arrays:
    """One function of tensors and numbers, computed in the result's type (halves in single)."""
    formula = parse(op)
    if not isinstance(formula, Function) or op.outputs[0].dtype is None:
        raise EvaluationError("it is no function of tensors")
    arrays = list(inputs.values())
    dtype = output_dtype(op)
    if dtype.kind in "bc" and formula.name not in BITWISE:
        raise EvaluationError(f"{formula.name} of {dtype}")
    work = np.dtype(np.float32) if is_float(dtype) and dtype.itemsize == 2 else dtype
    operands = [cast(argument(tree, arrays, dtype), work) for tree in formula.arguments]
    return [np.asarray(function(formula.name, operands)(*operands)).astype(dtype)]


def argument(tree: Tree, arrays: Arrays, dtype: np.dtype[Any]) -> Array:
    """A tensor, or a number as a tensor without dims.

    Kernels differ in whether they round a number to half precision before they use it.
    """
    if isinstance(tree, Place):
        return arrays[tree.number]
    if not isinstance(tree, int | float):
        raise EvaluationError("it is more than one function")
    value = np.asarray(tree)
    if dtype.itemsize == 2 and is_float(dtype) and cast(value, dtype).astype(np.float64) != tree:
        raise EvaluationError(f"{tree} is not a number of half precision")
    return value


def function(name: str, operands: Arrays) -> Callable[..., Any]:
    whole = operands[0].dtype.kind in "iub"
    if name in WHOLE and whole and np.all(operands[1] != 0):
        return WHOLE[name]
    if name in BITWISE and whole:
        return BITWISE[name]
    if name == "pow" and operands[1].shape == () and operands[1] == 2 and not whole:
        return lambda x, _: x * x
    table: dict[str, Callable[..., Any]] = UNARY if len(operands) == 1 else dict(BINARY)
    if name not in table:
        raise EvaluationError(f"{name} is not the same everywhere")
    return table[name]


@evaluates("torch.bitwise_and", "torch.bitwise_or", "torch.bitwise_xor", checked=True)
def bitwise(op: Operator, inputs: dict[str, Array]) -> Arrays:
    one, other = inputs["input"], inputs.get("other")
    if other is None or one.dtype != other.dtype:
        raise EvaluationError("the types differ")
    return [BITWISE[op.type.removeprefix("torch.bitwise_")](one, other)]


@evaluates("torch.clamp")
def clamp(op: Operator, inputs: dict[str, Array]) -> Arrays:
    """Of whole numbers; a bound of floats may be rounded."""
    array = only(inputs)
    bounds = {name: op.params[name] for name in ("min", "max") if op.params[name] is not None}
    if array.dtype.kind not in "iu":
        raise EvaluationError("it is of floats")
    for name, bound in bounds.items():
        limit = np.asarray(integer(bound)).astype(array.dtype)
        array = np.maximum(array, limit) if name == "min" else np.minimum(array, limit)
    return [array]


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "torch.eq": np.equal,
    "torch.ge": np.greater_equal,
    "torch.gt": np.greater,
    "torch.le": np.less_equal,
    "torch.lt": np.less,
    "torch.ne": np.not_equal,
    "torch.logical_and": np.logical_and,
    "torch.logical_or": np.logical_or,
    "torch.logical_xor": np.logical_xor,
}


@evaluates(*COMPARISONS, checked=True)
def compare(op: Operator, inputs: dict[str, Array]) -> Arrays:
    """Of tensors of one type, or of a tensor and a number of its kind."""
    one = inputs["input"]
    if "other" in inputs:
        other = inputs["other"]
        if other.dtype != one.dtype:
            raise EvaluationError("the types differ")
    else:
        given = op.params["other"]
        if is_float(one.dtype) != isinstance(given, float) and not isinstance(given, int):
            raise EvaluationError(f"{given!r} is of another kind")
        other = cast(np.asarray(given), one.dtype)
    return [COMPARISONS[op.type](one, other)]


@evaluates("torch.logical_not", "torch.bitwise_not", checked=True)
def negate(op: Operator, inputs: dict[str, Array]) -> Arrays:
    array = only(inputs)
    if op.type == "torch.logical_not":
        return [np.logical_not(array)]
    return [np.bitwise_not(array)]


@evaluates("torch.cumsum", checked=True)
def cumsum(op: Operator, inputs: dict[str, Array]) -> Arrays:
    array = only(inputs)
    if array.dtype.kind not in "iub":
        raise EvaluationError("a sum of floats depends on its order")
    return [np.cumsum(array, integer(op.params["dim"]), dtype=np.int64)]
