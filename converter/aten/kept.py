"""What the user asks to keep as one operator each: modules of a class, custom operators."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from difflib import get_close_matches
from itertools import groupby

import msgspec
from msgspec.structs import replace

from converter.archive.program import Body, ModuleFrame, Node, StoredInput
from converter.archive.values import ScalarType, SymRef, TensorRef, Value
from converter.aten.call import Arg
from converter.aten.dtype import torch_dtype
from converter.aten.emit import Emitter
from converter.aten.schema_table import schema
from converter.errors import UnsupportedError, UsageError
from converter.ir import Operand
from converter.pnnx.callables import CALLABLES
from converter.pnnx.literal import is_constant

MODULE = "module"
"""The target of the node that stands for a module's call; its last frame tells which."""

OWN = "own"
"""The argument of such a node that is a constant of its own."""

MAIN = "__main__."
"""What Python calls the module of a program; pnnx leaves it out."""


MANY = 8
"""Names that a message lists."""

OURS = ("F.", "Tensor.", "aten::", "nn.", "pnnx.", "prim::")
"""How the types of operators begin that are not the user's."""


def is_name(word: str) -> bool:
    """Whether torch could have such an operator, and Python call it."""
    return word.isidentifier() and not keyword.iskeyword(word) and not word.startswith("__")


class Kept(msgspec.Struct, frozen=True):
    """`modules` are classes, `models.common.Focus`; `operators` are `namespace.name`.

    Nothing that is not listed here is kept, whatever the file holds.
    """

    modules: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()

    @classmethod
    def of(cls, modules: Sequence[str], operators: Sequence[str]) -> Kept:
        """Check the words of `moduleop=` and `customop=`. Raises UsageError."""
        named = tuple(word.replace("::", ".") for word in operators)
        for word, name in zip(operators, named, strict=True):
            if name.count(".") != 1 or not all(map(is_name, name.split("."))):
                raise UsageError(
                    f"customop={word} is no operator", mend="write customop=NAMESPACE.NAME"
                )
        for word in modules:
            if word in CALLABLES or word.startswith(OURS):
                raise UsageError(
                    f"moduleop={word}: pnnx's files have an operator of that name",
                    mend="give the class, or the file that it is in, another one",
                )
        return cls(tuple(modules), named)

    def check(self, body: Body) -> None:
        """Raise UsageError for a class or an operator that the program does not have."""
        classes = {plain(frame) for node in body.nodes for frame in node.modules}
        names = {operator(node) for node in body.nodes}
        for key, words, found in (
            ("moduleop", self.modules, classes),
            ("customop", self.operators, names),
        ):
            for word in words:
                if word not in found:
                    others = sorted(name for name in found if not name.startswith("aten."))
                    near = get_close_matches(word, others, 1) or others[:MANY]
                    raise UsageError(
                        f"{key}={word}: the program has none",
                        mend=f"it has {', '.join(filter(None, near)) or 'PyTorch operators only'}",
                    )

    def keeps(self, node: Node) -> bool:
        return operator(node) in self.operators


NOTHING = Kept()


def plain(frame: ModuleFrame) -> str:
    """The class of a module as pnnx calls it."""
    return frame.class_name.removeprefix(MAIN)


def operator(node: Node) -> str:
    """`ns.name` of `torch.ops.ns.name.default`; empty for what is no operator of PyTorch's."""
    parts = node.target.split(".")
    return ".".join(parts[2:4]) if parts[:2] == ["torch", "ops"] and len(parts) == 5 else ""


def keep_modules(body: Body, kept: Kept, constants: Set[str]) -> Body:
    """Return the body with one node for each call of a module that is kept, the outermost first.

    The node reads what the module's nodes read of others, in their order; `constants` that nobody
    else reads are its OWN. It makes what others read of it. Raises UnsupportedError for a module
    that writes to what it was given.
    """
    calls = [called(node, kept) for node in body.nodes]
    readers: dict[str, set[ModuleFrame | None]] = {name: {None} for name in names(body.outputs)}
    for node, frame in zip(body.nodes, calls, strict=True):
        for name in read(node):
            readers.setdefault(name, set()).add(frame)
    nodes: list[Node] = []
    done: set[ModuleFrame] = set()
    for frame, members in groupby(zip(calls, body.nodes, strict=True), lambda pair: pair[0]):
        inside = [node for _, node in members]
        if frame is None:
            nodes += inside
        elif frame in done:
            raise refused(frame, inside[0], "its operators lie among others")
        else:
            done.add(frame)
            own = {name for name in constants if readers.get(name) == {frame}}
            nodes.append(joined(frame, inside, readers, own))
    return replace(body, nodes=tuple(nodes))


def called(node: Node, kept: Kept) -> ModuleFrame | None:
    """The outermost call of a kept module that a node belongs to."""
    return next((frame for frame in node.modules if plain(frame) in kept.modules), None)


