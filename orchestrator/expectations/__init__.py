"""Expectation tables: which trials may fail, how, where, and why; and the audit of results by them.

The reference of the format is docs/expectations.md. There is no other skip list.
"""

from orchestrator.expectations.audit import Judgement, Verdict, audit, exit_status, judge
from orchestrator.expectations.errors import TableError
from orchestrator.expectations.facts import Facts
from orchestrator.expectations.read import load_tables, read_tables
from orchestrator.expectations.table import Expectation, Table

__all__ = [
    "Expectation",
    "Facts",
    "Judgement",
    "Table",
    "TableError",
    "Verdict",
    "audit",
    "exit_status",
    "judge",
    "load_tables",
    "read_tables",
]
