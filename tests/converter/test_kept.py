"""`moduleop=` and `customop=`: what the user asks for is kept as one operator, nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import converter
from converter.errors import ConvertError, UnsupportedError, UsageError
from converter.pnnx.read import read_pnnx
from converter.statistics import statistics
from suites.compare import compare, exact
from suites.frontends import import_generated
from suites.pnnx_program import convert as convert_with_pnnx
from suites.structure import differences

torch.library.define(
    "test_kept::mix",
    "(Tensor x, Tensor[] others, float[] weights, int times=1, *, str mode='sum', "
    "ScalarType? dtype=None, bool flip=False) -> Tensor",
)
torch.library.define("test_kept::halves", "(Tensor x) -> (Tensor, Tensor)")
torch.library.define("test_kept::pieces", "(Tensor x, int count) -> Tensor[]")
torch.library.define("test_kept::fill", "(Tensor(a!) x) -> ()")


@torch.library.impl("test_kept::mix", "CompositeExplicitAutograd")
def mix(x, others, weights, times=1, *, mode="sum", dtype=None, flip=False):
    for other, weight in zip(others, weights, strict=True):
        x = x + other * weight * times
    x = x.flip(0) if flip else x.clone()
    return x.to(dtype) if dtype else x.mul(len(mode))


@torch.library.impl("test_kept::halves", "CompositeExplicitAutograd")
def halves(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x[:1] * 2, x[1:] * 3


@torch.library.impl("test_kept::pieces", "CompositeExplicitAutograd")
def pieces(x: torch.Tensor, count: int) -> list[torch.Tensor]:
    return [piece.clone() for piece in x.chunk(count)]


@torch.library.impl("test_kept::fill", "CompositeExplicitAutograd")
def fill(x: torch.Tensor) -> None:
    x.fill_(1)


ops = torch.ops.test_kept
x, y = torch.rand(2, 3), torch.rand(2, 3)


class Custom(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        mixed = ops.mix(x + 1, [y, x], [0.5, 2.0], 3, mode="a_mode", flip=True)
        double = ops.mix(x, [], [], dtype=torch.float64)
        one, other = ops.halves(mixed)
        (alone,) = ops.pieces(y, 1)
        first, second = ops.pieces(y, 2)
        return mixed, double, one.relu(), other - 1, alone, first - second


class Filling(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        ops.fill(x)
        return x


def export(model: nn.Module, *inputs: torch.Tensor, path: Path, strict: bool = False) -> Path:
    with torch.no_grad():
        torch.export.save(torch.export.export(model.eval(), inputs, strict=strict), path)
    return path


# --- operators


def test_custom_operators_are_called(tmp_path: Path) -> None:
    path = export(Custom(), x, y, path=tmp_path / "m.pt2")
    names = ["test_kept::mix", "test_kept.halves", "test_kept.pieces"]
    converter.convert(path, customop=names, ncnn=False)
    module = import_generated(tmp_path / "m_pnnx.py")
    compare(Custom()(x, y), module.Model()(x, y), exact)
    param = (tmp_path / "m.pnnx.param").read_text()
    assert "pnnx.custom_op.test_kept.mix " in param
    assert "arg_2=(0.5,2.0) arg_3=3 flip=True mode=a_mode" in param


def test_what_was_not_asked_for_is_refused_with_the_way_to_ask(tmp_path: Path) -> None:
    path = export(Custom(), x, y, path=tmp_path / "m.pt2")
    with pytest.raises(UnsupportedError, match=r"test_kept\.py:\d+ .*customop=test_kept\.mix"):
        converter.convert(path, ncnn=False)
    with pytest.raises(UnsupportedError, match=r"customop=test_kept\.halves"):
        converter.convert(path, customop=["test_kept.mix"], ncnn=False)


def test_an_operator_without_results_is_refused(tmp_path: Path) -> None:
    path = export(Filling(), x, path=tmp_path / "m.pt2")
    with pytest.raises(UnsupportedError, match=r"test_kept\.fill\.default: it returns no tensors"):
        converter.convert(path, customop=["test_kept.fill"], ncnn=False)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("fused.so", "customop=fused.so: the program has none; it has test_kept.halves, test_"),
        ("/home/me/fused.so", "customop=/home/me/fused.so is no operator; write customop=NAME"),
        ("test_kept.mixx", "the program has none; it has test_kept.mix"),
        ("mix", "customop=mix is no operator"),
        ("test_kept.class", "customop=test_kept.class is no operator"),
        ("test_kept.__init__", "customop=test_kept.__init__ is no operator"),
        ("lambda.mix", "customop=lambda.mix is no operator"),
    ],
)
def test_words_that_name_no_operator(word: str, told: str, tmp_path: Path) -> None:
    path = export(Custom(), x, y, path=tmp_path / "m.pt2")
    with pytest.raises(UsageError) as error:
        converter.convert(path, customop=[word])
    assert told in str(error.value)


def test_operators_of_pytorch_are_not_custom(tmp_path: Path) -> None:
    path = export(nn.ReLU(), x, path=tmp_path / "m.pt2")
    with pytest.raises(ConvertError, match="operators of aten are not custom ones"):
        converter.convert(path, customop=["aten.relu"], ncnn=False)


# --- modules


class Focus(nn.Module):
    def __init__(self, channels: int = 3) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(channels, 4, 3, padding=1), nn.BatchNorm2d(4))
        self.scale = nn.Parameter(torch.rand(4, 1, 1))
        self.register_buffer("offset", torch.rand(4, 1, 1))

    def forward(self, x: torch.Tensor, y: torch.Tensor | None = None) -> torch.Tensor:
        x = self.layers(x) * self.scale + torch.tensor([[[0.5]], [[1]], [[2]], [[0]]])
        return x + self.offset if y is None else x + y


class Both(nn.Sequential):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = super().forward(x)
        return x * 2, x.mean((2, 3))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(Focus(), nn.ReLU())
        self.again = Focus()
        self.both = Both(Focus(4), nn.ReLU())

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = self.body(x)
        z, mean = self.both(y)
        return y + z, mean, self.again(x), self.again(x * 2), self.body[0](x, y)


image = torch.rand(1, 3, 6, 5)
FOCUS, BOTH = f"{Focus.__module__}.Focus", f"{Both.__module__}.Both"


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("classes", [[FOCUS], [BOTH], [BOTH, FOCUS]])
def test_modules_are_kept_as_pnnx_keeps_them(
    classes: list[str], strict: bool, tmp_path: Path
) -> None:
    """But for its numbers of a batch-norm that nobody reads, and the names of modules."""
    torch.manual_seed(0)
    net = Net().eval()
    path = export(net, image, path=tmp_path / "m.pt2", strict=strict)
    with torch.no_grad():
        torch.jit.trace(net, image).save(tmp_path / "ts.pt")
    written = [tmp_path / "ts.pnnx.param", tmp_path / "ts.pnnx.bin"]
    words = [f"moduleop={','.join(classes)}"]
    printed = convert_with_pnnx(tmp_path / "ts.pt", words, written, limit=60)
    ours = converter.load(path, moduleop=classes)
    assert list(differences(read_pnnx(*written), ours)) == []
    assert "\n".join(statistics(ours).lines()) in printed


def test_the_module_takes_its_place_in_the_generated_model(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = Net().eval()
    path = export(net, image, path=tmp_path / "m.pt2")
    converter.convert(path, moduleop=FOCUS, ncnn=False)
    model = import_generated(tmp_path / "m_pnnx.py").Model().eval()
    with pytest.raises(NotImplementedError, match=rf"put a {FOCUS} in the place of this"):
        model(image)
    kept = [name for name, child in model.named_children() if type(child).__name__ == "Kept"]
    assert kept == ["body_0", "both_0", "again", "again_1", "body_0_1"]
    for name in kept:
        focus = Focus(4 if name == "both_0" else 3).eval()
        focus.load_state_dict(getattr(model, name).state_dict(), strict=False)
        setattr(model, name, focus)
    with torch.no_grad():
        compare(net(image), model(image), exact)


class Tied(nn.Module):
    """A module under two names, called twice by one of them, and a weight that two modules have."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Focus(4)
        self.second = Focus(4)
        self.second.scale = self.first.scale
        self.third = self.first

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.third(self.second(self.first(self.first(x)), x))


