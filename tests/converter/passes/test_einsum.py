"""Labels of einsum."""

from __future__ import annotations

import string

import numpy as np
import pytest
from graphs import assert_becomes, assert_stays, graph
from hypothesis import given
from hypothesis import strategies as st

from converter.passes.einsum import CanonicalEinsum, canonical


@pytest.mark.parametrize(
    ("equation", "written"),
    [
        ("bhid,dk->bhik", "ijkm,ml->ijkl"),
        ("ab,bc->ac", "ik,kj->ij"),
        ("ab, ca", "ij,ki"),
        ("ab->ba", "ji"),
        ("aab->ab", "iij->ij"),
        ("zz", "ii"),
        ("ij->", "ij->"),
        ("a,b->ba", "j,i->ij"),
        ("...c,dc->...d", "...c,dc->...d"),
        (f"{string.ascii_lowercase[:19]}->a", f"{string.ascii_lowercase[:19]}->a"),
    ],
)
def test_labels_are_what_pnnx_writes(equation, written):
    assert canonical(equation) == written


labels = st.text("abcxyzABZ", min_size=1, max_size=3)


@given(st.lists(labels, min_size=1, max_size=3), st.data())
def test_the_contraction_is_the_same(operands, data):
    letters = sorted(set("".join(operands)))
    equation = ",".join(operands)
    if data.draw(st.booleans()):
        kept = data.draw(st.lists(st.sampled_from(letters), unique=True))
        equation += "->" + "".join(kept)
    sizes = {letter: 2 + number % 2 for number, letter in enumerate(letters)}
    arrays = [
        np.arange(np.prod(shape)).reshape(shape)
        for shape in ([sizes[letter] for letter in operand] for operand in operands)
    ]
    renamed = np.einsum(canonical(equation), *arrays)
    assert np.array_equal(renamed, np.einsum(equation, *arrays))


def test_the_pass_renames_once():
    made = "pnnx.Input in 0 1 x\ntorch.einsum e 1 1 x y equation={}\npnnx.Output out 1 0 y"
    assert_becomes(CanonicalEinsum(), graph(made.format("ab->ba")), made.format("ji"))
    assert_stays(CanonicalEinsum(), made.format("ij->"))
