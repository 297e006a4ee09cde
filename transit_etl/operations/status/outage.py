"""Says whether the upstream is down: asked again and again, without a usable answer."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from transit_etl.operations.status import lake
from transit_etl.operations.status.last_hour import LastHour, UnusableAnswers
from transit_etl.settings import CollectSettings, FolderSettings

FEWEST_REQUESTS = 3  # one or two may fail by chance


@dataclass(frozen=True, slots=True)
class Outage:
    """The upstream gives no usable answer; `outcomes` counts what came instead, in the last hour.

    `since` is when the first of the requests was sent, `last_asked_at` the last one.
    """

    since: datetime
    last_asked_at: datetime
    last_good_at: datetime | None
    outcomes: dict[str, int]


def read_outage(hour: LastHour, settings: CollectSettings, now: datetime) -> Outage | None:
    """Return the outage that lasts at this moment, as far as the last hour's requests tell; None without."""
    series = hour.unusable_answers()
    if series is None or sum(series.outcomes.values()) < FEWEST_REQUESTS:
        return None
    found = _with_lake(_outage(series), settings, now)
    return found if now - found.since >= timedelta(seconds=settings.down_after_seconds) else None


def _outage(series: UnusableAnswers) -> Outage:
    return Outage(series.first_at, series.last_at, series.last_good_at, series.outcomes)


def _with_lake(outage: Outage, settings: FolderSettings, now: datetime) -> Outage:
    """Complete an outage that is older than the last hour by what the lake knows of its beginning."""
    if outage.last_good_at is not None:
        return outage
    last_good_at, since = lake.last_outage(settings, now)
    return replace(outage, last_good_at=last_good_at, since=min(since or outage.since, outage.since))
