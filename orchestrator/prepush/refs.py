"""Which commits a push brings, and onto what: from the lines that git gives a pre-push hook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from orchestrator.errors import UsageError
from orchestrator.prepush.git import Git


class Pushed(NamedTuple):
    """A commit that is pushed, and the commit that the remote has before it; "" where none is
    known."""

    commit: str
    base: str


def of_hook(git: Git, lines: Iterable[str], remote: str) -> list[Pushed]:
    """Each distinct commit of `<local ref> <local oid> <remote ref> <remote oid>` lines, of which a
    deleted branch has none. Raises UsageError for other lines."""
    found: dict[Pushed, None] = {}
    for line in filter(None, map(str.strip, lines)):
        words = line.split()
        if len(words) != 4:
            raise UsageError(f"the hook was given {line!r}; git gives refs and commits: 4 words")
        _, local, _, before = words
        if not _is_zero(local) and (commit := _commit(git, local)):
            found[Pushed(commit, _base(git, commit, before, remote))] = None
    return list(found)


def of_pre_commit(git: Git, variables: Mapping[str, str]) -> list[Pushed] | None:
    """What pre-commit tells by variables, as it takes the lines itself; None where it did not. Of a
    branch that shares no commit with the remote it tells the name alone."""
    commit = variables.get("PRE_COMMIT_TO_REF") or variables.get("PRE_COMMIT_LOCAL_BRANCH")
    if not commit:
        return None
    before = variables.get("PRE_COMMIT_FROM_REF", "0")
    remote = variables.get("PRE_COMMIT_REMOTE_NAME", "")
    return of_hook(git, [f"- {commit} - {before}"], remote)


def of_branch(git: Git, base: str | None) -> list[Pushed]:
    """HEAD, onto a named commit, or else onto its upstream, or onto main. Raises UsageError."""
    commit = git("rev-parse", "HEAD^{commit}")
    for ref in [base] if base else ["@{upstream}", "main"]:
        if other := _commit(git, ref):
            return [Pushed(commit, git.ask("merge-base", commit, other) or other)]
    what = base or "this branch has no upstream, and `main`"
    raise UsageError(f"{what} is no commit here; name what the push goes onto with --base")


def _is_zero(oid: str) -> bool:
    return not oid.strip("0")


def _commit(git: Git, name: str) -> str:
    """The commit that a name means, or that a tag holds; "" for another kind of object."""
    return git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")


def _base(git: Git, commit: str, before: str, remote: str) -> str:
    """What the remote has: its ref's commit where this repository knows it (also one that is not
    below `commit`, in a forced push), or else the nearest commit of its branches."""
    if not _is_zero(before) and (known := _commit(git, before)):
        return known
    patterns = [f"refs/remotes/{remote}"] if remote else []
    for pattern in [*patterns, "refs/remotes"]:
        tips = git.ask("for-each-ref", "--format=%(objectname)", pattern).split()
        if tips:
            return git.ask("merge-base", commit, *tips)
    return ""
