"""Damages a `.pt2` file: its JSON, its weights and pickles, the fields of its zip, its bytes."""

from __future__ import annotations

import copy
import io
import json
import random
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Entries = dict[str, bytes]
Place = tuple[str | int, ...]

ODD = json.loads(
    """
    [null, true, false, 0, 1, -1, 2, 3, 7, 255, -2147483649, 1099511627776, 9223372036854775807,
     18446744073709551616, 1e25, 1e308, -0.0, 0.5, "", "x", "s77", "s77//0", "-s77",
     "s77**s77**s77", "Max(1, s77)", "NaN", "-Infinity", "__init__", "a\\nb", "\\u001b[2J",
     "../../x", "reflect",
     [], {}, [[]], [0, 0], [1, -1], [-1, 9],
     {"as_int": -3}, {"as_int": 4611686018427387904}, {"as_ints": [0, 9]}, {"as_ints": []},
     {"as_none": true}, {"as_tensor": {"name": "x"}}, {"as_float": "Infinity"}, {"as_float": 1e308},
     {"as_bool": true}, {"as_string": "a b"}, {"as_string": "torch.float"}, {"as_scalar_type": 12},
     {"as_expr": {"expr_str": "s77**s77**s77", "hint": null}},
     {"as_expr": {"expr_str": "2*s77 - 1", "hint": {"as_int": 7}}}]
    """
)
"""What is put in the place of values: kinds that fit nowhere, and numbers at the edge of some."""

HUGE = "9" * 400
NOT_JSON = (b"NaN", b"Infinity", HUGE.encode(), b'"\xff"', b"[" * 10_000, b'{"a":1,"a":2}')
"""What Python's writer of JSON does not write."""

ZIP = {
    b"PK\x01\x02": struct.Struct("<4s6H3L5H2L"),
    b"PK\x03\x04": struct.Struct("<4s5H3L2H"),
    b"PK\x05\x06": struct.Struct("<4s4H2LH"),
}
"""The records of a zip by their signature."""


def mutant(entries: Mapping[str, bytes], draw: random.Random) -> bytes:
    """A damaged file; what is drawn decides how."""
    kinds: list[tuple[int, Callable[[Entries, random.Random], bytes]]] = [
        (10, in_json), (10, in_graph), (2, in_entries), (1, in_bytes), (2, in_zip),
    ]  # fmt: skip
    (how,) = draw.choices([how for _, how in kinds], [weight for weight, _ in kinds])
    return how(dict(entries), draw)


def zipped(entries: Entries, compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, data in entries.items():
            file.writestr(zipfile.ZipInfo(name), data, compression)  # as of 1980, not of now
    return buffer.getvalue()


# --- JSON


def in_json(entries: Entries, draw: random.Random) -> bytes:
    """Most damage goes to the program; what tells where the weights are has its share."""
    names = [name for name in entries if name.endswith(".json")]
    name = draw.choices(names, [1 + (b'"graph"' in entries[name]) * 6 for name in names])[0]
    document = json.loads(entries[name])
    if draw.random() < 0.08:
        texts = [place for place in places(document) if is_json(find(document, place))]
        if texts:  # trees of arguments are JSON in a text
            place = draw.choice(texts)
            inner = json.loads(find(document, place))
            damage(inner, draw)
            find(document, place[:-1])[place[-1]] = json.dumps(inner)
    else:
        for _ in range(draw.choice([1, 1, 1, 2, 5])):
            damage(document, draw)
    text = json.dumps(document).encode()
    if draw.random() < 0.03:
        text = text.replace(b"null", draw.choice(NOT_JSON), draw.choice([1, 1, 20]))
    return zipped({**entries, name: text})


def is_json(value: Any) -> bool:
    return isinstance(value, str) and value[:1] in ("[", "{") and value[1:2] not in ("]", "}")


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    if at:
        yield at
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*at, key))


def find(document: Any, place: Place) -> Any:
    for key in place:
        document = document[key]
    return document


