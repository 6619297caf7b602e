"""A package's sources as units that refer to each other, and what a changed line reaches.

A unit is a top-level statement: a function, a class, a constant, or what makes rows of a table. A
change reaches what it stands in, and then, step by step, all that refers to that by name, through
imports too. Names are matched as text: rather too much is reached than too little.

What is looked for are rules, `FILE:NAME` as `converter.rules` names them, or cases, `FILE:CLASS`.

The sources are only read, not imported: they are another version's.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

WORD = re.compile(r"[\w.]+")


class Unit(NamedTuple):
    """A top-level statement and what it defines."""

    node: ast.stmt
    first: int
    last: int
    names: tuple[str, ...]

    @property
    def is_definition(self) -> bool:
        return isinstance(self.node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)


class Mention(NamedTuple):
    """Where a unit refers to a name."""

    file: str
    unit: Unit
    line: int


class Module:
    """One file, named as in its package: `aten/pooling.py`. Raises SyntaxError."""

    def __init__(self, package: str, file: str, text: str) -> None:
        self.file = file
        self.lines = text.splitlines()
        self.tree = ast.parse(text, filename=f"{package}/{file}")
        self.units = [_unit(node) for node in self.tree.body]
        self.defined = {name for unit in self.units for name in unit.names}
        self.imports = dict(_imports(package, self.tree))

    def at(self, line: int) -> Unit | None:
        return next((unit for unit in self.units if unit.first <= line <= unit.last), None)

    def rows(self, unit: Unit, line: int, names: Collection[str]) -> set[str]:
        """Which of these rows a line of a unit makes: those that it names or, where it names none,
        those that the smallest expression around it names."""
        around = sorted(
            (last - node.lineno, node.lineno, last)
            for node in ast.walk(unit.node)
            if isinstance(node, ast.expr | ast.stmt)
            for last in [node.end_lineno or node.lineno]
            if node.lineno <= line <= last
        )
        for _, first, last in [(0, line, line), *around]:
            words = set(WORD.findall("\n".join(self.lines[first - 1 : last])))
            if found := {name for name in names if _is_named(name, words)}:
                return found
        return set()


class Units:
    """All files of one version of a package. Raises SyntaxError."""

    def __init__(self, package: str, texts: Mapping[str, str]) -> None:
        self.package = package
        self.modules = {file: Module(package, file, text) for file, text in texts.items()}
        self._users: dict[tuple[str, str], list[Mention]] = defaultdict(list)
        for module in self.modules.values():
            for unit in module.units:
                for name, line in _mentioned(unit.node):
                    if (source := self._source(module.file, name)) is not None:
                        self._users[source].append(Mention(module.file, unit, line))

    def reached(
        self, module: Module, lines: Collection[int], rules: Collection[str]
    ) -> dict[str, int]:
        """Which of these rules a change of these lines reaches, and in how many steps.

        The module may be another version's, from which something was deleted.
        """
        names: dict[str, list[str]] = defaultdict(list)
        for rule in rules:
            file, _, name = rule.partition(":")
            names[file].append(name)
        found: dict[str, int] = {}
        places = {
            (module.file, unit, line) for line in lines if (unit := module.at(line)) is not None
        }
        seen: set[tuple[str, str]] = set()
        step, first = 0, module
        while places:
            following: set[tuple[str, Unit, int]] = set()
            for file, unit, line in places:
                own = _own(first if not step else self.modules[file], unit, line, names[file])
                for name in own:
                    found.setdefault(f"{file}:{name}", step)
                if own and not unit.is_definition:
                    continue
                for source in {(file, name) for name in unit.names} - seen:
                    seen.add(source)
                    following.update(self._users[source])
            places = following
            step += 1
        return found

    def _source(self, file: str, name: str) -> tuple[str, str] | None:
        """Where a name of a module is defined, through all imports; None outside the package."""
        for _ in range(9):  # imports may go in circles
            module = self.modules.get(file)
            if module is None:
                return None
            head, dot, rest = name.partition(".")
            if head in module.defined:
                return file, head
            if head not in module.imports:
                return None
            file, name = self._imported(module.imports[head], rest if dot else "")
        return None

    def _imported(self, dotted: str, rest: str) -> tuple[str, str]:
        """The file and name that `converter.ncnn.lower` means, of which `rest` is asked."""
        parts = dotted.split(".")[1:]
        for file in (f"{'/'.join(parts)}.py", "/".join([*parts, "__init__.py"])):
            if file in self.modules:
                return file, rest
        for file in (f"{'/'.join(parts[:-1])}.py", "/".join([*parts[:-1], "__init__.py"])):
            if file in self.modules:
                return file, parts[-1]
        return "", ""


def _own(module: Module, unit: Unit, line: int, names: Collection[str]) -> set[str]:
    """The rules that a unit is or makes."""
    if unit.is_definition:
        return set(unit.names).intersection(names)
    rows = [name for name in names if "." in name]
    found = module.rows(unit, line, rows)
    if not found and not unit.names and not isinstance(unit.node, ast.Import | ast.ImportFrom):
        return set(rows)  # a loop that spells them
    return found


def _is_named(row: str, words: Collection[str]) -> bool:
    """Whether a row is named: `avg_pool2d.default` as it is or by its operator, `Formula of F.silu`
    by its last word."""
    name = row.rpartition(" ")[2]
    return name in words or f"aten.{name}" in words or name.partition(".")[0] in words


def _unit(node: ast.stmt) -> Unit:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(each.lineno for each in decorators)])
    names: tuple[str, ...] = ()
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        names = (node.name,)
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = tuple(
            each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)
        )
    return Unit(node, first, node.end_lineno or node.lineno, names)


def _imports(package: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == package:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _mentioned(node: ast.stmt) -> Iterator[tuple[str, int]]:
    """Every name that a statement reads, with one attribute of it, for modules, and its line."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
            yield f"{each.value.id}.{each.attr}", each.lineno
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            yield each.id, each.lineno
