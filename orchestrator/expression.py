"""The language of `-k`, as pytest's users know it: parts of names, `and`, `or`, `not`, `()`."""

from __future__ import annotations

import re
from collections.abc import Callable

from orchestrator.errors import UsageError

Match = Callable[[str], bool]

TOKEN = re.compile(r"\s*([()]|[^\s()]+)")


def parse(text: str) -> Match:
    """Return a test of names: a part matches wherever it stands in a name, in any case.

    Raises UsageError for what is not an expression.
    """
    return _Parser(text).expression()


class _Parser:
    """Recursive descent: or < and < not < part."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = TOKEN.findall(text.rstrip())

    def expression(self) -> Match:
        match = self.any_of()
        if self.tokens:
            raise self.error(f"{self.tokens[0]!r} is too much")
        return match

    def error(self, what: str) -> UsageError:
        return UsageError(
            f"-k {self.text!r}: {what}; write as in: -k 'F_relu or (nn_ and not GRU)'"
        )

    def take(self, token: str) -> bool:
        if self.tokens and self.tokens[0] == token:
            del self.tokens[0]
            return True
        return False

    def any_of(self) -> Match:
        first = self.all_of()
        if not self.take("or"):
            return first
        rest = self.any_of()
        return lambda name: first(name) or rest(name)

    def all_of(self) -> Match:
        first = self.inverse()
        if not self.take("and"):
            return first
        rest = self.all_of()
        return lambda name: first(name) and rest(name)

    def inverse(self) -> Match:
        if self.take("not"):
            inner = self.inverse()
            return lambda name: not inner(name)
        if self.take("("):
            inner = self.any_of()
            if not self.take(")"):
                raise self.error("a parenthesis is not closed")
            return inner
        return self.part()

    def part(self) -> Match:
        if not self.tokens or self.tokens[0] in ("and", "or", ")"):
            raise self.error("part of a name is missing")
        part = self.tokens.pop(0).lower()
        return lambda name: part in name.lower()
