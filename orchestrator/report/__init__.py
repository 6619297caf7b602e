"""Reports: runs merged, judged, and written as HTML, Markdown, JSON and JUnit.

merged = merge(folders)
report = build(merged, table, cases)
write(report, folder)
tell(report, folder, cases, merged.places)
return report.status
"""

from orchestrator.report.build import build
from orchestrator.report.merge import Merged, RunError, merge
from orchestrator.report.model import Report
from orchestrator.report.structure import Reasons
from orchestrator.report.summary import summary, tell
from orchestrator.report.write import write

__all__ = ["Merged", "Reasons", "Report", "RunError", "build", "merge", "summary", "tell", "write"]
