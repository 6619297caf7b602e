"""What a slot and its runner, and a runner and its trial, say to each other."""

from __future__ import annotations

import msgspec

from orchestrator.record import CellRecord
from suites.trial import Result, Stage, Trial


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """A runner is warm: the cell as it found it, and the folder that holds all of its files."""

    cell: CellRecord
    folder: str


class Order(msgspec.Struct, frozen=True, tag="order"):
    """Run trials that share a conversion, and kill each after `limit` seconds of its own."""

    trials: tuple[Trial, ...]
    limit: float


class At(msgspec.Struct, frozen=True, tag="at"):
    """A trial begins a stage."""

    stage: Stage


class Done(msgspec.Struct, frozen=True, tag="done"):
    """What a trial came to."""

    result: Result


encode = msgspec.json.encode
decode_order = msgspec.json.Decoder(Order).decode
decode_answer = msgspec.json.Decoder(Ready | Done).decode
decode_report = msgspec.json.Decoder(At | Done).decode
