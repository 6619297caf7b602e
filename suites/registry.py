"""Which cases exist, read from their files without importing them, and how one is loaded.

The orchestrator plans in an environment without torch, and a runner imports only the files that its
trials need (torchvision and transformers take seconds): so the decorators are read as syntax.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from suites.apis import proven
from suites.case import CASES, DEFAULTS, WITH_NCNN, Case, all_needs, fault

ROOT = Path(__file__).parent
ON_REQUEST = frozenset({"selfcheck"})
"""Suites that are found only when they are named: deliberately wrong cases."""


class CaseInfo(msgspec.Struct, frozen=True, order=True):
    """What planning knows of a case. `limit` is in seconds, `file` is relative to `suites/`."""

    name: str
    suite: str
    file: str
    line: int
    needs: tuple[str, ...]
    targets: tuple[str, ...]
    devices: tuple[str, ...]
    limit: float
    proves: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """The importable name of the case's file."""
        return "suites." + self.file.removesuffix(".py").replace("/", ".")

    @property
    def parts(self) -> tuple[str, str]:
        """What it is a part of: its suite, and its file as `suite/file`."""
        return self.suite, self.file.removesuffix(".py")

    def is_of(self, parts: Collection[str]) -> bool:
        """Whether it is in one of these suites or files."""
        return any(part in parts for part in self.parts)


class RegistryError(ValueError):
    """Cases that cannot be planned: one line for each fault, with its file and line."""


def discover(suites: Collection[str] = (), *, root: Path = ROOT) -> list[CaseInfo]:
    """The cases of the named suites (all but the self-check when none is named), by suite and name.

    Raises RegistryError for a suite that does not exist and for every case whose planned arguments
    are not literals, are malformed, or whose name is taken.
    """
    folders = _folders(root)
    unknown = sorted(set(suites) - set(folders))
    if unknown:
        raise RegistryError(
            f"no suite is called {unknown[0]}; there are {', '.join(sorted(folders))}"
        )
    chosen = set(suites) or folders.keys() - ON_REQUEST
    found: dict[str, CaseInfo] = {}
    faults: list[str] = []
    for suite in sorted(chosen):
        for path in sorted(folders[suite].glob("*.py")):
            file = path.relative_to(root).as_posix()
            for line, entry in _scan(path, suite, file):
                if isinstance(entry, str):
                    faults.append(f"suites/{file}:{line}: {entry}")
                elif (other := found.get(entry.name)) is not None:
                    faults.append(
                        f"suites/{file}:{line}: case {entry.name} is also in "
                        f"suites/{other.file}:{other.line}; rename one"
                    )
                else:
                    found[entry.name] = entry
    if faults:
        raise RegistryError("\n".join(faults))
    return sorted(found.values(), key=lambda info: (info.suite, info.name))


@cache
def index() -> dict[str, CaseInfo]:
    """Every case, the self-check's included, by name; read once in a process."""
    return {info.name: info for info in discover(_folders(ROOT))}


def load(name: str) -> Case:
    """Import the one file that holds a case, and everything that file imports; return the case.

    Raises KeyError for an unknown name and whatever the import raises.
    """
    if name not in CASES:
        importlib.import_module(index()[name].module)
    return CASES[name]


def _folders(root: Path) -> dict[str, Path]:
    return {path.name: path for path in root.iterdir() if any(path.glob("*.py"))}


def _scan(path: Path, suite: str, file: str) -> Iterator[tuple[int, CaseInfo | str]]:
    """Each case of a file, or what is wrong with it, with its line."""
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except SyntaxError as error:
        yield error.lineno or 1, f"not Python: {error.msg}"
        return
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for decorator in node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            if not _is_case(call.func if call else decorator):
                continue
            if not isinstance(node, ast.ClassDef) or id(node) not in top:
                yield node.lineno, "only a class at the top level of its file can be a case"
            elif call is None:
                yield node.lineno, f"case {node.name} has no inputs: write @case(inputs=[...])"
            else:
                yield node.lineno, _info(node, call, suite, file)


def _is_case(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "case"


def _info(node: ast.ClassDef, call: ast.Call, suite: str, file: str) -> CaseInfo | str:
    planned: dict[str, Any] = dict(DEFAULTS)
    if any(keyword.arg == "ncnn_inputs" for keyword in call.keywords):
        planned["targets"] = WITH_NCNN
    for keyword in call.keywords:
        if keyword.arg is None:
            return f"case {node.name}: @case takes no ** arguments, planning reads them as text"
        if keyword.arg in DEFAULTS:
            try:
                planned[keyword.arg] = ast.literal_eval(keyword.value)
            except ValueError:
                text = ast.unparse(keyword.value)
                return f"case {node.name}: {keyword.arg}={text} must be a literal"
    wrong = fault(planned)
    if wrong is not None:
        return f"case {node.name}: {wrong}"
    return CaseInfo(
        name=node.name,
        suite=suite,
        file=file,
        line=node.lineno,
        needs=all_needs(suite, planned["needs"]),
        targets=planned["targets"],
        devices=planned["devices"],
        limit=float(planned["limit"]),
        proves=proven(node.name, suite, planned["proves"]),
    )
