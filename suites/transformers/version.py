"""Which interface this environment's transformers has."""

from importlib.metadata import version

from packaging.version import Version

V5 = Version(version("transformers")) >= Version("5")
"""Version 5 took the cache positions and head masks out of the attention modules."""
