"""What git's hook is told, for every kind of push, on real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest
from repositories import WHO, Repository

from orchestrator.errors import UsageError
from orchestrator.prepush import refs
from orchestrator.prepush.diff import changes
from orchestrator.prepush.refs import Pushed

ZERO = "0" * 40


@pytest.fixture
def made(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def hook(made: Repository, *lines: str, remote: str = "origin") -> list[Pushed]:
    return refs.of_hook(made.git, lines, remote)


def test_a_branch_is_compared_with_what_the_remote_has(made: Repository) -> None:
    one, two = made.commit(a="1"), made.commit(a="2")
    assert hook(made, f"refs/heads/main {two} refs/heads/main {one}") == [Pushed(two, one)]


def test_a_deleted_branch_has_nothing_to_test(made: Repository) -> None:
    one = made.commit(a="1")
    assert hook(made, f"(delete) {ZERO} refs/heads/old {one}\n") == []
    assert hook(made) == []


def test_a_new_branch_is_compared_with_the_nearest_one_of_the_remote(made: Repository) -> None:
    one = made.commit(a="1")
    made.push("HEAD:main")
    two = made.commit(a="2")
    made.push("HEAD:other")
    three = made.commit(a="3")
    line = f"refs/heads/new {three} refs/heads/new {ZERO}"
    assert hook(made, line) == [Pushed(three, two)]
    assert hook(made, line, remote="https://example.org/r.git") == [Pushed(three, two)]
    made.git("update-ref", "-d", "refs/remotes/origin/other")
    assert hook(made, line) == [Pushed(three, one)]


def test_an_empty_remote_has_nothing_to_compare_with(made: Repository) -> None:
    one = made.commit(a="1")
    assert hook(made, f"refs/heads/main {one} refs/heads/main {ZERO}") == [Pushed(one, "")]


def test_unrelated_histories_have_nothing_to_compare(made: Repository) -> None:
    made.commit(a="1")
    made.push("HEAD:main")
    made.git("checkout", "--quiet", "--orphan", "other")
    two = made.commit(a="2")
    assert hook(made, f"refs/heads/other {two} refs/heads/other {ZERO}") == [Pushed(two, "")]


def test_a_tag_is_its_commit_and_one_commit_is_tested_once(made: Repository) -> None:
    one, two = made.commit(a="1"), made.commit(a="2")
    made.git(*WHO, "tag", "--annotate", "v1", "--message", "m")
    tag = made.git("rev-parse", "v1")
    assert tag != two
    lines = [
        f"refs/tags/v1 {tag} refs/tags/v1 {one}",
        f"refs/heads/main {two} refs/heads/main {one}",
    ]
    assert hook(made, *lines) == [Pushed(two, one)]


def test_a_tag_of_a_file_has_nothing_to_test(made: Repository) -> None:
    made.commit(a="1")
    blob = made.git("rev-parse", "HEAD:a.py")
    assert hook(made, f"refs/tags/v1 {blob} refs/tags/v1 {ZERO}") == []


def test_a_forced_push_is_compared_with_what_it_replaces(made: Repository) -> None:
    one = made.commit(a="1", b="same")
    two = made.commit(a="2")
    made.git("reset", "--quiet", "--hard", one)
    three = made.commit(b="other")
    pushed = hook(made, f"refs/heads/main {three} refs/heads/main {two}")
    assert pushed == [Pushed(three, two)]
    assert set(changes(made.git, two, three)) == {"a.py", "b.py"}


def test_what_the_remote_has_may_be_unknown_here(made: Repository) -> None:
    one = made.commit(a="1")
    made.push("HEAD:main")
    two = made.commit(a="2")
    unknown = "1234567890" * 4
    assert hook(made, f"refs/heads/main {two} refs/heads/main {unknown}") == [Pushed(two, one)]


def test_other_lines_are_refused(made: Repository) -> None:
    with pytest.raises(UsageError, match="4 words"):
        hook(made, "refs/heads/main")


def test_pre_commit_tells_by_variables(made: Repository) -> None:
    one, two = made.commit(a="1"), made.commit(a="2")
    told = {"PRE_COMMIT_FROM_REF": one, "PRE_COMMIT_TO_REF": two}
    assert refs.of_pre_commit(made.git, told) == [Pushed(two, one)]
    assert refs.of_pre_commit(made.git, {}) is None
    alone = {"PRE_COMMIT_LOCAL_BRANCH": "refs/heads/main", "PRE_COMMIT_REMOTE_NAME": "origin"}
    assert refs.of_pre_commit(made.git, alone) == [Pushed(two, "")]


def test_by_hand_head_is_compared_with_its_upstream_or_main(made: Repository) -> None:
    one = made.commit(a="1")
    with pytest.raises(UsageError, match="nowhere is no commit here"):
        refs.of_branch(made.git, "nowhere")
    made.git("checkout", "--quiet", "-b", "mine")
    two = made.commit(a="2")
    assert refs.of_branch(made.git, None) == [Pushed(two, one)]
    made.push("--set-upstream", "mine")
    three = made.commit(a="3")
    assert refs.of_branch(made.git, None) == [Pushed(three, two)]
    assert refs.of_branch(made.git, one) == [Pushed(three, one)]


def test_without_upstream_and_main_the_mend_is_told(made: Repository) -> None:
    made.git("checkout", "--quiet", "-b", "mine")
    made.commit(a="1")
    with pytest.raises(UsageError, match="--base"):
        refs.of_branch(made.git, None)
