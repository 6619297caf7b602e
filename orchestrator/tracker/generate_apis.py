"""Writes `apis.txt`, the public APIs that the parity tracker may name, from what this imports:

    python -m orchestrator.tracker.generate_apis

Run it in the reference cell's Python. The orchestrator itself imports none of these packages.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import torch
import torch.nn.functional
import torchaudio
import torchvision
import torchvision.models.quantization
import transformers
from torch.nn import Module

from orchestrator.tracker.apis import LIST

FUNCTIONS = (
    torch,
    torch.fft,
    torch.linalg,
    torch.special,
    torch.nn.functional,
    torch.nn.utils,
    torch.nn.utils.parametrizations,
    torchvision.models.quantization,
)
INTERNAL = ("_", "assert_", "handle_torch_function", "has_torch_function")


def main() -> None:
    """Replace the list."""
    found = [
        *(f"torch.nn.{name}" for name in sorted(modules())),
        *(
            f"{module.__name__}.{name}"
            for module in FUNCTIONS
            for name in sorted(functions(module))
        ),
        *(f"torch.Tensor.{name}" for name in dir(torch.Tensor) if is_method(name)),
        *(
            f"torchvision.models.{name}"
            for name in torchvision.models.list_models(torchvision.models)
        ),
        *(f"torchvision.ops.{name}" for name in sorted(torchvision.ops.__all__)),
        *(f"torchaudio.functional.{name}" for name in sorted(torchaudio.functional.__all__)),
        *(f"torchaudio.transforms.{name}" for name in sorted(torchaudio.transforms.__all__)),
        *(
            f"transformers.models.{module.name}"
            for module in pkgutil.iter_modules(transformers.models.__path__)
        ),
    ]
    packages = (torch, torchvision, torchaudio, transformers)
    title = "# " + ", ".join(f"{package.__name__} {package.__version__}" for package in packages)
    unfinished = LIST.with_suffix(".unfinished")
    unfinished.write_text("\n".join([title, *found, ""]), encoding="utf-8", newline="\n")
    unfinished.replace(LIST)


def modules() -> Iterator[str]:
    """The classes of torch.nn that make a layer, and not the base of all."""
    for name, value in vars(torch.nn).items():
        if inspect.isclass(value) and issubclass(value, Module) and value is not Module:
            yield name


def functions(module: ModuleType) -> Iterator[str]:
    """The functions of a module that are its own or torch's builtins, in-place twins apart."""
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith(INTERNAL) and is_function(value, module)
    }
    return (name for name in public if name.removesuffix("_") not in public - {name})


def is_function(value: Any, module: ModuleType) -> bool:
    home = getattr(value, "__module__", None) or ""
    own = home.startswith((module.__name__, "torch.functional")) and not inspect.isclass(value)
    return inspect.isbuiltin(value) or (inspect.isroutine(value) and own)


def is_method(name: str) -> bool:
    return not name.startswith("_") or name in ("__getitem__", "__setitem__")


if __name__ == "__main__":
    main()
