"""Layers import downward only: orchestrator → suites → converter."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

FORBIDDEN = {
    "converter": {"orchestrator", "suites", "torch", "torchvision", "ray", "pnnx", "ncnn"},
    "suites": {"orchestrator", "ray"},
    "orchestrator/runner": {"ray"},
}
"""What the modules of a folder must not import."""

GENERATORS = {"converter/aten/generate_schemas.py"}
"""Scripts that make data files with torch; nothing imports them."""


def imports(file: Path) -> Iterator[str]:
    """The top-level packages that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_no_module_imports_upward(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    found = {
        f"{name}: {package}"
        for file in files
        for name in [file.relative_to(ROOT).as_posix()]
        if name not in GENERATORS
        for package in FORBIDDEN[folder].intersection(imports(file))
    }
    assert not found


def test_a_generator_is_imported_by_nothing() -> None:
    modules = {name.removesuffix(".py").replace("/", ".") for name in GENERATORS}
    stems = {module.rpartition(".")[2] for module in modules}
    for folder in ("converter", "suites", "orchestrator"):
        for file in (ROOT / folder).rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            assert not any(f"import {stem}" in text for stem in stems), file


def test_a_conversion_imports_neither_torch_nor_ray(tmp_path: Path) -> None:
    """The file is no program, but the converter is imported, and asked, all the same."""
    broken = tmp_path / "model.pt2"
    broken.write_bytes(b"PK\x03\x04")
    script = f"""
import sys
import converter, converter.ncnn, converter.pnnx.python, converter.cli
assert converter.cli.main([{str(broken)!r}]) == 2
print(sorted({{"torch", "ray", "suites", "orchestrator"}} & set(sys.modules)))
"""
    told = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert told.stdout == "[]\n", told.stderr


def test_sessions_are_read_in_a_python_that_has_nox_alone() -> None:
    blocked = "msgspec numpy rich ray jinja2 torch"
    script = f"""
import sys
sys.modules.update(dict.fromkeys({blocked.split()!r}))
import noxfile
print(noxfile.MAIN_CELL in noxfile.CELLS)
"""
    told = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert told.stdout == "True\n", told.stderr
