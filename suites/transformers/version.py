"""Which interface this environment's transformers has, and which models."""

from importlib import import_module
from importlib.metadata import version
from types import ModuleType

from packaging.version import Version

from suites.case import Missing

INSTALLED = version("transformers")

V5 = Version(INSTALLED) >= Version("5")
"""Version 5 took the cache positions and head masks out of the attention modules."""


def modeling(name: str) -> ModuleType:
    """Import a model's file. Raises Missing where this version does not have the model."""
    try:
        return import_module(f"transformers.models.{name}.modeling_{name}")
    except ModuleNotFoundError:
        raise Missing(f"transformers {INSTALLED} has no {name}") from None
