"""Reading `.pt2` files: from the bytes of an untrusted archive to a typed exported program."""

from converter.archive.program import Program
from converter.archive.read import read_program

__all__ = ["Program", "read_program"]
