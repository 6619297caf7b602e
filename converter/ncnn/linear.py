"""Linear maps, matrix products and einsum."""

from __future__ import annotations

from string import ascii_letters

from converter.dims import product
from converter.ir import Attribute, Dim
from converter.ncnn.arithmetic import ADD, MUL, aligned, binary, broadcast
from converter.ncnn.blob import Blob
from converter.ncnn.layers import EINSUM, GEMM, INNER_PRODUCT, MAT_MUL
from converter.ncnn.op import Op
from converter.ncnn.reduction import SUM, reduce
from converter.ncnn.registry import ncnn
from converter.ncnn.shape import permute

BROADCAST_ROW = 4
"""How Gemm adds its C: one value for each column of the result."""


@ncnn("nn.Linear")
def linear_module(op: Op) -> Blob:
    return linear(op, op.blob(), op.attr("weight"), op.attr("bias") if op.flag("bias") else None)


@ncnn("F.linear")
def linear_function(op: Op) -> Blob:
    x, weight, bias = op.blob(), op.need("weight", 1), op.argument("bias", 2)
    stored_bias = None if bias is None else bias.values
    if weight.rank == 2 and weight.values is not None and (bias is None or stored_bias):
        return linear(op, x, weight.values, stored_bias)
    y = matmul(op, x, permute(op, weight, (1, 0)) if weight.rank == 2 else weight)
    return y if bias is None else binary(op, ADD, y, bias)


def linear(op: Op, x: Blob, weight: Attribute, bias: Attribute | None) -> Blob:
    """InnerProduct of a vector, Gemm of rows; the tensor is viewed as one of the two."""
    outputs, inputs = weight.shape
    if len(x.dims) == 1:
        x = x if x.batch != x.rank - 1 else op.lay(x, None)
        call = INNER_PRODUCT(
            num_output=outputs,
            bias_term=int(bias is not None),
            weight_data_size=weight.size,
            weight=weight,
            bias=bias,
        )
        return op.emit(call, x, shape=(*x.shape[:-1], outputs))
    x = op.free(x, x.rank - 1)
    shape = (*x.shape[:-1], outputs)
    rows = _as_rows(op, x)
    call = GEMM(
        transB=1,
        constantB=1,
        constantC=1,
        constantN=outputs,
        constantK=inputs,
        constant_broadcast_type_C=BROADCAST_ROW if bias is not None else -1,
        b=weight,
        c=bias,
    )
    made = op.emit(call, rows, shape=(*rows.shape[:-1], outputs))
    return op.view(made, shape, x.batch)


def _as_rows(op: Op, x: Blob) -> Blob:
    """A blob of rows: dims before the last as one, the batch aside."""
    if len(x.dims) == 2:
        return x
    rows = product(x.dims[:-1])
    if x.batch is None:
        return op.view(x, (rows, x.shape[-1]), None)
    if x.batch == 0:
        return op.view(x, (x.shape[0], rows, x.shape[-1]), 0)
    return op.view(x, (product(x.shape[:-1]), x.shape[-1]), None)


@ncnn("torch.mm", "torch.bmm", "torch.matmul")
def torch_matmul(op: Op) -> Blob:
    other = "other" if op.type == "torch.matmul" else "mat2"
    return matmul(op, op.need("input", 0), op.need(other, 1))


def matmul(op: Op, a: Blob, b: Blob) -> Blob:
    """torch.matmul. A vector is viewed as a matrix of one row or column, which is dropped after."""
    row, column = a.rank == 1, b.rank == 1
    if row:
        a = op.view(a, (1, *a.shape), None)
    if column:
        b = op.view(b, (*b.shape, 1), b.batch)
    a, b = op.free(a, a.rank - 2, a.rank - 1), op.free(b, b.rank - 2, b.rank - 1)
    lead = broadcast(op, a.shape[:-2], b.shape[:-2])
    a, b, batch = aligned(op, a, b, len(lead) + 2)
    shape = (*lead, a.shape[-2], b.shape[-1])
    made = op.emit(MAT_MUL(), a, b, shape=shape, batch=batch)
    kept = (*lead, *(() if row else shape[-2:-1]), *(() if column else shape[-1:]))
    return op.view(made, kept, batch if batch is not None and batch < len(kept) else None)


@ncnn("torch.addmm")
def addmm(op: Op) -> Blob:
    """beta * input + alpha * mat1 @ mat2"""
    product = matmul(op, op.need("mat1", 1), op.need("mat2", 2))
    return _scaled_sum(op, op.need("input", 0), product)


@ncnn("torch.baddbmm")
def baddbmm(op: Op) -> Blob:
    """beta * input + alpha * batch1 @ batch2"""
    product = matmul(op, op.need("batch1", 1), op.need("batch2", 2))
    return _scaled_sum(op, op.need("input", 0), product)


def _scaled_sum(op: Op, x: Blob, product: Blob) -> Blob:
    alpha, beta = op.number("alpha", 1.0), op.number("beta", 1.0)
    if alpha != 1:
        product = binary(op, MUL, product, alpha)
    if beta == 0:
        return product
    return binary(op, ADD, product, x if beta == 1 else binary(op, MUL, x, beta))


@ncnn("torch.einsum")
def einsum(op: Op) -> Blob:
    """ncnn's Einsum takes whole tensors, and letters from i on: the result's, then those summed."""
    terms, result = _terms(op)
    if any(len(set(term)) < len(term) for term in terms):
        op.refuse(f"equation {op.text('equation')}", "write each letter once in a term")
    if result:
        return _einsum(op, terms, result)
    # ncnn's has a result of at least one dim.
    letters = "".join(terms)
    if not letters:
        op.refuse("is of numbers alone", "multiply them")
    return reduce(op, SUM, _einsum(op, terms, letters[0]), (0,), keepdim=False)


def _terms(op: Op) -> tuple[list[str], str]:
    """The letters of each input and of the result, with some for the dims that `...` stands for."""
    text, arrow, result = op.text("equation").replace(" ", "").partition("->")
    if not arrow:  # what occurs once, in the order of the alphabet
        once = sorted(letter for letter in text if letter.isalpha() and text.count(letter) == 1)
        result = "..." * ("..." in text) + "".join(once)
    terms = text.split(",")
    counts = [
        op.blob(index).rank - len(term) + 3 if "..." in term else 0
        for index, term in enumerate(terms)
    ]
    free = "".join(letter for letter in ascii_letters if letter not in text)[: max(counts)]
    spelled = [
        term.replace("...", free[len(free) - count :])
        for term, count in zip(terms, counts, strict=True)
    ]
    return spelled, result.replace("...", free)


def _einsum(op: Op, terms: list[str], result: str) -> Blob:
    letters = dict.fromkeys(result + "".join(terms))
    named = {letter: chr(ord("i") + place) for place, letter in enumerate(letters)}
    equation = ",".join(terms) + "->" + result
    codes = tuple(ord(named.get(letter, letter)) for letter in equation)
    blobs = [op.lay(op.blob(index), None) for index in range(op.count)]
    sizes: dict[str, Dim] = {}
    for term, blob in zip(terms, blobs, strict=True):
        for letter, size in zip(term, blob.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                op.refuse(f"broadcasts {letter} in {equation}", "expand the tensor first")
    shape = tuple(sizes[letter] for letter in result)
    return op.emit(EINSUM(equation=codes), *blobs, shape=shape, batch=None)
