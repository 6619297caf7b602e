"""Strict and decomposed exports of a few cases: the graph of the plain one, and equal to eager."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from converter.pnnx.param import read_param
from suites.execute import run_trial
from suites.exports import TABLES, compare_export, plainly
from suites.registry import discover
from suites.reviewed import read_reviewed
from suites.trial import DECOMPOSED, EXPORTS, Outcome, Trial

SAMPLE = (
    *("F_scaled_dot_product_attention", "F_softplus", "nn_AdaptiveAvgPool1d", "nn_BatchNorm2d"),
    *(
        "nn_Dropout",
        "nn_InstanceNorm2d",
        "nn_Linear",
        "nn_MaxPool1d",
        "nn_PReLU",
        "nn_PixelShuffle",
    ),
    *("nn_ReflectionPad2d", "torch_bmm"),
)


def graph_of(name: str, export: str, folder: Path) -> str:
    """The graph of a trial, which must pass."""
    folder.mkdir()
    result = run_trial(Trial(name, "here", "pt2", "pnnx", export=export), folder)
    assert (result.outcome, result.diagnostic) == (Outcome.passed, "")
    return zlib.decompress(result.graph).decode()


@pytest.mark.parametrize("name", SAMPLE)
def test_other_exports_give_the_same_graph_and_results(name: str, tmp_path: Path) -> None:
    plain, *others = [graph_of(name, export, tmp_path / export) for export in EXPORTS]
    for export, other in zip(EXPORTS[1:], others, strict=True):
        assert list(map(str, compare_export(plain, other, export))) == []


@pytest.mark.parametrize("name", ["nn_RNN", "torch_fft_rfft2", "torch_roll"])
def test_decomposed_exports_compute_what_the_model_does(name: str, tmp_path: Path) -> None:
    """Though their graph is another one."""
    assert graph_of(name, DECOMPOSED, tmp_path / DECOMPOSED)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("torch.transpose dim0=-1 dim1=-2", "torch.transpose dim0=1 dim1=2", True),
        ("torch.transpose dim0=-1 dim1=0", "torch.transpose dim0=1 dim1=2", False),
        ("F.softmax dim=-1", "F.softmax dim=2", True),
        ("F.softmax dim=-1", "F.softmax dim=1", False),
        ("torch.unsqueeze dim=-1", "torch.unsqueeze dim=3", True),
        ("F.threshold value=20", "F.threshold value=20.0", True),
        ("F.threshold value=20", "F.threshold value=20.5", False),
        ("F.pad value=None", "F.pad value=0.0", True),
        (
            "F.avg_pool1d kernel_size=(3) stride=None",
            "F.avg_pool1d kernel_size=(3) stride=(3)",
            True,
        ),
        ("torch.tile dims=(2)", "torch.tile dims=(1,1,2)", True),
        ("torch.tile dims=(2)", "torch.tile dims=(2,1,1)", False),
    ],
)
def test_arguments_are_compared_by_what_they_say(one: str, other: str, same: bool) -> None:
    assert (params(one) == params(other)) is same


def params(words: str) -> object:
    type, _, given = words.partition(" ")
    line = f"{type} op 1 1 x y {given} #x=(2,3,4)f32 #y=(2,3,4,1)f32"
    text = f"7767517\n2 2\npnnx.Input in 0 1 x #x=(2,3,4)f32\n{line}"
    return plainly(read_param(text, "test").operators[-1])


@pytest.mark.parametrize("export", TABLES)
def test_the_tables_are_well_formed(export: str) -> None:
    assert read_reviewed({info.name for info in discover()}, TABLES[export])
