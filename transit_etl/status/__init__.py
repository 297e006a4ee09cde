"""What `transit-etl status` says: the state of an installation at this moment, and a screen of it."""

from transit_etl.status.facts import Status, read_status
from transit_etl.status.view import ago, describe_outage, show_status

__all__ = ["Status", "ago", "describe_outage", "read_status", "show_status"]
