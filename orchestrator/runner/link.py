"""A runner's ends of the pipes to its slot, out of reach of what trials print and read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from orchestrator.runner.messages import Order, decode_order, encode


@dataclass(frozen=True)
class Link:
    """JSON lines: orders in, answers out."""

    orders_from: BinaryIO
    answers_to: BinaryIO

    @classmethod
    def take(cls) -> Link:
        """Move standard input and output to private descriptors, which programs do not inherit.

        Whoever reads standard input finds its end; what is printed goes to standard error.
        """
        link = cls(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return link

    def orders(self) -> Iterator[Order]:
        """Yield orders until the slot closes its end or dies."""
        for line in self.orders_from:
            yield decode_order(line)

    def send(self, answer: msgspec.Struct) -> None:
        self.answers_to.write(encode(answer) + b"\n")
        self.answers_to.flush()

    def close(self) -> None:
        """Close both descriptors, in a forked child: they are its parent's."""
        os.close(self.orders_from.fileno())
        os.close(self.answers_to.fileno())


def print_to(file: Path) -> None:
    """Have all that this process and its programs print appended to a file, byte for byte.

    On Windows a process can start without standard output and error.
    """
    binary = getattr(os, "O_BINARY", 0)
    output = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | binary)
    os.dup2(output, 1)
    os.dup2(output, 2)
    if output > 2:
        os.close(output)
    else:  # it has the place of one that lacked, and is for programs too
        os.set_inheritable(output, True)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
