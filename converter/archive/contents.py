"""What kind of zip archive a file is, and where an exported program keeps its parts in it.

torch.export.save has written this since torch 2.8: under one folder lie `models/NAME.json`, the
program, and `data/weights/` and `data/constants/`, one entry for each storage and a JSON file that
tells which tensor is where (torch/csrc/export/pt2_archive_constants.h).
"""

from __future__ import annotations

from typing import NamedTuple

from converter.archive.zip import DAMAGED, EXPORT, ZipFile, printable
from converter.errors import ArchiveError, UnsupportedError

FORMAT = "archive_format"
VERSION = "0"
SMALL = 64
"""Bytes of an entry that holds a word."""

TOO_OLD = "load it with the torch that saved it and save it again with torch >= 2.9"


class Contents(NamedTuple):
    """Names of entries. `weights` and `constants` are folders, with the `/` at their end."""

    program: str
    weights: str
    weights_config: str
    constants: str
    constants_config: str


def find_contents(file: ZipFile) -> Contents:
    """Find the one exported program of an archive.

    Raises ArchiveError that tells what the file is instead, UnsupportedError for several programs.
    """
    folder = _folder(file)
    for name, expected in ((FORMAT, "pt2"), ("archive_version", VERSION), ("byteorder", "little")):
        found = file.read(folder + name, SMALL).decode("ascii", "replace").strip()
        if found != expected:
            mend = "save it on a little-endian machine" if name == "byteorder" else EXPORT
            raise file.error(f"its {name} is `{printable(found)}`, not `{expected}`", mend)
    models = _names(file, f"{folder}models/", ".json")
    if not models:
        if any(name.startswith(f"{folder}data/aotinductor/") for name in file.entries):
            raise file.error("is a compiled AOTInductor package, not an exported program", EXPORT)
        raise file.error("holds no exported program", EXPORT)
    if len(models) > 1:
        raise UnsupportedError(
            f"holds {len(models)} programs ({printable(', '.join(models))})",
            mend="save each into a file of its own",
        )
    (model,) = models
    if f"{folder}data/weights/{model}.pt" in file.entries:
        raise file.error("holds pickled weights, as torch 2.8 writes them", TOO_OLD)
    weights, constants = f"{folder}data/weights/", f"{folder}data/constants/"
    return Contents(
        program=f"{folder}models/{model}.json",
        weights=weights,
        weights_config=f"{weights}{model}_weights_config.json",
        constants=constants,
        constants_config=f"{constants}{model}_constants_config.json",
    )


def _folder(file: ZipFile) -> str:
    """Return the folder that all entries lie in."""
    formats = [name for name in file.entries if name.rpartition("/")[2] == FORMAT]
    if not formats:
        raise _foreign(file)
    if len(formats) > 1 or formats[0].count("/") > 1:
        raise file.error(f"its `{FORMAT}` is not where it belongs", DAMAGED)
    return formats[0].removesuffix(FORMAT)


def _foreign(file: ZipFile) -> ArchiveError:
    """Tell what kind of archive it is that is not an exported program."""
    inner = {name.partition("/")[2] or name for name in file.entries}
    if "serialized_exported_program.json" in inner | set(file.entries):
        return file.error("was saved by a torch before 2.8", TOO_OLD)
    if "constants.pkl" in inner or any(name.startswith("code/") for name in inner):
        return file.error(
            "is a TorchScript model, not an exported program",
            "convert it with the `pnnx` program, or export the model with torch.export.save",
        )
    if "data.pkl" in inner:
        return file.error("holds pickled tensors, not an exported program", EXPORT)
    return file.error("is a zip archive, but not an exported program", EXPORT)


def _names(file: ZipFile, prefix: str, suffix: str) -> list[str]:
    return [
        name[len(prefix) : -len(suffix)]
        for name in file.entries
        if name.startswith(prefix) and name.endswith(suffix)
    ]
