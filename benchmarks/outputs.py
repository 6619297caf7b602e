"""Whether two commits write the same files, byte for byte, from the same exported programs.

    PYTHONPATH=. .nox/env-torch213-tf5/bin/python benchmarks/outputs.py export FOLDER [CASE …]
    .nox/env-torch213-tf5/bin/python benchmarks/outputs.py compare FOLDER main HEAD

The first exports the cases, plain and decomposed, the second converts what it left with both
commits, `.` for the working tree. Ends with 1 where a file or a message differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suites.case import Case

ROOT = Path(__file__).resolve().parent.parent
OPTIONS = "options.json"


def export(folder: Path, names: Sequence[str]) -> None:
    """Save the programs of cases that this environment can export, each in a folder of its own."""
    from suites.needs import lacking
    from suites.registry import discover, load
    from suites.trial import DECOMPOSED, PLAIN

    def save(case: Case, target: str, way: str) -> None:
        home = folder / f"{case.name}-{target}-{way}"
        if (home / OPTIONS).exists():
            return
        home.mkdir(parents=True, exist_ok=True)
        os.chdir(home)
        try:
            _export(case, target, way)
        except Exception as error:  # noqa: BLE001 (torch raises anything, and so may a model)
            print(f"{home.name}: {type(error).__name__}: {str(error)[:120]!r}", flush=True)

    for info in discover():
        if (names and info.name not in names) or lacking(info.needs):
            continue
        case = load(info.name)
        save(case, "pnnx", PLAIN)
        save(case, "pnnx", DECOMPOSED)
        if case.ncnn_inputs != case.inputs:
            save(case, "ncnn", PLAIN)


def _export(case: Case, target: str, way: str) -> None:
    """Save a program in the working directory, and with what options it is converted."""
    import torch

    from suites.frontends import converter_options, dynamic_shapes, exported
    from suites.inputs import draw, save

    torch.manual_seed(1)
    model = case.cls().eval()
    inputs = draw(case.inputs_for(target))
    if "input" in case.options:
        save(case.options["input"], inputs)
    with torch.no_grad():
        program = exported(model, inputs, export=way, dynamic_shapes=dynamic_shapes(case))
    torch.export.save(program, f"{case.name}.pt2")
    Path(OPTIONS).write_text(json.dumps(converter_options(case)))


def digests(folder: Path) -> dict[str, str]:
    """The digest of each file that the converter in the path writes, and what it refuses."""
    from converter import convert
    from converter.errors import ConvertError

    found = {}
    for options in sorted(folder.glob(f"*/{OPTIONS}")):
        os.chdir(options.parent)
        (model,) = Path().glob("*.pt2")
        name = options.parent.name
        try:
            converted = convert(model, fp16=False, **json.loads(options.read_text()))
        except ConvertError as error:
            found[name] = str(error)
            continue
        for path in converted.files:
            found[f"{name}: {path.name}"] = hashlib.sha256(path.read_bytes()).hexdigest()
            path.unlink()
        found[f"{name} for ncnn"] = str(converted.ncnn_refusal)
        found[f"{name}'s notes"] = str(converted.notes)
    return found


def of_commit(commit: str, folder: Path) -> dict[str, str]:
    """The digests of what a commit writes; its files are taken out into a temporary folder."""
    with tempfile.TemporaryDirectory() as temporary:
        tree = ROOT
        if commit != ".":
            tree = Path(temporary)
            archive = subprocess.run(
                ["git", "archive", commit, "converter"], cwd=ROOT, check=True, capture_output=True
            )
            subprocess.run(["tar", "-x", "-C", temporary], input=archive.stdout, check=True)
        made = subprocess.run(
            [sys.executable, "-P", __file__, "digests", folder],
            env={**os.environ, "PYTHONPATH": str(tree)},
            check=True,
            stdout=subprocess.PIPE,
        )
    found: dict[str, str] = json.loads(made.stdout)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["export", "compare", "digests"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="cases to export, or two commits to compare")
    given = parser.parse_args()
    folder = given.folder.resolve()
    if given.action == "export":
        export(folder, given.names)
        return 0
    if given.action == "digests":
        print(json.dumps(digests(folder)))
        return 0
    if len(given.names) != 2:
        parser.error("name two commits to compare")
    one, other = (of_commit(commit, folder) for commit in given.names)
    different = sorted(name for name in one.keys() | other if one.get(name) != other.get(name))
    for name in different:
        print(f"{name}: {one.get(name)} | {other.get(name)}")
    print(f"{len(one)} files and messages, {len(different)} of them different")
    return 1 if different or not one else 0


if __name__ == "__main__":
    sys.exit(main())
