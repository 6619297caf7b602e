"""Tensors of a file that torch.save wrote: a zip file of storages and a pickle that names them.

The pickle is decoded here and never run: of all that it can name, the dozen functions and classes
that tensors are made of are known, and every other one is refused by its name. The format of a
pickle is that of Python's `pickletools`, that of a file torch.save's (torch/serialization.py).
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

from converter.archive import schema
from converter.archive.enums import FOREIGN_DTYPES, STRIDED
from converter.archive.region import DAMAGED, printable
from converter.archive.stored import Stored
from converter.archive.zip import ZipFile
from converter.errors import UnsupportedError

PICKLE_LIMIT = 64 << 20
"""Bytes of a pickle that are read. A tensor takes about 200."""
STEPS_LIMIT = 1 << 22
"""Instructions of a pickle that are followed. A tensor takes about 30, each up to 100 bytes."""
BYTEORDER_LIMIT = 64
LARGEST = (1 << 63) - 1
"""Of torch's integers; those of a pickle have no bounds."""

NUMBERS: Mapping[str, int] = {
    "ByteStorage": 1,
    "CharStorage": 2,
    "ShortStorage": 3,
    "IntStorage": 4,
    "LongStorage": 5,
    "HalfStorage": 6,
    "FloatStorage": 7,
    "DoubleStorage": 8,
    "ComplexFloatStorage": 10,
    "ComplexDoubleStorage": 11,
    "BoolStorage": 12,
    "BFloat16Storage": 13,
}
"""The classes of torch that storages have, by the dtype's number in a program."""

NEWER_DTYPES = {f"torch.{name}": number for number, name in FOREIGN_DTYPES.items()}
"""Dtypes that have no class of storages: their tensors name them."""
UNTYPED = 0


class Storage(NamedTuple):
    key: str
    dtype: int


class Tensor(NamedTuple):
    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    requires_grad: bool
    is_parameter: bool = False


class Global(NamedTuple):
    """A function or class that a pickle names."""

    name: str


def read_pickled(outer: ZipFile, entry: str) -> Stored:
    """Read what torch.save made of a dict of tensors; an entry without bytes holds none.

    Raises ArchiveError for a damaged file, UnsupportedError for what holds anything but tensors.
    """
    if outer.entry(entry).size == 0:
        return Stored(outer, entry, "", {})
    file = outer.inside(entry)
    pickles = [name for name in file.entries if name.rpartition("/")[2] == "data.pkl"]
    if len(pickles) != 1 or pickles[0].count("/") > 1:
        raise file.error("is not what torch.save writes", DAMAGED)
    folder = pickles[0].removesuffix("data.pkl")
    if f"{folder}byteorder" in file.entries:
        order = file.read(f"{folder}byteorder", BYTEORDER_LIMIT)
        if order != b"little":
            raise file.error("its byteorder is not `little`", "save it on a little-endian machine")
    decoded = _Decoder(file).decode(file.read(pickles[0], PICKLE_LIMIT))
    if not isinstance(decoded, dict):
        raise file.error("does not hold tensors by name", DAMAGED)
    tensors = {}
    for name, tensor in decoded.items():
        if not isinstance(name, str):
            raise file.error("does not hold tensors by name", DAMAGED)
        if not isinstance(tensor, Tensor):
            raise file.error(f"`{printable(name)}` is no tensor", DAMAGED)
        tensors[name] = _payload(tensor)
    return Stored(file, entry, f"{folder}data/", tensors)


def _payload(tensor: Tensor) -> schema.PayloadMeta:
    """Describe a tensor as later archives do."""
    meta = schema.TensorMeta(
        dtype=tensor.storage.dtype,
        sizes=[schema.SymInt(as_int=size) for size in tensor.shape],
        requires_grad=tensor.requires_grad,
        device=schema.Device("cpu"),
        strides=[schema.SymInt(as_int=stride) for stride in tensor.strides],
        storage_offset=schema.SymInt(as_int=tensor.offset),
        layout=STRIDED,
    )
    return schema.PayloadMeta(tensor.storage.key, tensor.is_parameter, False, meta)


