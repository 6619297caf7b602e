"""Which lines differ, against what the files themselves say."""

from __future__ import annotations

import tempfile
from difflib import unified_diff
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from repositories import Repository

from orchestrator.prepush.diff import NONE, Lines, changes, lines

LINES = st.lists(st.sampled_from(["a", "b", "-- a/x", "++ b/x", "@@ -1 +1 @@", "\x0c", ""]))


@given(LINES, LINES)
def test_what_is_left_beside_the_changed_lines_is_the_same(old: list[str], new: list[str]) -> None:
    found = lines(unified_diff(old, new, "a", "b", n=0, lineterm=""))
    kept = [line for number, line in enumerate(old, 1) if number not in found.before]
    assert kept == [line for number, line in enumerate(new, 1) if number not in found.after]
    assert max(found.before, default=0) <= len(old)
    assert max(found.after, default=0) <= len(new)


def test_files_of_a_real_difference() -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = Repository(Path(folder))
        odd = made.folder / "ä b.py"
        odd.write_text("1\n2\n3")
        (made.folder / "image.png").write_bytes(b"\x00\x01")
        before = made.commit(kept="1", gone="1\n2\n", moved="x\n" * 20)
        odd.write_text("1\n2\n3\n")
        (made.folder / "image.png").write_bytes(b"\x00\x02")
        (made.folder / "gone.py").unlink()
        (made.folder / "moved.py").rename(made.folder / "there.py")
        after = made.commit()
        assert changes(made.git, before, after) == {
            "gone.py": Lines(frozenset({1, 2}), frozenset()),
            "image.png": NONE,
            "moved.py": Lines(frozenset(range(1, 21)), frozenset()),
            "there.py": Lines(frozenset(), frozenset(range(1, 21))),
            "ä b.py": Lines(frozenset({3}), frozenset({3})),
        }
