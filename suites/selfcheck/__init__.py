"""Samples that are wrong on purpose, each in one way: they check the harness, not the converters.

They are planned only where `--suite selfcheck` asks for them.
"""
