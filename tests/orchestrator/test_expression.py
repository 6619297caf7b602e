"""The language of -k: as Python reads the same words, where each part is a test of the name."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import UsageError
from orchestrator.expression import parse

NAMES = ["F_relu", "F_relu6", "nn_GRU", "nn_Conv2d", "torch_topk", "swin_t"]

part = st.sampled_from(["relu", "F_", "nn_", "gru", "swin", "6", "topk"])
expression = st.recursive(
    part,
    lambda inner: st.one_of(
        inner.map("not {}".format),
        inner.map("({})".format),
        st.tuples(inner, inner).map(" and ".join),
        st.tuples(inner, inner).map(" or ".join),
    ),
    max_leaves=8,
)


def chosen(text: str) -> list[str]:
    return list(filter(parse(text), NAMES))


@given(expression)
def test_means_what_python_means(text: str) -> None:
    def of_python(name: str) -> bool:
        words = r"\b(?!(?:not|and|or)\b)\w+"
        tests = re.sub(words, lambda word: str(word[0].lower() in name.lower()), text)
        return bool(eval(tests))

    assert chosen(text) == list(filter(of_python, NAMES))


def test_parts_match_anywhere_in_any_case() -> None:
    assert chosen("F_relu") == ["F_relu", "F_relu6"]
    assert chosen("nn_ or F_RELU6") == ["F_relu6", "nn_GRU", "nn_Conv2d"]
    assert chosen("not(relu)and not swin") == ["nn_GRU", "nn_Conv2d", "torch_topk"]


@pytest.mark.parametrize(
    "text", ["(relu", "relu)", "relu nn_", "and", "relu or", "not", "()", "relu and or x"]
)
def test_error_is_one_line_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert str(caught.value).startswith(f"-k {text!r}: ")
    assert "write as in: -k" in str(caught.value)
    assert "\n" not in str(caught.value)
