"""Small files that ask for much: refused by the operator, before anything of that size is made."""

from __future__ import annotations

import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from archives import Archive, Json, meta
from programs import INT, Program, Value, booleans

from converter import Converted, convert
from converter.archive.zip import ZipFile
from converter.errors import UnsupportedError

MOST = 48 << 20
"""Bytes that refusing may take."""

HUGE = 20_000


def ints(*dims: int) -> Json:
    return meta(*dims, dtype=INT)


def peak(run: Callable[[], object]) -> int:
    """The most bytes that were held at a time."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def of_weight(target: str, type: Json, **arguments: Value) -> Archive:
    """One operator of a stored row of numbers, whose result the program returns."""
    program = Program(x=meta(2, 2))
    row = np.arange(HUGE, dtype=np.float32)
    program.weight("w", meta(HUGE), row.tobytes())
    program.weight("i", ints(HUGE), np.zeros(HUGE, np.int64).tobytes())
    program.weight("t", meta(1, HUGE), row.tobytes())
    return program.returning(program.call(target, "made", type, **arguments))


@pytest.mark.parametrize(
    ("target", "type", "arguments"),
    [
        ("repeat.default", meta(3, 4), {"self": "w", "repeats": (HUGE, 1)}),
        ("outer.default", meta(3, 4), {"self": "w", "vec2": "w"}),
        ("constant_pad_nd.default", meta(3, 4), {"self": "w", "pad": (1 << 30, 0)}),
        ("index_select.default", meta(3, 4), {"self": "t", "dim": 0, "index": "i"}),
        ("embedding.default", meta(3, 4), {"weight": "t", "indices": "i"}),
        ("stack.default", meta(3, 4), {"tensors": ("w",) * 2000}),
        ("cat.default", meta(3, 4), {"tensors": ("w",) * 2000}),
        ("arange.default", ints(4), {"end": 1 << 40}),
        ("eye.default", meta(4, 4), {"n": 1 << 20}),
        ("tril_indices.default", ints(2, 4), {"row": HUGE, "col": HUGE}),
        ("triu_indices.default", ints(2, 4), {"row": 1 << 40, "col": 1 << 40}),
        ("ones.default", meta(4), {"size": (1 << 40,)}),
        ("full.default", meta(4), {"size": (2, 2), "fill_value": 1.0}),
        ("zeros_like.default", meta(4), {"self": "w"}),
    ],
)
def test_results_of_another_shape_than_the_file_says_are_refused(
    target: str, type: Json, arguments: dict[str, Value], tmp_path: Path
) -> None:
    model = of_weight(target, type, **arguments).write(tmp_path / "m.pt2")

    def refused() -> None:
        with pytest.raises(UnsupportedError, match=r"the file says|it looks for them"):
            convert(model)

    assert peak(refused) < MOST
    assert list(tmp_path.iterdir()) == [model]


@pytest.mark.parametrize(
    ("target", "type", "arguments"),
    [
        ("triu.default", meta(HUGE, HUGE), {"self": "x"}),
        ("linspace.default", meta(1 << 28), {"start": 0, "end": 1, "steps": 1 << 28}),
        ("hann_window.default", meta(1 << 28), {"window_length": 1 << 28}),
        (
            "affine_grid_generator.default",
            meta(1, HUGE, HUGE, 2),
            {"theta": "theta", "size": (1, 1, HUGE, HUGE), "align_corners": True},
        ),
        (
            "scaled_dot_product_attention.default",
            meta(1, 1, HUGE, 4),
            {"query": "q", "key": "q", "value": "q", "is_causal": True},
        ),
    ],
)
def test_what_only_ncnn_would_store_costs_ncnn_alone(
    target: str, type: Json, arguments: dict[str, Value], tmp_path: Path
) -> None:
    program = Program(x=meta(HUGE, HUGE), q=meta(1, 1, HUGE, 4), theta=meta(1, 2, 3))
    made = program.call(target, "made", type, **arguments)
    sum_ = program.call("sum.default", "sum", meta(), self=made)
    model = program.returning(sum_).write(tmp_path / "m.pt2")
    converted: list[Converted] = []
    assert peak(lambda: converted.append(convert(model))) < MOST
    assert "needs a constant of" in str(converted[0].ncnn_refusal)
    assert len(converted[0].files) == 3


def test_many_small_constants_are_too_large_together(tmp_path: Path) -> None:
    program = Program(x=meta(4096, 4096))
    made = "x"
    for place in range(8):
        made = program.call("triu.default", f"t{place}", meta(4096, 4096), self=made)
    model = program.returning(made).write(tmp_path / "m.pt2")
    converted: list[Converted] = []
    assert peak(lambda: converted.append(convert(model))) < MOST
    assert "would hold 603979776" in str(converted[0].ncnn_refusal)


def test_masks_that_fit_are_stored(tmp_path: Path) -> None:
    program = Program(x=meta(3, 4))
    made = program.call("triu.default", "made", meta(3, 4), self="x")
    converted = convert(program.returning(made).write(tmp_path / "m.pt2"), fp16=False)
    assert converted.ncnn_refusal is None
    bound = np.where(np.triu(np.ones((3, 4))), np.inf, 0).astype(np.float32)
    weights = np.fromfile(tmp_path / "m.ncnn.bin", np.float32)
    np.testing.assert_array_equal(weights.reshape(2, 3, 4), [bound, -bound])


def views(count: int, *dims: int, stored: int) -> Archive:
    """A model that returns sums of its input and of views of one stored tensor."""
    program = Program(x=meta(*dims))
    given = meta(*dims, strides=(0,) * len(dims) if stored == 1 else None)
    names = [program.weight(f"w{place}", given, bytes(4 * stored)) for place in range(count)]
    made = [
        program.call("mul.Tensor", f"y{place}", meta(*dims), self="x", other=name)
        for place, name in enumerate(names)
    ]
    archive = program.returning(*made)
    for name in names[1:]:
        archive.weights[name]["path_name"] = names[0]
        del archive.files[f"data/weights/{name}"]
    return archive


@pytest.mark.parametrize(("count", "size", "stored"), [(300, 1 << 20, 1 << 20), (2000, 1 << 28, 1)])
def test_many_views_of_one_tensor_are_too_large_together(
    count: int, size: int, stored: int, tmp_path: Path
) -> None:
    model = views(count, size, stored=stored).write(tmp_path / "m.pt2")
    with pytest.raises(UnsupportedError, match=r"pnnx's file would hold \d+ bytes of tensors"):
        convert(model)
    assert list(tmp_path.iterdir()) == [model]


def test_tensors_that_ncnn_repeats_cost_ncnn_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PT2PNNX_UNPACKED_LIMIT", "1000")
    monkeypatch.setenv("PT2PNNX_UNPACKED_RATIO", "1")
    program = Program(x=meta(1024))
    program.weight("w", meta(1024), np.arange(1024, dtype=np.float32).tobytes())
    made = "x"
    for place in range(40):
        made = program.call("mul.Tensor", f"y{place}", meta(1024), self=made, other="w")
        made = program.call("relu.default", f"z{place}", meta(1024), self=made)
    converted = convert(program.returning(made).write(tmp_path / "m.pt2"))
    assert "ncnn's file would hold 163840 bytes of tensors" in str(converted.ncnn_refusal)
    assert len(converted.files) == 3


def test_a_deflated_tensor_is_unpacked_twice_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(x=meta(1))
    names = [program.weight(f"w{place}", meta(1, offset=place), b"") for place in range(40)]
    archive = program.returning(
        *(
            program.call("mul.Tensor", f"y{place}", meta(1), self="x", other=name)
            for place, name in enumerate(names)
        )
    )
    for name in names:
        archive.weights[name]["path_name"] = "w0"
        del archive.files[f"data/weights/{name}"]
    archive.files["data/weights/w0"] = np.arange(1 << 20, dtype=np.float32).tobytes()
    whole = convert(archive.write(tmp_path / "stored.pt2"), ncnnbin=tmp_path / "stored.bin")
    unpacked: list[str] = []
    inflated = ZipFile._inflated
    monkeypatch.setattr(
        ZipFile,
        "_inflated",
        lambda self, entry, limit: unpacked.append(entry.name) or inflated(self, entry, limit),
    )
    small = archive.write(tmp_path / "m.pt2", zipfile.ZIP_DEFLATED)
    again = convert(small, ncnnbin=tmp_path / "deflated.bin")
    assert unpacked.count("net/data/weights/w0") == 2
    assert len(again.files) == len(whole.files) == 6
    assert (tmp_path / "deflated.bin").read_bytes() == (tmp_path / "stored.bin").read_bytes()


def test_many_steps_from_a_stored_tensor_are_no_deep_ones(tmp_path: Path) -> None:
    """300 flips of 2 MiB, which are moved when they are written: each of the last few steps."""
    size = 1 << 19
    program = Program(x=meta(size))
    values = np.arange(size, dtype=np.float32)
    made = program.weight("w", meta(size), values.tobytes())
    for place in range(301):
        made = program.call("flip.default", f"f{place}", meta(size), self=made, dims=(0,))
    added = program.call("add.Tensor", "added", meta(size), self="x", other=made)
    converted = convert(program.returning(added).write(tmp_path / "m.pt2"), ncnn=False)
    with zipfile.ZipFile(converted.files[1]) as weights:
        (name,) = weights.namelist()
        np.testing.assert_array_equal(np.frombuffer(weights.read(name), np.float32), values[::-1])


def test_results_that_are_held_are_few(tmp_path: Path) -> None:
    """Comparisons are worked out at once, and slices keep no more than they are."""
    size = 1 << 22
    program = Program(x=booleans(size))
    values = np.arange(size, dtype=np.float32)
    made = program.weight("w", meta(size), values.tobytes())
    returned = []
    for place in range(24):
        twice = program.call("cat.default", f"c{place}", meta(2 * size), tensors=(made, made))
        made = program.call(
            "slice.Tensor", f"s{place}", meta(size), self=twice, dim=0, start=0, end=size
        )
        told = program.call("gt.Scalar", f"t{place}", booleans(size), self=made, other=place + 0.5)
        returned.append(
            program.call("logical_and.default", f"r{place}", booleans(size), self="x", other=told)
        )
    archive = program.returning(*returned)
    assert peak(lambda: convert(archive.write(tmp_path / "m.pt2"), ncnn=False)) < 15 * 4 * size


def test_many_batch_norms_in_a_row(tmp_path: Path) -> None:
    program = Program(x=meta(1, 4, 8, 8))
    weight = program.weight("w", meta(4, 4, 1, 1), np.eye(4, dtype=np.float32).tobytes())
    names = [program.weight(name, meta(4), np.ones(4, np.float32).tobytes()) for name in "abcd"]
    made = program.call("conv2d.default", "conv", meta(1, 4, 8, 8), input="x", weight=weight)
    for place in range(400):
        made = program.call(
            "batch_norm.default",
            f"b{place}",
            meta(1, 4, 8, 8),
            input=made,
            **dict(zip(("weight", "bias", "running_mean", "running_var"), names, strict=True)),
            training=False,
            momentum=0.1,
            eps=0.0,
            cudnn_enabled=False,
        )
    convert(program.returning(made).write(tmp_path / "m.pt2"))


@pytest.mark.parametrize(
    ("target", "type", "arguments"),
    [
        ("add.Tensor", meta(3, 5), {"self": "x", "other": "y"}),
        ("gt.Tensor", booleans(4), {"self": "x", "other": "y"}),
        ("cat.default", meta(3, 4), {"tensors": ("x", "x"), "dim": 0}),
        ("repeat.default", meta(3, 4), {"self": "x", "repeats": (1, 2)}),
        ("constant_pad_nd.default", meta(3, 4), {"self": "x", "pad": (1, 0)}),
    ],
)
def test_shapes_of_what_is_not_stored_are_checked_too(
    target: str, type: Json, arguments: dict[str, Value], tmp_path: Path
) -> None:
    program = Program(x=meta(3, 4), y=meta(4))
    made = program.call(target, "made", type, **arguments)
    model = program.returning(made).write(tmp_path / "m.pt2")
    with pytest.raises(UnsupportedError, match=r"made makes the shape \(.*\), and the file says"):
        convert(model)


def nested_views(depth: int) -> Archive:
    program = Program(x=meta(200))
    whole = made = program.call("clone.default", "whole", meta(200), self="x")
    for place in range(1, depth + 1):
        made = program.call(
            "slice.Tensor", f"s{place}", meta(200 - place), self=made, dim=0, start=1, end=200
        )
        program.call("add_.Tensor", f"w{place}", meta(200 - place), self=made, other=1.0)
    return program.returning(whole)


def test_writes_through_views_of_views_are_few(tmp_path: Path) -> None:
    convert(nested_views(20).write(tmp_path / "m.pt2"), ncnn=False)
    with pytest.raises(UnsupportedError, match="is a view of a view of"):
        convert(nested_views(80).write(tmp_path / "n.pt2"))
