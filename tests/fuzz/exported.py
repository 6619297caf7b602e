"""Exports cases of suites/ to a folder, for the fuzzer: `python exported.py FOLDER [CASE…]`."""

from __future__ import annotations

import contextlib
import logging
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import torch

from suites.case import Missing
from suites.frontends import frontend_of
from suites.inputs import draw
from suites.registry import discover, load
from suites.trial import PLAIN

SUITES = ("functional", "modules", "tensor", "torch_ops", "fusion")


def main(words: Sequence[str]) -> int:
    """Those that torch refuses, or that need what is not installed, are left out."""
    folder, *names = words
    Path(folder).mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    with contextlib.chdir(folder), torch.no_grad():
        for name in names or [info.name for info in discover(SUITES)]:
            # What a case cannot be exported for is told by the run of cases, not here.
            with contextlib.suppress(Missing, Exception):
                case = load(name)
                model = case.cls().eval()
                frontend_of(case, "pt2", PLAIN).export(model, draw(case.inputs_for("pnnx"), "cpu"))
    print(len(list(Path(folder).glob("*.pt2"))), "files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
