"""What a large archive takes: peak memory, and time beside that of copying what is written.

    .nox/orchestrator/bin/python benchmarks/archives.py [--mib 1024] [--folder /tmp]

The archives are of linear layers with 64 MiB each, as torch 2.13 lays them out (one entry for each
weight) and as torch 2.7 did (a file of torch.save in the archive). They need no torch to be made.

Ends with 1 where a bound is missed; those of memory hold for 1 GiB. Other programs disturb the
time: measure on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from measure import Usage, run

SIDE = 4096
LAYER_MIB = SIDE * SIDE * 4 >> 20
MEMORY_MB = {"current": 200, "legacy": 300}
"""The most that each layout may take at its peak."""
COPIES = 1.5
"""The most that the current layout may take, in times of copying what is written."""

Json = dict[str, Any]
LEAF: Json = {"type": None, "context": None, "children_spec": []}


class Row(NamedTuple):
    layout: str
    mib: int
    usage: Usage
    copy: float

    def __str__(self) -> str:
        return (
            f"{self.layout:8} {self.mib:6} {self.usage.wall:8.2f} {self.usage.peak_mb:8.0f}"
            f" {self.copy:8.2f} {self.usage.wall / self.copy:8.2f}"
        )

    def missed(self) -> list[str]:
        found = []
        if self.usage.peak_mb >= MEMORY_MB[self.layout]:
            found.append(f"{self.layout}: {self.usage.peak_mb:.0f} MB at its peak")
        if self.layout == "current" and self.usage.wall > COPIES * self.copy:
            found.append(f"{self.layout}: {self.usage.wall / self.copy:.2f} times of copying")
        return found


def program(layers: int) -> Json:
    """Linear layers one after another, as torch.export tells of them."""
    names = [f"w{number}" for number in range(layers)]
    values = ["x", *(f"linear{number}" for number in range(layers))]
    nodes = [
        {
            "target": "torch.ops.aten.linear.default",
            "inputs": [
                {"name": "input", "arg": tensor(values[number]), "kind": 1},
                {"name": "weight", "arg": tensor(f"p_{name}"), "kind": 1},
            ],
            "outputs": [tensor(values[number + 1])],
            "metadata": {},
        }
        for number, name in enumerate(names)
    ]
    weights = [
        {"parameter": {"arg": {"name": f"p_{name}"}, "parameter_name": name}} for name in names
    ]
    arguments = node("tuple", node("tuple", LEAF), node("dict", context="[]"))
    return {
        "graph_module": {
            "graph": {
                "inputs": [*(tensor(f"p_{name}") for name in names), tensor("x")],
                "outputs": [tensor(values[-1])],
                "nodes": nodes,
                "tensor_values": {
                    **{f"p_{name}": meta(SIDE, SIDE) for name in names},
                    **{name: meta(1, SIDE) for name in values},
                },
                "sym_int_values": {},
                "sym_bool_values": {},
            },
            "signature": {
                "input_specs": [*weights, {"user_input": {"arg": tensor("x")}}],
                "output_specs": [{"user_output": {"arg": tensor(values[-1])}}],
            },
            "module_call_graph": [
                {
                    "fqn": "",
                    "signature": {
                        "in_spec": json.dumps([1, arguments]),
                        "out_spec": json.dumps([1, LEAF]),
                    },
                }
            ],
        },
        "range_constraints": {},
        "schema_version": {"major": 8, "minor": 7},
    }


def tensor(name: str) -> Json:
    return {"as_tensor": {"name": name}}


def node(type: str, *children: Json, context: str = "null") -> Json:
    return {"type": f"builtins.{type}", "context": context, "children_spec": list(children)}


def meta(rows: int, columns: int) -> Json:
    return {
        "dtype": 7,
        "sizes": [{"as_int": rows}, {"as_int": columns}],
        "requires_grad": False,
        "device": {"type": "cpu"},
        "strides": [{"as_int": columns}, {"as_int": 1}],
        "storage_offset": {"as_int": 0},
        "layout": 7,
    }


def write_layer(file: zipfile.ZipFile, name: str, number: int) -> None:
    """Numbers between a half and one, of which the first 16384 differ; others in each layer."""
    block = b"".join(
        ((0x3F << 24) + number + index).to_bytes(4, "little") for index in range(1 << 14)
    )
    with file.open(name, "w", force_zip64=True) as entry:
        for _ in range((LAYER_MIB << 20) // len(block)):
            entry.write(block)


def write_current(path: Path, layers: int) -> None:
    payload = {"is_param": True, "use_pickle": False, "tensor_meta": meta(SIDE, SIDE)}
    config = {f"w{number}": {"path_name": f"weight_{number}"} | payload for number in range(layers)}
    with zipfile.ZipFile(path, "w") as file:
        for name, word in (("format", "pt2"), ("version", "0")):
            file.writestr(f"m/archive_{name}", word)
        file.writestr("m/byteorder", "little")
        file.writestr("m/models/model.json", json.dumps(program(layers)))
        for kind, tensors in (("weights", config), ("constants", {})):
            told = json.dumps({"config": tensors})
            file.writestr(f"m/data/{kind}/model_{kind}_config.json", told)
        for number in range(layers):
            write_layer(file, f"m/data/weights/weight_{number}", number)


def write_legacy(path: Path, layers: int) -> None:
    inner = path.with_suffix(".pt")
    with zipfile.ZipFile(inner, "w") as file:
        items = b"".join(pickled(number) for number in range(layers))
        file.writestr("archive/data.pkl", b"\x80\x02}(" + items + b"u.")
        file.writestr("archive/byteorder", "little")
        for number in range(layers):
            write_layer(file, f"archive/data/{number}", number)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("serialized_exported_program.json", json.dumps(program(layers)))
        file.write(inner, "serialized_state_dict.pt")
        file.writestr("serialized_constants.pt", b"")
    inner.unlink()


def pickled(number: int) -> bytes:
    """A name and its tensor, in the instructions of a pickle."""

    def text(word: str) -> bytes:
        return b"X" + len(word).to_bytes(4, "little") + word.encode()

    def count(value: int) -> bytes:
        return b"J" + value.to_bytes(4, "little")

    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(str(number)) + text("cpu")
    return (
        text(f"w{number}") + b"ctorch._utils\n_rebuild_tensor_v2\n("
        + storage + count(SIDE * SIDE) + b"tQ" + count(0)
        + b"(" + count(SIDE) * 2 + b"t(" + count(SIDE) + count(1) + b"t\x89"
        + b"ccollections\nOrderedDict\n)RtR"
    )  # fmt: skip


LAYOUTS: dict[str, Callable[[Path, int], None]] = {
    "current": write_current,
    "legacy": write_legacy,
}


def measure(layout: str, mib: int, home: Path | None) -> Row:
    """Make an archive, convert it, and copy what was written."""
    with tempfile.TemporaryDirectory(dir=home) as name:
        folder = Path(name)
        path = folder / f"{layout}.pt2"
        LAYOUTS[layout](path, mib // LAYER_MIB)
        usage = run([sys.executable, "-m", "converter.cli", str(path)])
        made = [str(one) for one in folder.iterdir() if one != path]
        copies = folder / "copies"
        copies.mkdir()
        return Row(layout, mib, usage, run(["/bin/cp", *made, str(copies)]).wall)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mib", type=int, default=1024, help="MiB of weights")
    parser.add_argument("--folder", type=Path, help="where there is room for six times as much")
    options = parser.parse_args()
    print(f"{'layout':8} {'MiB':>6} {'s':>8} {'peak MB':>8} {'copy s':>8} {'times':>8}")
    missed = []
    with tempfile.TemporaryDirectory() as bytecode:
        # An installed program is compiled; this one may lie in a folder that it may not write to.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = bytecode
        for layout in LAYOUTS:
            measure(layout, LAYER_MIB, options.folder)  # compiles the program
            row = measure(layout, options.mib, options.folder)
            print(row, flush=True)
            missed += row.missed()
    print(*missed, sep="\n", end="\n" if missed else "", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
