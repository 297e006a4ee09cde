"""What `transit-etl status` says: the state of an installation at this moment, and a screen of it."""

from transit_etl.operations.status.facts import Status, read_status
from transit_etl.operations.status.view import ago, describe_outage, last_answer, show_status, span

__all__ = [
    "Status",
    "ago",
    "describe_outage",
    "last_answer",
    "read_status",
    "show_status",
    "span",
]