def damage(document: Any, draw: random.Random) -> None:
    """Take a value away, put another in its place, repeat it, or swap it with one like it."""
    every = [place for place in places(document) if "metadata" not in place or draw.random() < 0.02]
    if not every:
        return
    place = draw.choice(every)
    holder, key, value = find(document, place[:-1]), place[-1], find(document, place)
    alike = [other for other in every if other[-1] == key and other[: len(place)] != place]
    match draw.choice(["swap", "swap", "odd", "odd", "near", "delete", "repeat", "nest"]):
        case "swap" if alike:
            holder[key] = copy.deepcopy(find(document, draw.choice(alike)))
        case "near" if isinstance(value, int):
            holder[key] = draw.choice([value + 1, value - 1, -value, value * 2, value << 40])
        case "near" if isinstance(value, str):
            holder[key] = draw.choice([value[:-1], value + "_", value.upper(), value * 2])
        case "near" if isinstance(value, list):
            holder[key] = draw.choice([value[::-1], value[1:], value * 2])
        case "delete":
            del holder[key]
        case "repeat" if isinstance(holder, list):
            holder.insert(draw.randrange(len(holder)), copy.deepcopy(value))
        case "nest":
            for _ in range(draw.choice([1, 100])):
                value = [value]
            holder[key] = value
        case _:
            holder[key] = copy.deepcopy(draw.choice(ODD))


# --- graphs whose names and kinds fit, so that more than the reader sees them


def in_graph(entries: Entries, draw: random.Random) -> bytes:
    """Let tensors claim other shapes and dtypes, and calls take other arguments."""
    name = next(name for name, data in entries.items() if b'"tensor_values"' in data)
    program = json.loads(entries[name])
    graph = program["graph_module"]["graph"]
    edits = (claim_shape, claim_shape, claim_dtype, argue, argue, argue, rewire, retarget)
    for _ in range(draw.choice([1, 1, 2, 3])):
        draw.choice(edits)(graph, draw)
    return zipped({**entries, name: json.dumps(program).encode()})


def claim_shape(graph: Any, draw: random.Random) -> None:
    meta = draw.choice(list(graph["tensor_values"].values()))
    sizes = meta["sizes"]
    place = draw.randrange(len(sizes) + 1)
    match draw.choice(["size", "size", "more", "fewer", "order"]):
        case "size" if place < len(sizes):
            sizes[place] = {"as_int": draw.choice([0, 1, 2, 3, 5, 7, 1 << 20, 1 << 33])}
        case "fewer" if place < len(sizes):
            del sizes[place]
        case "order":
            draw.shuffle(sizes)
        case _:
            sizes.insert(place, {"as_int": draw.choice([1, 1, 2])})
    stride = 1
    strides = []
    for size in reversed(sizes):
        strides.insert(0, {"as_int": stride})
        stride *= size.get("as_int") or 1
    meta["strides"] = strides


def claim_dtype(graph: Any, draw: random.Random) -> None:
    draw.choice(list(graph["tensor_values"].values()))["dtype"] = draw.randrange(1, 14)


def argue(graph: Any, draw: random.Random) -> None:
    """Change a number, a list of them or a flag within its kind; or leave an argument out."""
    node = draw.choice(graph["nodes"] or [{"inputs": []}])
    if not node["inputs"]:
        return
    given = draw.choice(node["inputs"])
    ((kind, value),) = list(given["arg"].items())[:1]
    match value:
        case bool():
            given["arg"] = {kind: not value}
        case int():
            given["arg"] = {kind: draw.choice([0, 1, -1, 2, value + 1, value - 1, 1 << 40])}
        case float():
            given["arg"] = {kind: draw.choice([0.0, -1.0, 0.5, 1e-30, 1e30, "NaN", "Infinity"])}
        case [int(), *_] | [float(), *_]:
            place = draw.randrange(len(value))
            changed = [*value[:place], draw.choice([0, 1, -1, 3, 1 << 33]), *value[place + 1 :]]
            given["arg"] = {kind: draw.choice([changed, value[:-1], [*value, 1], value[::-1], []])}
        case [{}, *_]:
            given["arg"] = {kind: draw.choice([value[:-1], value[::-1], [*value, value[0]]])}
        case _ if draw.random() < 0.5:
            node["inputs"].remove(given)