def joined(
    frame: ModuleFrame,
    inside: Sequence[Node],
    readers: Mapping[str, Set[ModuleFrame | None]],
    own: Set[str],
) -> Node:
    """One node for those of a module."""
    made = dict.fromkeys(name for node in inside for name in names(node.outputs))
    given = dict.fromkeys(name for node in inside for name in read(node))
    for node in inside:
        check_pure(node, made.keys(), frame)
    first = inside[0]
    return Node(
        MODULE,
        frame.fqn,
        tuple((OWN * (name in own), TensorRef(name)) for name in given if name not in made),
        tuple(TensorRef(name) for name in made if readers.get(name, set()) - {frame}),
        first.where,
        first.modules[: first.modules.index(frame) + 1],
    )


def check_pure(node: Node, own: Set[str], frame: ModuleFrame) -> None:
    """Raise UnsupportedError for a node that writes to a tensor from outside of the module."""
    op = schema(node.target)
    mutated = {argument.name for argument in op.arguments if argument.type.mutated} if op else ()
    for argument, value in node.inputs:
        if argument in mutated and not own >= set(names((value,))):
            raise refused(frame, node, f"its {node.target} writes to a tensor that it shares")


def refused(frame: ModuleFrame, node: Node, why: str) -> UnsupportedError:
    return UnsupportedError(
        f"cannot keep {plain(frame)} {frame.fqn}: {why}",
        where=node.where,
        mend="leave it out of moduleop",
    )


def read(node: Node) -> Iterator[str]:
    return names([value for _, value in node.inputs])


def names(values: Sequence[Value]) -> Iterator[str]:
    """The tensors among values, lists opened."""
    for value in values:
        if isinstance(value, TensorRef):
            yield value.name
        elif isinstance(value, tuple) and not isinstance(value, SymRef):
            yield from names(value)


# --- operators


def keep_module(
    emit: Emitter,
    node: Node,
    tensor: Callable[[str], Operand],
    stored: Mapping[str, StoredInput],
    made: Sequence[Operand],
) -> None:
    """Append a module's operator: its type is the class, its attributes are the module's own
    among the `stored` tensors; `tensor` gives the operands of the others that it reads.
    """
    frame = node.modules[-1]
    prefix = f"{frame.fqn}." if frame.fqn else ""
    constants = [name for argument, value in node.inputs if argument for name in names((value,))]
    attrs = {
        name: (own, one.attribute)
        for name, one in stored.items()
        if (own := local_name(one, prefix)) is not None
    }
    for place, name in enumerate(constants):
        attrs[name] = f"pnnx_0{place}", stored[name].attribute
    given = [tensor(name) for name in read(node) if name not in attrs]
    op = emit.positional(plain(frame), made, given)
    op.name, op.opaque = frame.fqn or plain(frame), True
    op.attrs.update(attrs.values())


def local_name(stored: StoredInput, prefix: str) -> str | None:
    """What a module calls a stored tensor, None for one that is not its own.

    A module that two members hold, or a weight that is tied to another, has several names, and the
    nodes read it by one of them.
    """
    own = (name for name in (stored.fqn, *stored.names) if name.startswith(prefix))
    return next((name.removeprefix(prefix) for name in own), None)


def keep_operator(emit: Emitter, node: Node, args: Sequence[Arg], made: Sequence[Operand]) -> None:
    """Append `pnnx.custom_op.NAMESPACE.NAME`. Arguments by position are `arg_0`, `arg_1`…

    Raises UnsupportedError for a result that is no tensor, and for none.
    """
    arguments: dict[str, Arg] = {}
    for place, ((name, value), arg) in enumerate(zip(node.inputs, args, strict=True)):
        key = name if name in node.keywords else f"arg_{place}"
        arguments[key] = written(emit, node, value, arg)
    is_list = len(node.outputs) == 1 and isinstance(node.outputs[0], tuple)
    if not made or not (is_list or len(made) == len(node.outputs)):
        raise UnsupportedError(
            f"cannot keep {node.target}: it returns {'more than' if made else 'no'} tensors",
            where=node.where,
            mend="let it return new tensors only",
        )
    result = [emit.temporary(None, None)] if is_list else made
    emit.op(f"pnnx.custom_op.{operator(node)}", result, **arguments).opaque = True
    if is_list:
        emit.positional("prim::ListUnpack", made, result)


def written(emit: Emitter, node: Node, value: Value, arg: Arg) -> Arg:
    """Spell an argument: a list of tensors is an operand."""
    if isinstance(value, ScalarType):
        return torch_dtype(value)
    for text in value if isinstance(value, tuple) else (value,):
        if isinstance(text, str) and is_constant(text):
            raise UnsupportedError(
                f"cannot keep {node.target}: pnnx's files cannot tell the string {text!r} from the "
                "constant of that name",
                where=node.where,
                mend="pass another string",
            )
    if not isinstance(arg, tuple) or not any(isinstance(item, Operand) for item in arg):
        return arg
    items = [item for item in arg if isinstance(item, Operand)]
    if len(items) < len(arg):
        raise UnsupportedError(
            f"cannot keep {node.target}: a list of tensors has gaps",
            where=node.where,
            mend="pass tensors only",
        )
    output = emit.temporary(None, None)
    emit.positional("prim::ListConstruct", output, items)
    return output
