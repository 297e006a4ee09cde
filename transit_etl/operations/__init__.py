"""Looks after an installation: its state, what is wrong with it, backups, damaged files, what is old.

Everything else in the project imports from here, never from the modules inside.
"""

from transit_etl.operations.backup import back_up, release_old_raw, release_raw, restore
from transit_etl.operations.check import (
    Examination,
    Problem,
    examine,
    forget_failures,
    remember_failure,
    send_alerts,
)
from transit_etl.operations.metrics import examine_and_record, metrics_text, write_metrics
from transit_etl.operations.pruning import prune
from transit_etl.operations.status import ago, last_answer, read_status, show_status
from transit_etl.operations.verification import verify

__all__ = [
    "Examination",
    "Problem",
    "ago",
    "back_up",
    "examine",
    "examine_and_record",
    "forget_failures",
    "last_answer",
    "metrics_text",
    "prune",
    "read_status",
    "release_old_raw",
    "release_raw",
    "remember_failure",
    "restore",
    "send_alerts",
    "show_status",
    "verify",
    "write_metrics",
]