def rewire(graph: Any, draw: random.Random) -> None:
    """Let a call read another tensor, mostly one that was made before."""
    reads = [
        named["arg"]
        for node in graph["nodes"]
        for named in node["inputs"]
        if isinstance(named["arg"].get("as_tensor"), dict)
    ]
    if reads:
        name = draw.choice(list(graph["tensor_values"]))
        draw.choice(reads)["as_tensor"] = {"name": name}


def retarget(graph: Any, draw: random.Random) -> None:
    """Let a call be one of another operator, with the first arguments' names of that."""
    if graph["nodes"]:
        node, other = draw.choice(graph["nodes"]), draw.choice(graph["nodes"])
        node["target"] = draw.choice(
            [other["target"], f"torch.ops.aten.{draw.choice(TARGETS.split())}"]
        )
        for mine, theirs in zip(node["inputs"], other["inputs"], strict=False):
            mine["name"] = theirs["name"]


TARGETS = """
add.Tensor amax.default bmm.default cat.default cumsum.default expand.default flatten.using_ints
gather.default index_select.default layer_norm.default matmul.default mean.dim mm.default
permute.default relu.default repeat.default reshape.default select.int slice.Tensor softmax.int
sort.default split.Tensor squeeze.dim sum.dim_IntList t.default topk.default transpose.int
unsqueeze.default view.default where.self
"""


# --- what JSON does not describe


def in_entries(entries: Entries, draw: random.Random) -> bytes:
    """Damage an entry's content or name; or keep them all, and deflate them."""
    name = draw.choice(list(entries))
    data = entries[name]
    match draw.choice(["bytes", "bytes", "cut", "longer", "nan", "gone", "name", "deflate"]):
        case "bytes":
            entries[name] = spoiled(data, draw)
        case "cut":
            entries[name] = data[: draw.randrange(len(data) + 1)]
        case "longer":
            entries[name] = data + data[: draw.choice([1, 4, len(data)])]
        case "nan":
            entries[name] = b"\xff" * len(data)
        case "gone":
            del entries[name]
        case "name":
            other = draw.choice([name + "x", f"../{name}", f"/{name}", name.upper(), "a\nb", "é"])
            entries = {other if one == name else one: data for one, data in entries.items()}
        case _:
            return zipped(entries, zipfile.ZIP_DEFLATED)
    return zipped(entries)


def in_bytes(entries: Entries, draw: random.Random) -> bytes:
    data = spoiled(zipped(entries), draw)
    return data[: draw.choice([len(data), draw.randrange(len(data))])]


def spoiled(data: bytes, draw: random.Random) -> bytes:
    other = bytearray(data)
    for _ in range(draw.choice([1, 1, 20]) if data else 0):
        other[draw.randrange(len(other))] = draw.randrange(256)
    return bytes(other)


def in_zip(entries: Entries, draw: random.Random) -> bytes:
    """Damage one field of one record."""
    data = bytearray(zipped(entries, draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])))
    signature = draw.choice(list(ZIP))
    record = ZIP[signature]
    starts = [at for at in range(len(data) - record.size + 1) if data.startswith(signature, at)]
    start = draw.choice(starts)
    fields = list(record.unpack_from(data, start))
    field = draw.randrange(1, len(fields))
    bits = 32 if "L" in codes(record)[field] else 16
    odd = [0, 1, 8, 14, fields[field] + 1, fields[field] - 1, fields[field] * 2, 1 << 31, -1]
    fields[field] = draw.choice(odd) % (1 << bits)
    record.pack_into(data, start, *fields)
    return bytes(data)


def codes(record: struct.Struct) -> list[str]:
    """The format of each field: `<4s6H` has seven."""
    made: list[str] = []
    count = ""
    for code in record.format[1:]:
        if code.isdigit():
            count += code
        else:
            made += [code] * (1 if code == "s" else int(count or 1))
            count = ""
    return made
