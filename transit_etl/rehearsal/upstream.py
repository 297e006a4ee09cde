"""Checks that a server answers about the time it is told, before a rehearsal sends requests without pause."""

from datetime import UTC, datetime, timedelta

import httpx2

from transit_etl.api import v1
from transit_etl.api.client import NOW_HEADER
from transit_etl.rehearsal.journal import RehearsalError
from transit_etl.settings import CollectSettings

_ANY_STOP = "0000"  # the answer for an unknown stop has the instant too
_ANOTHER_TIME = timedelta(days=-30)
_TOLERANCE = timedelta(days=1)  # an injected fault may set its clock wrong by hours
_TRIES = 10  # some may fail because of injected faults


def require_emulated_clock(settings: CollectSettings) -> None:
    """Ask about another time than now; RehearsalError unless the answer is about that time.

    A server that ignores the header would receive all requests of the rehearsal at once.
    """
    problem = "no answer"
    for number in range(_TRIES):
        told = datetime.now(UTC) + _ANOTHER_TIME * (number + 1)
        try:
            answered_for = _answered_for(settings, told)
        except (httpx2.HTTPError, OSError, ValueError, KeyError, TypeError) as error:
            problem = f"{type(error).__name__}: {error}"
            continue
        if abs(answered_for - told) <= _TOLERANCE:
            return
        raise RehearsalError(
            f"{settings.base_url} answers about {answered_for:%Y-%m-%d %H:%M} UTC when told that it is "
            f"{told:%Y-%m-%d %H:%M}: only a server that honours {NOW_HEADER} can be rehearsed against"
        )
    raise RehearsalError(f"{settings.base_url} cannot be rehearsed against: {problem}")


def _answered_for(settings: CollectSettings, told: datetime) -> datetime:
    answer = httpx2.get(
        settings.base_url + v1.passages(_ANY_STOP).path,
        headers={NOW_HEADER: told.isoformat(), "User-Agent": settings.user_agent},
        timeout=settings.total_timeout_seconds,
    )
    return datetime.fromisoformat(answer.raise_for_status().json()["timestamp"])