@pytest.mark.parametrize("strict", [False, True])
def test_modules_that_share_weights_have_them_each(strict: bool, tmp_path: Path) -> None:
    """And are not given them as inputs, which the module in their place would not take."""
    torch.manual_seed(0)
    net, given = Tied().eval(), torch.rand(1, 4, 6, 5)
    path = export(net, given, path=tmp_path / "m.pt2", strict=strict)
    converter.convert(path, moduleop=[FOCUS], ncnn=False)
    model = import_generated(tmp_path / "m_pnnx.py").Model().eval()
    places = [name for name, child in model.named_children() if type(child).__name__ == "Kept"]
    assert len(places) == 4
    for name in places:
        focus = Focus(4).eval()
        held = getattr(model, name).state_dict()
        assert {"scale", "layers.0.weight", "layers.1.running_mean"} < held.keys()
        focus.load_state_dict(held, strict=False)
        setattr(model, name, focus)
    with torch.no_grad():
        compare(net(given), model(given), exact)


class Writing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mul_(2)


class Holder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.writing = Writing()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        return self.writing(x) + x


def test_a_module_that_writes_to_what_it_is_given_is_refused(tmp_path: Path) -> None:
    path = export(Holder(), x, path=tmp_path / "m.pt2")
    with pytest.raises(UnsupportedError, match=r"cannot keep .*Writing writing: its torch\.ops"):
        converter.convert(path, moduleop=[f"{__name__}.Writing"])


def test_a_class_that_the_model_does_not_have(tmp_path: Path) -> None:
    path = export(Net(), image, path=tmp_path / "m.pt2")
    with pytest.raises(UsageError, match=rf"moduleop=Focs: the program has none; it has .*{FOCUS}"):
        converter.convert(path, moduleop=["Focs"])


@pytest.mark.parametrize("word", ["pnnx.Input", "nn.Conv2d", "F.relu", "torch.cat", "prim::List"])
def test_a_class_that_is_called_as_an_operator_of_pnnx(word: str, tmp_path: Path) -> None:
    path = export(Net(), image, path=tmp_path / "m.pt2")
    with pytest.raises(UsageError, match=f"moduleop={word}: pnnx's files have an operator of that"):
        converter.convert(path, moduleop=["models.Focus", word])


class Naming(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ops.mix(x, [], [], mode="torch.float")


def test_a_string_that_would_become_a_dtype_is_refused(tmp_path: Path) -> None:
    path = export(Naming(), x, path=tmp_path / "m.pt2")
    with pytest.raises(UnsupportedError, match=r"cannot tell the string 'torch.float' from the"):
        converter.convert(path, customop=["test_kept.mix"], ncnn=False)


def test_the_command_line(tmp_path: Path) -> None:
    export(Net(), image, path=tmp_path / "m.pt2")
    words = [sys.executable, "-m", "converter.cli", "m.pt2", f"moduleop={FOCUS},{BOTH}"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    for file in ("m.pnnx.param", "m.ncnn.param"):
        assert f"\n{FOCUS} " in (tmp_path / file).read_text()
