"""What is written in a table is what is read from it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path, PureWindowsPath

from expectation_tables import CASES, CELLS, ENTRY
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.expectations import Facts, load_tables
from orchestrator.expectations.read import WORDS, _Reader
from suites.trial import Trial

# TOML has no raw DEL, and its basic strings escape the rest as JSON does.
words = st.text(st.characters(exclude_characters="\x7f", exclude_categories=["Cs"]), min_size=1)
texts = words.filter(str.strip)
entries = st.fixed_dictionaries(
    {
        "when": st.sampled_from(["always", "torch>=2.12", "platform==linux and torch<3"]),
        "diagnostic": texts,
        "reason": texts,
        **{key: st.sampled_from(list(map(str, values))) for key, values in WORDS.items()},
    },
    optional={"link": texts},
)


@given(st.lists(entries, max_size=3), st.randoms())
def test_round_trip(written, random):
    blocks = []
    for case, fields in zip(CASES, written, strict=False):  # a case each: nothing overlaps
        items = list((ENTRY | fields | {"case": case}).items())
        random.shuffle(items)
        lines = [f"{key} = {json.dumps(text, ensure_ascii=False)}" for key, text in items]
        blocks.append("\n".join(["[[expect]]", *lines, ""]))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "t.toml").write_text("\n".join(blocks), encoding="utf-8", newline="")
        table = load_tables(Path(folder), CASES, CELLS)
    assert len(table.entries) == len(written)
    facts = Facts({"torch": "2.13.0"}, {"platform": "linux", "mkl": "native"})
    for case, fields in zip(CASES, written, strict=False):
        trial = Trial(case, "old", fields["frontend"], fields["target"])
        found = table.match(trial, facts)
        assert {key: getattr(found, key) for key in fields} == fields


def test_a_place_is_spelled_alike_on_every_system(tmp_path):
    """Reports of several machines are merged, and GitHub knows no backslashes."""
    file = tmp_path / "table.toml"
    file.write_text("[[expect]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in ENTRY.items()))
    reader = _Reader(file, CASES, {"torch", "transformers"})
    reader.name = PureWindowsPath(r"suites\expectations\table.toml")
    (fields,) = reader.tables()
    assert reader.entry(0, fields).place == "suites/expectations/table.toml:1"