class _Decoder:
    """Follows a pickle's instructions over a stack and a memo of plain values."""

    def __init__(self, file: ZipFile) -> None:
        self.file = file
        self.stack: list[Any] = []
        self.marks: list[int] = []
        """Where on the stack lists begin."""
        self.memo: dict[int, Any] = {}

    def decode(self, content: bytes) -> Any:
        try:
            for count, (step, argument, _) in enumerate(pickletools.genops(content)):
                if count == STEPS_LIMIT:
                    self.damaged(f"has more than {STEPS_LIMIT} instructions")
                if step.name == "STOP":
                    break
                follow = STEPS.get(step.name)
                if follow is None:
                    self.damaged(f"has the instruction {step.name}")
                follow(self, argument)
            (value,) = self.stack
        except (ValueError, OverflowError, TypeError, LookupError):  # of genops, of a short stack
            self.damaged("is damaged")
        return value

    def damaged(self, message: str) -> NoReturn:
        raise self.file.error(f"its pickle {message}", DAMAGED)

    # --- the instructions that do more than to push a value

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def marked(self) -> list[Any]:
        """Take what was pushed since the last mark."""
        place = self.marks.pop()
        values = self.stack[place:]
        del self.stack[place:]
        return values

    def taken(self, count: int) -> tuple[Any, ...]:
        values = tuple(self.stack[-count:])
        if len(values) < count:
            raise IndexError
        del self.stack[-count:]
        return values

    def memoize(self, place: int | None) -> None:
        self.memo[len(self.memo) if place is None else place] = self.stack[-1]

    def set_items(self, values: list[Any]) -> None:
        target = self.stack[-1]
        if not isinstance(target, dict) or len(values) % 2:
            self.damaged("sets items of what is no dict")
        for key, value in zip(values[::2], values[1::2], strict=True):
            if not isinstance(key, str | int):
                self.damaged("has a dict whose keys are neither text nor numbers")
            target[key] = value

    def append(self, values: list[Any]) -> None:
        if not isinstance(self.stack[-1], list):
            self.damaged("appends to what is no list")
        self.stack[-1].extend(values)

    def name(self, module: Any, name: Any) -> None:
        if not (isinstance(module, str) and isinstance(name, str)):
            self.damaged("names what is no text")
        full = f"{module}.{name}"
        storage = name if module == "torch" else ""
        if full not in CALLS and full not in CLASSES and storage not in NUMBERS:
            self.refuse(full)
        self.push(Global(full))

    def refuse(self, name: str) -> NoReturn:
        if name == FAKE:
            raise self.file.error(
                "holds no values", "export the model with real weights, not fake ones"
            )
        raise UnsupportedError(
            f"the program holds an object of the class {printable(name)}",
            mend="make it a module of plain tensors and tensor operators",
        )

    def storage(self, identity: Any) -> None:
        match identity:
            case ("storage", Global(name), str(key), str(), int()):
                kind = name.removeprefix("torch.")
                self.push(Storage(key, NUMBERS.get(kind, UNTYPED)))
            case _:
                self.damaged("has a storage that is none")

    def call(self) -> None:
        function, arguments = self.taken(2)
        if not (isinstance(function, Global) and isinstance(arguments, tuple)):
            self.damaged("calls what is no function")
        make = CALLS.get(function.name)
        if make is None:
            self.refuse(function.name)
        made = make(*arguments)  # raises TypeError where they do not fit
        if made is None:
            self.damaged(f"calls {function.name} with what it does not take")
        self.push(made)

    def build(self) -> None:
        """What is set on a dict is its class's own, as the versions of a state dict's modules."""
        self.taken(1)
        if not isinstance(self.stack[-1], dict):
            self.damaged("sets what is no dict")


# --- what a pickle may call; None is returned for arguments that do not fit


def _ordered(pairs: Any = ()) -> dict[Any, Any] | None:
    if isinstance(pairs, list | tuple) and not pairs:
        return {}
    return None


def _tensor(
    storage: Any, offset: Any, shape: Any, strides: Any, grad: Any, hooks: Any, meta: Any = None
) -> Tensor | None:
    numbers = (offset, *shape, *strides)
    if not all(type(one) is int and -LARGEST <= one <= LARGEST for one in numbers):
        return None
    if not isinstance(storage, Storage) or meta:
        return None
    return Tensor(storage, offset, tuple(shape), tuple(strides), bool(grad))


def _newer_tensor(
    storage: Any,
    offset: Any,
    shape: Any,
    strides: Any,
    grad: Any,
    hooks: Any,
    dtype: Any,
    meta: Any = None,
) -> Tensor | None:
    if not (isinstance(storage, Storage) and isinstance(dtype, Global)):
        return None
    typed = Storage(storage.key, NEWER_DTYPES.get(dtype.name, UNTYPED))
    return _tensor(typed, offset, shape, strides, grad, hooks, meta)


