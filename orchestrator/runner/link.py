"""A runner's ends of the pipes to its slot, out of reach of what trials print and read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
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
