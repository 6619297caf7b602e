"""What kind of zip archive a file is, and where an exported program keeps its parts in it.

torch.export.save has written this since torch 2.9: under one folder lie `models/NAME.json`, the
program, and `data/weights/` and `data/constants/`, one entry for each storage and a JSON file that
tells which tensor is where (torch/csrc/export/pt2_archive_constants.h). torch 2.8 has a file of
torch.save in place of each of these two folders, and before that all lay side by side:
`serialized_exported_program.json`, `serialized_state_dict.pt`, `serialized_constants.pt`.
"""

from __future__ import annotations

from typing import NamedTuple

from converter.archive.region import DAMAGED, printable
from converter.archive.zip import EXPORT, ZipFile
from converter.errors import ArchiveError, UnsupportedError

FORMAT = "archive_format"
VERSION = "0"
SMALL = 64
"""Bytes of an entry that holds a word."""

LEGACY = "serialized_exported_program.json"


class Place(NamedTuple):
    """Where tensors are: in a file of torch.save, or in a folder that `config` tells about.

    `folder` has the `/` at its end.
    """

    pickled: str = ""
    folder: str = ""
    config: str = ""


class Contents(NamedTuple):
    """Names of entries."""

    program: str
    weights: Place
    constants: Place


def find_contents(file: ZipFile) -> Contents:
    """Find the one exported program of an archive.

    Raises ArchiveError that tells what the file is instead, UnsupportedError for several programs.
    """
    folder = _folder(file, FORMAT)
    if folder is None:
        return _legacy_contents(file)
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
    return Contents(
        f"{folder}models/{model}.json",
        _place(file, f"{folder}data/weights/", model, "weights"),
        _place(file, f"{folder}data/constants/", model, "constants"),
    )


def _legacy_contents(file: ZipFile) -> Contents:
    folder = _folder(file, LEGACY)
    if folder is None:
        raise _foreign(file)
    weights, constants = (f"{folder}serialized_{part}.pt" for part in ("state_dict", "constants"))
    return Contents(folder + LEGACY, Place(weights), Place(constants))


def _place(file: ZipFile, folder: str, model: str, kind: str) -> Place:
    pickled = f"{folder}{model}.pt"
    if pickled in file.entries:
        return Place(pickled)
    return Place(folder=folder, config=f"{folder}{model}_{kind}_config.json")


def _folder(file: ZipFile, name: str) -> str | None:
    """Return the folder that all entries lie in, as this one does; None if there is none of it."""
    found = [entry for entry in file.entries if entry.rpartition("/")[2] == name]
    if not found:
        return None
    if len(found) > 1 or found[0].count("/") > 1:
        raise file.error(f"its `{name}` is not where it belongs", DAMAGED)
    return found[0].removesuffix(name)


def _foreign(file: ZipFile) -> ArchiveError:
    """Tell what kind of archive it is that is not an exported program."""
    inner = {name.partition("/")[2] or name for name in file.entries}
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
