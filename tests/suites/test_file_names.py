"""Names of cases become names of files: on every system, whatever the letters' case there."""

from __future__ import annotations

from pathlib import PureWindowsPath

from suites.registry import discover

PATH_MAX = 260
"""Characters of a path on Windows, with the end mark."""

BEFORE = len(
    r"C:\Users\twenty-letters-here!\AppData\Local\Temp\pnnx-parity-12345678\tmp12345678\work\\"
)
LONGEST = len("_decomposed.converted.pnnx.param.unfinished")
"""More than what is appended to a case's name."""

DEVICES = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))}


def test_names_of_cases() -> None:
    names = [info.name for info in discover()]
    assert names
    lower = {}
    for name in names:
        assert name.isidentifier(), name
        assert lower.setdefault(name.lower(), name) == name, "one file where case does not count"
        assert name.lower() not in DEVICES
        assert BEFORE + len(name) + LONGEST < PATH_MAX, name


def test_files_of_cases_are_spelled_alike_everywhere() -> None:
    for info in discover():
        assert "\\" not in str(info.file)
        assert not PureWindowsPath(info.file).is_absolute()
