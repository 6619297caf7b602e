"""Where a node comes from: its source line, its nn.Modules and the call that it was decomposed of,
parsed from torch's text.

The text is foreign: what does not parse gives no location, never an error.
"""

from __future__ import annotations

import re
from functools import lru_cache

from converter.archive.program import ModuleFrame
from converter.archive.region import printable
from converter.errors import Where

FRAME = re.compile(r'^ *File "([^"\n]+)", line (\d{1,9}), in [^\n]*(?:\n +([^\n]*))?', re.MULTILINE)
OWN = re.compile(
    r"[\\/](?:site|dist)-packages[\\/]torch[\\/]"
    r"|[\\/]torch[\\/](?:nn|fx|jit|export|utils|autograd|functional\.py|_[\w.]+)(?:[\\/]|$)"
)
"""Files of PyTorch itself, installed or built from source."""


@lru_cache(maxsize=256)  # neighbours have the same
def module_stack(text: str) -> tuple[ModuleFrame, ...]:
    """Parse `nn_module_stack`, outermost module first: `key,fqn,class` joined with `;`.

    torch escapes nothing; commas inside brackets belong to a name, as its own reader has it. An
    item that is not three fields is left out.
    """
    frames = []
    for item in text.split(";") if text else ():
        fields = _fields(item)
        if len(fields) == 3:
            frames.append(ModuleFrame(*(printable(fields[place]) for place in (1, 2, 0))))
    return tuple(frames)


def _fields(item: str) -> list[str]:
    """Split at the commas that are outside of brackets."""
    if frozenset("[()]").isdisjoint(item):
        return item.split(",")
    fields, start, depth = [], 0, 0
    for position, character in enumerate(item):
        if character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
        elif character == "," and depth == 0:
            fields.append(item[start:position])
            start = position + 1
    fields.append(item[start:])
    return fields


def source(stack_trace: str, modules: tuple[ModuleFrame, ...]) -> Where | None:
    """Find the innermost frame of the user's code: the last that is not in a file of PyTorch.

    Where all are PyTorch's own, it is the last one; None if there is none of a file. What torch.fx
    generates, `<eval_with_key>.5`, is in no file.
    """
    frames = [frame for frame in FRAME.findall(stack_trace) if not frame[0].startswith("<eval")]
    if not frames:
        return None
    file, line, code = next((f for f in reversed(frames) if not OWN.search(f[0])), frames[-1])
    return Where(
        printable(file),
        int(line),
        printable(" ".join(code.split())),
        modules[-1].fqn if modules else "",
    )


ORIGIN = re.compile(r'"target": "(\w+\.\w+\.\w+)"')


def origin(from_node: str) -> str | None:
    """Find the call that a node of a decomposed program was, or was a part of, before.

    torch nests what each node was made from, with the same keys in the same order: the oldest is
    the last in the text. None where the program was not decomposed.
    """
    start = from_node.rfind('"target": ')
    found = ORIGIN.match(from_node, start) if start >= 0 else None
    return found[1] if found else None
