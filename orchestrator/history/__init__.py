"""What earlier runs came to: `results/history.sqlite`, and the questions that it answers.

It holds nothing that the run folders in `results/` lack: without it plans and reports compare with
less, and `pnnx-parity history --rebuild` makes it anew. So nothing fails for want of it: `attempt`
warns and goes on.
"""

from orchestrator.history.attempt import attempt
from orchestrator.history.past import Came, Key, Past, PastRun, usual
from orchestrator.history.store import FILE, History, HistoryError, Recorded

__all__ = [
    "FILE",
    "Came",
    "History",
    "HistoryError",
    "Key",
    "Past",
    "PastRun",
    "Recorded",
    "attempt",
    "usual",
]
