"""Diagnostics as reports show them: untrusted text made visible, cut, and alike ones grouped."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, TypeVar, cast

import msgspec

LIMIT = 4096
"""Bytes (UTF-8) of a diagnostic that a report shows; `results.jsonl` has the whole."""

ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")

# What XML forbids, what a terminal obeys, and what reorders or hides the text around it.
HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """The text with its control, direction and invisible characters written out: `\\u202e`."""
    plain = ANSI.sub("", text).replace("\r\n", "\n")
    return HIDDEN.sub(_escape, plain)


T = TypeVar("T")


def visible_all(value: T) -> T:
    """The same list of structs or texts, with every text in it visible and on one line."""
    return cast(T, _walk(value))


def _walk(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Enum):
        return visible(value).replace("\n", r"\n")
    if isinstance(value, list):
        return [_walk(item) for item in value]
    if isinstance(value, dict):
        return {_walk(key): _walk(item) for key, item in value.items()}
    if isinstance(value, msgspec.Struct):
        fields = {name: _walk(getattr(value, name)) for name in value.__struct_fields__}
        return type(value)(**fields)
    return value


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def cut(text: str, limit: int = LIMIT) -> str:
    """At most about `limit` bytes of a text: its beginning, and the last quarter of the limit.

    A diagnostic says what is wrong first and ends with the innermost call.
    """
    data = text.encode()
    if len(data) <= limit:
        return text
    tail = limit // 4
    start = data[: limit - tail].decode(errors="ignore")
    end = data[-tail:].decode(errors="ignore")
    return f"{start}\n… the middle is left out, whole in results.jsonl …\n{end}"


def first_line(text: str, limit: int = 240) -> str:
    """The first line that is not blank, on one line of at most `limit` characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= limit else line[: limit - 1] + "…"


def gist(text: str, limit: int = 240) -> str:
    """The first line; with the second where the first but names an error: `RuntimeError:`."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = 2 if lines and lines[0].endswith(":") else 1
    return first_line(" ".join(lines[:told]), limit)


PLACES = (
    (re.compile(r", at \S+:\d+(?: `[^`]*`)?(?: \(in [^)]*\))?"), ""),  # converter.errors.Where
    (re.compile(r"(?<!\w)(?:[A-Za-z]:)?[/\\](?:[\w.+~-]+[/\\])+"), ""),  # folders
    (re.compile(r"\b0x[0-9a-fA-F]+"), "0xN"),
    (re.compile(r"(?<![\w.])[-+]?\d[\d_.]*(?:e[-+]?\d+)?(?!\w)"), "N"),
    (re.compile(r"([\[(])N(?:, ?N)*,?([\])])"), r"\1N\2"),  # shapes
)


def pattern(diagnostic: str, case: str) -> str:
    """What a diagnostic has in common with others of its kind: its first line, without the case's
    name, source places, folders, addresses, numbers and shapes."""
    line = gist(diagnostic, 400).replace(case, "CASE")
    for place, kind in PLACES:
        line = place.sub(kind, line)
    return line
