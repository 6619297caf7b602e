"""Every way in which a table can be wrong: one line with its file, line, and mend."""

from __future__ import annotations

import re

import pytest
from expectation_tables import CASES, CELLS, ENTRY, entry, load

from orchestrator.errors import UsageError
from orchestrator.expectations import TableError, load_tables

# The entry under test is the second: its header stands on line 11, its first key on line 12.
FIRST = entry(case="torch_topk")
HEADER = 11
LINE = {key: HEADER + number for number, key in enumerate(ENTRY, 1)}


def error(folder, second):
    with pytest.raises(TableError) as caught:
        load(folder, FIRST, second)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(f"{folder}/table.toml:{caught.value.line}: ")
    assert "; " in text, "no mend"
    return caught.value


@pytest.mark.parametrize(
    ("changes", "key", "message"),
    [
        ({"case": "F_relux"}, "case", "no case `F_relux`.*did you mean F_relu"),
        ({"case": "F_*"}, "case", "no case `F_[*]`"),
        ({"frontend": "onnx"}, "frontend", "`onnx`.*ts, pt2"),
        ({"target": "tflite"}, "target", "`tflite`.*pnnx, ncnn"),
        ({"outcome": "passed"}, "outcome", "`passed`.*failed, crashed, timed_out, skipped"),
        ({"outcome": "broken"}, "outcome", "`broken`"),
        ({"stage": "trace"}, "stage", "`trace`.*build, eager, export"),
        ({"diagnostic": ""}, "diagnostic", "empty"),
        ({"diagnostic": " \n "}, "diagnostic", "empty"),
        ({"reason": ""}, "reason", "empty"),
        ({"link": ""}, None, "`link` is empty"),
        ({"when": ""}, "when", "empty"),
        ({"when": "torch"}, "when", "`torch` is not a condition"),
        (
            {"when": "torch>=2.12 or platform==win32"},
            "when",
            "`torch>=2.12 or platform==win32`: there is no `or`; write an entry for each side",
        ),
        ({"when": "torch>=2,,<3"}, "when", "PEP 440"),
        ({"when": "torch>=two"}, "when", "PEP 440"),
        ({"when": "torch=2.12"}, "when", "not a condition"),
        ({"when": "torch>=2 and torch<3"}, "when", "twice.*comma"),
        ({"when": "torch>=2 and "}, "when", "PEP 440|not a condition"),
        ({"when": "torchvision>=0.28"}, "when", "no cell pins `torchvision`"),
        ({"when": "platform>=win32"}, "when", "== or !="),
        ({"when": "platform==windows"}, "when", "`windows` is no platform.*win32"),
        ({"when": "device==tpu"}, "when", "`tpu` is no device"),
        ({"when": "mkl==SSE4_2,AVX2"}, "when", "one word"),
        ({"cases": "F_relu"}, None, "unknown key `cases`.*did you mean case"),
    ],
)
def test_an_entry_names_the_line_of_its_key(tmp_path, changes, key, message):
    caught = error(tmp_path, entry(**changes))
    added = next(iter(changes.keys() - ENTRY.keys()), None)
    assert caught.line == (HEADER + len(ENTRY) + 1 if added else LINE[key])
    assert re.search(message, str(caught))


@pytest.mark.parametrize("key", ENTRY)
def test_a_missing_key_names_the_line_of_the_entry(tmp_path, key):
    caught = error(tmp_path, entry(**{key: None}))
    assert caught.line == HEADER
    assert f'`{key}` is missing; add {key} = "..."' in str(caught)


@pytest.mark.parametrize("value", ["3", "true", "['pt2']", "2026-01-01"])
def test_a_value_that_is_no_text(tmp_path, value):
    text = entry().replace('frontend = "pt2"', f"frontend = {value}")
    caught = error(tmp_path, text)
    assert caught.line == LINE["frontend"]
    assert "`frontend` is not a text" in str(caught)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[[expect]]\ncase = F_relu\n", HEADER + 1, "not TOML"),
        ('[[expect]]\ncase = "F_relu\n', HEADER + 1, "not TOML"),
        ("[[expect]]\ncase = 'a'\ncase = 'b'\n", HEADER + 2, "not TOML"),
        ('[[expect]]\nreason = """\nno end\n', HEADER + 2, "not TOML"),
        ("[[expect]]\ncase = " + "[" * 5000, HEADER + 1, "not TOML"),
        ("[[expects]]\ncase = 'a'\n", HEADER, "something else"),
        ("[other]\ncase = 'a'\n", HEADER, "something else"),
        (entry() + "[expect.more]\na = 'b'\n", HEADER + len(ENTRY) + 1, "something else"),
    ],
)
def test_text_that_is_no_table(tmp_path, text, line, message):
    caught = error(tmp_path, text)
    assert (caught.line, message in str(caught)) == (line, True)


@pytest.mark.parametrize(
    "text", ["skip = ['F_relu']\n", "expect = [{case = 'F_relu'}]\n", '"expect" = 3\n']
)
def test_entries_in_another_form(tmp_path, text):
    with pytest.raises(TableError, match=r"table.toml:1: something else than an \[\[expect\]\]"):
        load(tmp_path, text)


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "table.toml").write_bytes(b"# a\n# b\xff\n")
    with pytest.raises(TableError, match=r"table\.toml:2: not UTF-8"):
        load_tables(tmp_path, CASES, CELLS)


def test_a_folder_in_place_of_a_file(tmp_path):
    (tmp_path / "table.toml").mkdir()
    with pytest.raises(TableError, match=r"table\.toml:1: not readable"):
        load_tables(tmp_path, CASES, CELLS)


def test_a_table_error_is_a_usage_error():
    assert issubclass(TableError, UsageError)
