"""Reads from raw files when answers came that are older than an hour and not staged: no ledger has them."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from transit_etl.operations.status.lake import LEDGER_DAYS
from transit_etl.operations.status.last_hour import LastAnswers, last_answers
from transit_etl.paths import is_rehearsed
from transit_etl.service_day import DAY
from transit_etl.stage.raw import RawWindow

MOST_WINDOWS = 6  # of each endpoint: where nothing was staged for days, there are hundreds


def unstaged_answers(waiting: Iterable[RawWindow], operator: str, now: datetime) -> LastAnswers:
    """Return the last good answers in the newest windows of an operator that wait for being staged."""
    of_endpoint = defaultdict(list)
    for window in waiting:
        if window.operator == operator and not is_rehearsed(window.name):
            of_endpoint[window.endpoint].append(window)
    newest = [
        window.path
        for windows in of_endpoint.values()
        for window in sorted(windows, key=lambda each: each.name)[-MOST_WINDOWS:]
    ]
    return last_answers(newest, now - LEDGER_DAYS * DAY, now)
