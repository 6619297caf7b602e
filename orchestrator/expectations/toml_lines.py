"""Where the entries and keys of a TOML table stand: tomllib tells values, not lines."""

from __future__ import annotations

import re

# Strings and comments are consumed whole, so that what looks like a header inside of them is none.
TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""'
    r"|'''.*?'''"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|^[ \t]*(?P<header>\[[^\n]*)"
    r"|^[ \t]*(?P<key>[A-Za-z0-9_-]+)[ \t]*=",
    re.DOTALL | re.MULTILINE,
)


class Lines:
    """One-based lines of the `[[NAME]]` headers of a text, of the keys below each, and of the first
    thing that is neither (`foreign`, None where there is none)."""

    def __init__(self, text: str, name: str) -> None:
        self.entries: list[dict[str, int]] = []
        self.foreign: int | None = None
        header = re.compile(rf"\[\[\s*{name}\s*\]\]\s*(#.*)?")
        line, seen = 1, 0
        for token in TOKEN.finditer(text):
            kind = token.lastgroup
            if kind is None:
                continue
            line += text.count("\n", seen, token.start(kind))
            seen = token.start(kind)
            if kind == "header" and header.fullmatch(token[kind]):
                self.entries.append({"": line})
            elif kind == "key" and self.entries:
                self.entries[-1].setdefault(token[kind], line)
            elif self.foreign is None:
                self.foreign = line

    def __len__(self) -> int:
        return len(self.entries)

    def of(self, entry: int, key: str = "") -> int:
        """The line of an entry's key, or of the entry where the key has none of its own."""
        places = self.entries[entry]
        return places.get(key, places[""])