def _parameter(data: Any, grad: Any, hooks: Any, state: Any = None) -> Tensor | None:
    if not isinstance(data, Tensor):
        return None
    return data._replace(requires_grad=bool(grad), is_parameter=True)


def _with_attributes(function: Any, kind: Any, arguments: Any, state: Any) -> Tensor | None:
    """A tensor that something was set on, as buffers are that tell whether they are kept."""
    if not (isinstance(function, Global) and isinstance(kind, Global)):
        return None
    makes: dict[str, Callable[..., Tensor | None]] = {
        f"{UTILS}_rebuild_tensor_v2": _tensor,
        f"{UTILS}_rebuild_parameter": _parameter,
    }
    known = makes.get(function.name)
    return known(*arguments) if known is not None and kind.name in TENSORS else None


UTILS = "torch._utils."
FAKE = "torch._export.serde.serialize._reconstruct_fake_tensor"

CALLS: Mapping[str, Callable[..., Any]] = {
    "collections.OrderedDict": _ordered,
    f"{UTILS}_rebuild_tensor_v2": _tensor,
    f"{UTILS}_rebuild_tensor_v3": _newer_tensor,
    f"{UTILS}_rebuild_parameter": _parameter,
    f"{UTILS}_rebuild_parameter_with_state": _parameter,
    "torch._tensor._rebuild_from_type_v2": _with_attributes,
}
"""The functions that tensors are made by, and what does the same here."""

TENSORS = {"torch.Tensor", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer"}
CLASSES = {*TENSORS, *NEWER_DTYPES, "torch.storage.UntypedStorage"}
"""What is named and not called."""


def _name(decoder: _Decoder, text: str) -> None:
    module, _, name = text.partition(" ")
    decoder.name(module, name)


def _stacked_name(decoder: _Decoder, _: Any) -> None:
    module, name = decoder.taken(2)
    decoder.name(module, name)


Step = Callable[[_Decoder, Any], None]


def _pushes(make: Callable[[], Any]) -> Step:
    return lambda decoder, _: decoder.push(make())


def _tuple(count: int) -> Step:
    return lambda decoder, _: decoder.push(decoder.taken(count))


STEPS: Mapping[str, Step] = {
    **dict.fromkeys(("PROTO", "FRAME"), lambda decoder, _: None),
    **dict.fromkeys(
        (
            *("INT", "LONG", "BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT"),
            *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
            *("BINBYTES", "SHORT_BINBYTES"),
        ),
        _Decoder.push,
    ),
    "NONE": _pushes(lambda: None),
    "NEWTRUE": _pushes(lambda: True),
    "NEWFALSE": _pushes(lambda: False),
    "MARK": lambda decoder, _: decoder.marks.append(len(decoder.stack)),
    "EMPTY_DICT": _pushes(dict),
    "EMPTY_LIST": _pushes(list),
    "EMPTY_TUPLE": _pushes(tuple),
    "TUPLE": lambda decoder, _: decoder.push(tuple(decoder.marked())),
    "TUPLE1": _tuple(1),
    "TUPLE2": _tuple(2),
    "TUPLE3": _tuple(3),
    "SETITEM": lambda decoder, _: decoder.set_items(list(decoder.taken(2))),
    "SETITEMS": lambda decoder, _: decoder.set_items(decoder.marked()),
    "APPEND": lambda decoder, _: decoder.append(list(decoder.taken(1))),
    "APPENDS": lambda decoder, _: decoder.append(decoder.marked()),
    **dict.fromkeys(("BINPUT", "LONG_BINPUT", "PUT", "MEMOIZE"), _Decoder.memoize),
    **dict.fromkeys(
        ("BINGET", "LONG_BINGET", "GET"), lambda decoder, place: decoder.push(decoder.memo[place])
    ),
    "GLOBAL": _name,
    "STACK_GLOBAL": _stacked_name,
    "BINPERSID": lambda decoder, _: decoder.storage(*decoder.taken(1)),
    "REDUCE": lambda decoder, _: decoder.call(),
    "BUILD": lambda decoder, _: decoder.build(),
}
"""What each instruction does; the others make objects of classes, or call what is not named."""
