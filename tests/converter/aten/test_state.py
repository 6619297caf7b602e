"""Buffers that forward changes, and inputs: what no result depends on goes, the rest is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from equality import decompositions, load
from torch import nn

import converter
from converter.errors import UnsupportedError
from suites.compare import compare, exact

Forward = Callable[[nn.Module, torch.Tensor], Any]

x = torch.rand(2, 3)


class Model(nn.Module):
    def __init__(self, forward: Forward) -> None:
        super().__init__()
        self.function = forward
        self.register_buffer("count", torch.tensor(0))
        self.register_buffer("cache", torch.full((2, 3), 7.0))
        self.register_buffer("scratch", torch.full((2, 3), 5.0), persistent=False)
        self.register_buffer("whole", torch.arange(6.0))
        self.register_buffer("halves", torch.arange(6.0))
        self.register_buffer("part", self.halves[:3])

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self, x)


def export(forward: Forward, form: str, folder: Path) -> Path:
    with torch.no_grad():
        program = torch.export.export(Model(forward).eval(), (x.clone(),), strict=form == "strict")
        if form == "decomposed":
            program = program.run_decompositions(decompositions())
    torch.export.save(program, folder / "m.pt2")
    return folder / "m.pt2"


def counted(model: Any, x: torch.Tensor) -> torch.Tensor:
    model.count.add_(1)
    model.count.clamp_(max=100)
    return x.relu()


def overwritten(model: Any, x: torch.Tensor) -> torch.Tensor:
    model.cache.copy_(x * 2)
    return model.cache.t() + model.cache.sum()


def filled(model: Any, x: torch.Tensor) -> torch.Tensor:
    model.scratch.zero_()
    model.scratch[0] = x[1]
    model.scratch[1:].add_(x[:1])
    return model.scratch * 1


def seen(model: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    model.cache[1] = x[0]
    return x + 1, model.scratch + x


def averaged(model: Any, x: torch.Tensor) -> torch.Tensor:
    model.cache.mul_(0.9).add_(x, alpha=0.1)
    return x - x.mean()


def in_part(model: Any, x: torch.Tensor) -> torch.Tensor:
    model.whole[2:4] = x[0, :2]
    model.whole[-1] = x[1, 0]
    model.cache[:, 1:] = x[:, :2]
    return model.cache[:, 1:] + model.whole[5]


FORMS = ("as exported", "strict", "decomposed")


@pytest.mark.parametrize(
    ("forward", "form"),
    [
        *itertools.product([counted, overwritten, filled, seen, averaged], FORMS),
        (in_part, "as exported"),
        (in_part, "strict"),
    ],
)
def test_state_that_no_result_depends_on(forward: Forward, form: str, tmp_path: Path) -> None:
    """Every call computes what the model computes, the second as well."""
    converter.convert(export(forward, form, tmp_path), ncnn=False)
    assert "State" not in (tmp_path / "m.pnnx.param").read_text()
    model, generated = Model(forward), load(tmp_path / "m_pnnx.py")
    for given in (x, x * 3 - 1):
        compare(model(given.clone()), generated(given.clone()), exact)


def read_first(model: Any, x: torch.Tensor) -> torch.Tensor:
    y = model.cache + x
    model.cache.copy_(x)
    return y


def filled_with(model: Any, x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(x).fill_(model.count)
    model.count += 1
    return y + x


def appended(model: Any, x: torch.Tensor) -> torch.Tensor:
    model.cache[1] = x[0]
    return model.cache.sum(0)


def read_beyond(model: Any, x: torch.Tensor) -> torch.Tensor:
    model.cache[:, 1:] = x[:, :2]
    return model.cache[:, :2] + 1


def stepped(model: Any, x: torch.Tensor) -> torch.Tensor:
    model.count.add_(1)
    return x * model.count


def shared(model: Any, x: torch.Tensor) -> torch.Tensor:
    model.part.copy_(x[0])
    return model.halves[:3] + x


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("forward", "told"),
    [
        (read_first, "the results depend on cache, which the model changes"),
        (filled_with, "count"),
        (appended, "the results depend on cache, which the model changes"),
        (read_beyond, "the results depend on cache, which the model changes"),
        (stepped, "the results depend on count, which the model changes"),
    ],
)
def test_state_that_a_call_leaves_to_the_next(
    forward: Forward, told: str, form: str, tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedError) as refused:
        converter.convert(export(forward, form, tmp_path), ncnn=False)
    assert told in str(refused.value)
    assert "; " in str(refused.value)


@pytest.mark.parametrize("form", ["as exported", "strict"])
def test_state_that_shares_its_memory(form: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="changes part, which shares its memory with halves"):
        converter.convert(export(shared, form, tmp_path), ncnn=False)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "forward", [lambda m, x: x.add_(1) * 2, lambda m, x: x[0].zero_().sum() + x]
)
def test_writes_to_inputs_are_told(forward: Forward, form: str, tmp_path: Path) -> None:
    """pnnx leaves the caller's tensors alone as well."""
    converted = converter.convert(export(forward, form, tmp_path), ncnn=False)
    assert converted.notes == ("the model writes to its input x; what is written of it does not",)
    given = x.clone()
    compare(Model(forward)(x.clone()), load(tmp_path / "m_pnnx.py")(given), exact)
    assert torch.equal(given, x)


def test_nothing_is_told_of_a_model_that_writes_to_its_own_tensors(tmp_path: Path) -> None:
    converted = converter.convert(
        export(lambda m, x: (x + 1).relu_(), "as exported", tmp_path), ncnn=False
    )
    assert converted.notes == ()
