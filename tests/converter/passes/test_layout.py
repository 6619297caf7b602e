"""Layouts against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.passes.layout import Layout, LayoutError, contiguous

SHAPES = [(2, 3, 4), (6, 4), (24,), (4, 3, 2), (2, 2, 6), (1, 8, 3), (2, 3, 2, 2), (24, 1)]


def places(layout: Layout) -> np.ndarray:
    """The place of each element, worked out from the atoms."""
    found = np.full((), layout.offset)
    for size, stride in layout.atoms:
        found = found[..., None] + np.arange(size) * stride
    return found.reshape(layout.shape)


@st.composite
def moves(draw):
    """A chain of moves: the layout that it leads to, and the elements that NumPy moved."""
    shape = draw(st.sampled_from(SHAPES))
    layout, array = contiguous(shape), np.arange(math.prod(shape)).reshape(shape)
    for _ in range(draw(st.integers(1, 5))):
        try:
            layout, array = move(draw, layout, array)
        except LayoutError:
            break
    return layout, array


def move(draw, layout, array):
    kind = draw(st.sampled_from(("reshape", "permute", "select", "narrow", "expand")))
    if kind == "reshape":
        target = draw(st.sampled_from([s for s in SHAPES if math.prod(s) == array.size] + [(-1,)]))
        array = array.reshape(target)
        return layout.reshape(array.shape), array
    if kind == "permute":
        order = draw(st.permutations(range(array.ndim)))
        return layout.permute(order), array.transpose(order)
    if kind == "expand":
        sizes = [draw(st.integers(1, 3)) if size == 1 else size for size in array.shape]
        target = (draw(st.integers(1, 2)), *sizes)
        return layout.expand(target), np.broadcast_to(array, target)
    if not array.ndim:
        return layout, array
    dim = draw(st.integers(0, array.ndim - 1))
    start = draw(st.integers(0, array.shape[dim] - 1))
    if kind == "select":
        return layout.select(dim, start), array.take(start, dim)
    length = draw(st.integers(1, array.shape[dim] - start))
    return layout.narrow(dim, start, length), array.take(range(start, start + length), dim)


@given(moves())
def test_the_places_are_those_of_the_elements(moved):
    layout, array = moved
    assert np.array_equal(places(layout), array)


@given(moves(), moves())
def test_equal_elements_have_equal_layouts(one, other):
    (layout, array), (second, elements) = one, other
    assert (layout == second) == np.array_equal(array, elements)


def test_a_dim_that_ends_within_an_atom_is_refused():
    crossed = contiguous((2, 3)).permute((1, 0)).reshape((2, 3))
    for ask in (
        lambda: crossed.permute((1, 0)),
        lambda: crossed.select(0, 1),
        lambda: crossed.narrow(1, 0, 2),
        lambda: crossed.expand((2, 2, 3)),
    ):
        with pytest.raises(LayoutError):
            ask()


def test_two_ways_to_the_same_elements():
    x = contiguous((5, 2, 3, 16))
    packed = x.permute((2, 0, 1, 3)).select(0, 1)
    sliced = x.reshape((5, 2, 48)).narrow(2, 16, 16)
    assert packed == sliced
