"""Names the datasets that can be collected, and makes the source of each from what the lake knows."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import partial

from transit_etl.api import v1
from transit_etl.api.client import MissingTokenError
from transit_etl.api.exchange import Request
from transit_etl.collect import sources
from transit_etl.collect.catalogue import Catalogue, NothingKnownError
from transit_etl.collect.observing import Observer, normal_label
from transit_etl.collect.policies import policy_of
from transit_etl.collect.priorities import Kind
from transit_etl.collect.replay import replay
from transit_etl.collect.routes import Course
from transit_etl.collect.sources import Source
from transit_etl.service_day import DAY, service_date
from transit_etl.settings import Settings

MOMENTARY = frozenset({"passages", "status"})  # polled for a window; the others are done when their list is


class UnknownDatasetError(ValueError):
    """There is no dataset of this name; the message lists those there are."""


def source_of(dataset: str, settings: Settings, start: datetime) -> Source:
    """Return where a dataset's requests come from, as of `start`; NothingKnownError if none can be made."""
    try:
        make = _SOURCES[dataset]
    except KeyError:
        raise UnknownDatasetError(f"no dataset {dataset!r}; there are {', '.join(_SOURCES)}") from None
    return make(settings, Catalogue(settings.data_dir, settings.operator), start)


def _lines(_settings: Settings, _catalogue: Catalogue, _start: datetime) -> Source:
    return sources.Listed(Kind.NETWORK, [v1.lines()])


def _stops(_settings: Settings, catalogue: Catalogue, _start: datetime) -> Source:
    codes = [line.code for line in catalogue.lines()]
    return sources.Listed(Kind.NETWORK, sources.valid_requests(v1.stops, codes))


def _timetables(settings: Settings, catalogue: Catalogue, start: datetime) -> Source:
    today = service_date(start, settings.zone, settings.service_day_cutoff)
    codes = [line.code for line in catalogue.lines() if line.is_active]
    received = catalogue.timetables()
    days = [today + DAY * ahead for ahead in range(settings.timetable_days_ahead + 1)]
    return sources.Listed(
        Kind.TIMETABLES,
        (request for day in days for request in _oldest_first(codes, day, received)),
    )


def _oldest_first(codes: list[str], day: date, received: dict[str, datetime]) -> list[Request]:
    """Return a day's timetable requests, those never received well before those received long ago."""
    requests = sources.valid_requests(partial(v1.timetable, day=day), codes)
    known = [request for request in requests if request.key in received]
    unknown = [request for request in requests if request.key not in received]
    return unknown + sorted(known, key=lambda request: received[request.key])


def _status(settings: Settings, catalogue: Catalogue, start: datetime) -> Source:
    categories = sources.SEEDED_CATEGORIES | catalogue.status_categories()
    return sources.Status(start, timedelta(seconds=settings.status_interval_seconds), categories)


def _news(_settings: Settings, catalogue: Catalogue, _start: datetime) -> Source:
    return sources.News(catalogue.fetched_news())


def _legacy(settings: Settings, catalogue: Catalogue, _start: datetime) -> Source:
    if not (settings.legacy_token or settings.token):
        raise MissingTokenError(
            "version 0 answers nobody without a token: set TRANSIT_LEGACY_TOKEN or TRANSIT_TOKEN"
        )
    codes = [line.code for line in catalogue.lines() if line.is_active]
    return sources.Legacy(codes, catalogue.stop_codes())


def _passages(settings: Settings, catalogue: Catalogue, start: datetime) -> Source:
    stop_codes = [request.key for request in sources.valid_requests(v1.passages, catalogue.stop_codes())]
    if not stop_codes:
        raise NothingKnownError("no known stop has a code that can be asked for")
    courses = [
        Course(normal_label(known.line_number or known.line_code), known.stop_codes)
        for known in catalogue.line_directions()
    ]
    policy = policy_of(settings.policy, stop_codes, courses, settings.rate_per_minute)
    observer = Observer(settings.zone)
    replay(policy, observer, settings.data_dir, settings.operator, start)
    return sources.Passages(policy, observer)


_SOURCES: dict[str, Callable[[Settings, Catalogue, datetime], Source]] = {
    "lines": _lines,
    "stops": _stops,
    "timetables": _timetables,
    "passages": _passages,
    "status": _status,
    "news": _news,
    "legacy": _legacy,
}
DATASETS = tuple(_SOURCES)
