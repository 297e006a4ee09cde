"""Pages that people look at: how punctual the service was, how sure that is, and what went wrong.

They are made from the published file alone, and open from disk without a network and without scripts.
"""

from transit_reports.index import write_operators
from transit_reports.periods import ReportError
from transit_reports.site import ReportRequest, ReportSummary, write_reports

__all__ = ["ReportError", "ReportRequest", "ReportSummary", "write_operators", "write_reports"]
