"""How arguments and results nest: torch's serialized pytree specs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from converter.archive import schema
from converter.archive.program import TreeSpec

PROTOCOL = 1
DEPTH_LIMIT = 64
"""Of nests in nests, so that what walks them can recurse."""


def read_tree(text: str, named_tuples: Mapping[str, schema.NamedTupleDef]) -> TreeSpec:
    """Parse what `torch.utils._pytree.treespec_dumps` wrote: `[1, {type, context, children_spec}]`.

    `named_tuples` gives the field names of each named tuple by its serialized type. Raises
    ValueError (msgspec's errors are ones).
    """
    protocol, root = msgspec.json.decode(text, type=tuple[int, schema.TreeNode])
    if protocol != PROTOCOL:
        raise ValueError(f"pytree protocol {protocol}")
    return _node(root, named_tuples, depth=0)


def _node(
    node: schema.TreeNode, named_tuples: Mapping[str, schema.NamedTupleDef], depth: int
) -> TreeSpec:
    if depth > DEPTH_LIMIT:
        raise ValueError("nested too deeply")
    if not node.type:
        if node.children_spec:
            raise ValueError("a leaf with children")
        return TreeSpec()
    children = tuple(_node(child, named_tuples, depth + 1) for child in node.children_spec)
    if node.type == "collections.namedtuple":
        fields = named_tuples.get(node.context) if isinstance(node.context, str) else None
        keys: Sequence[Any] = fields.field_names if fields else ()
    else:
        keys = _keys(node.context)
    return TreeSpec(node.type, tuple(keys) if len(keys) == len(children) else (), children)


def _keys(context: Any) -> Sequence[Any]:
    """Read the keys of a dict-like node: a list, as JSON in a string.

    A defaultdict has them in an object, a dataclass before those fields that were None. What a
    class of the user's own keeps there is not ours to know: no keys.
    """
    try:
        keys = msgspec.json.decode(context) if isinstance(context, str) else context
    except msgspec.DecodeError:
        return ()
    if isinstance(keys, dict):
        keys = keys.get("dict_context")
    if isinstance(keys, list) and len(keys) == 2 and isinstance(keys[0], list):
        keys = keys[0]
    if isinstance(keys, list) and all(isinstance(key, str | int) for key in keys):
        return keys
    return ()
