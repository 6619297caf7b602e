"""Lines of entries and keys: the same things as tomllib sees, whatever strings hold."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.expectations.toml_lines import Lines

tricky = st.lists(
    st.sampled_from(
        ["[[expect]]", "\n", "key = 1", "#", '"', "'", "\\", " ", "é", "[x]", "=", "''"]
    ),
    max_size=8,
).map("".join)


def basic(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n") + '"'


def multiline(text):
    return '"""\n' + text.replace("\\", "\\\\").replace('"', '\\"') + '"""'


def literal(text):
    return "'" + text.replace("'", "").replace("\n", "") + "'"


def multiline_literal(text):
    return "'''\n" + text.replace("'", "") + "'''"


value = st.one_of(*(tricky.map(form) for form in (basic, multiline, literal, multiline_literal)))
comment = tricky.map(lambda text: "# " + text.replace("\n", " "))
entries = st.lists(
    st.tuples(
        st.sampled_from(["[[expect]]", "  [[ expect ]]", "[[expect]] # [[expect]]"]),
        st.dictionaries(st.sampled_from(["a", "b-c", "d_1"]), value),
        comment,
    ),
    max_size=4,
)


@given(entries)
def test_every_header_and_key_is_found_on_its_line(entries):
    text = ""
    lines = []

    def add(part):
        nonlocal text
        line = text.count("\n") + 1
        text += part + "\n"
        return line

    for header, keys, remark in entries:
        add(remark)
        lines.append({"": add(header)})
        for key, written in keys.items():
            lines[-1][key] = add(f"{key} = {written}  {remark}")
    assert len(tomllib.loads(text).get("expect", [])) == len(entries)
    found = Lines(text, "expect")
    assert found.foreign is None
    assert found.entries == lines
