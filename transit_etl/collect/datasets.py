"""Makes the source of requests of each dataset from what the lake holds."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial, reduce
from itertools import groupby
from operator import add, itemgetter

from transit_base.errors import TransitError
from transit_etl.api import v1
from transit_etl.api.client import MissingTokenError
from transit_etl.clock import SteadyInstant
from transit_etl.collect import sources
from transit_etl.collect.audit import Audit
from transit_etl.collect.audit_draws import audit_draws
from transit_etl.collect.isolation import Failures, IsolatedPolicy, learn
from transit_etl.collect.known_network import MOST_DAYS_AHEAD, Catalogue, NothingKnownError
from transit_etl.collect.known_schedules import KnownSchedules, line_stops
from transit_etl.collect.passage_parser import PassageParser
from transit_etl.collect.planning.audit_sample import AuditSample
from transit_etl.collect.planning.audit_watch import Draw
from transit_etl.collect.planning.parameters import DEFAULTS
from transit_etl.collect.planning.policies import policy_of
from transit_etl.collect.replay import recent_answers
from transit_etl.collect.sources import RequestList, Source, requests_for
from transit_etl.collect.timetable_dates import never_or_longest_ago, timetable_key, timetables_to_ask
from transit_etl.endpoints import COLLECTIONS, ENDPOINTS, Asked, Endpoint, endpoints_of
from transit_etl.service_day import DAY, service_date
from transit_etl.settings import CollectSettings

_MOST_LINES = ENDPOINTS["lines"].most_rows or sources.MOST_LISTED


class UnknownDatasetError(TransitError):
    """There is no dataset of this name; the message lists those there are."""


def source_of(dataset: str, settings: CollectSettings, start: SteadyInstant) -> Source:
    """Return the source of a dataset's requests as of `start`; or raise NothingKnownError."""
    if dataset not in COLLECTIONS:
        raise UnknownDatasetError(f"no dataset {dataset!r}; there are {', '.join(COLLECTIONS)}")
    endpoint = endpoints_of(dataset)[0]
    catalogue = Catalogue(settings.data_dir, settings.operator)
    return _SOURCES[endpoint.asked](endpoint, settings, catalogue, start)


def _once(
    endpoint: Endpoint, _settings: CollectSettings, _catalogue: Catalogue, _start: SteadyInstant
) -> Source:
    return sources.Listed(endpoint.kind, RequestList([v1.all_of(endpoint.name)]))


def _per_line(
    endpoint: Endpoint, _settings: CollectSettings, catalogue: Catalogue, start: SteadyInstant
) -> Source:
    known = catalogue.asked(endpoint.name, start.at.date() - DAY * MOST_DAYS_AHEAD)
    codes = never_or_longest_ago([line.code for line in catalogue.lines()], known)
    listed = requests_for(endpoint.name, partial(v1.of_line, endpoint.name), codes, at_most=_MOST_LINES)
    return sources.Listed(endpoint.kind, listed)


def _timetables(
    endpoint: Endpoint, settings: CollectSettings, catalogue: Catalogue, start: SteadyInstant
) -> Source:
    today = service_date(start.at, settings.zone, settings.service_day_cutoff)
    codes = [line.code for line in catalogue.lines() if line.is_active]
    known = catalogue.asked(endpoint.name, today - DAY * MOST_DAYS_AHEAD)
    now = start.at.astimezone(UTC).replace(tzinfo=None)
    asked = timetables_to_ask(codes, today, settings.timetable_days_ahead, known, now)
    by_day = [
        requests_for(
            endpoint.name,
            partial(v1.timetable, day=day),
            [code for code, _ in some],
            key=partial(timetable_key, day=day),
            at_most=_MOST_LINES,
        )
        for day, some in groupby(asked, key=itemgetter(1))
    ]
    return sources.Listed(endpoint.kind, reduce(add, by_day, RequestList([])))


def _status(
    _endpoint: Endpoint, settings: CollectSettings, catalogue: Catalogue, start: SteadyInstant
) -> Source:
    categories = sources.SEEDED_CATEGORIES | catalogue.status_categories()
    return sources.Status(start, timedelta(seconds=settings.status_interval_seconds), categories)


def _news(
    _endpoint: Endpoint, _settings: CollectSettings, catalogue: Catalogue, _start: SteadyInstant
) -> Source:
    return sources.News(catalogue.fetched_news())


def _legacy(
    _endpoint: Endpoint, settings: CollectSettings, catalogue: Catalogue, _start: SteadyInstant
) -> Source:
    if settings.token_of_version_0 is None:
        raise MissingTokenError
    codes = [line.code for line in catalogue.lines() if line.is_active]
    return sources.Legacy(codes, catalogue.stop_codes())


def _passages(
    _endpoint: Endpoint, settings: CollectSettings, catalogue: Catalogue, start: SteadyInstant
) -> Source:
    listed = requests_for("passages", v1.passages, catalogue.stop_codes())
    stop_codes = [request.key for request in listed.requests]
    if not stop_codes:
        raise NothingKnownError("no known stop has a code that can be asked for")
    failures = Failures()
    failures.messages += listed.warnings
    directions = catalogue.line_directions()
    known = KnownSchedules(settings, catalogue, directions, failures)
    known.read_timetables(start.at)  # before the policy learns: listed times are those of departures
    all_line_stops = [line_stops(direction) for direction in directions]
    policy = policy_of(
        settings.policy, stop_codes, all_line_stops, settings.rate_per_minute, schedules=known.schedules
    )
    isolated = IsolatedPolicy(policy, stop_codes, failures)
    audit = _audit(settings, isolated, frozenset(stop_codes), failures) if settings.audit_share else None
    source = sources.Passages(
        isolated, PassageParser(settings.zone), listed.invalid, failures, audit, known=known
    )
    learn(source, recent_answers(settings.data_dir, settings.operator, start.at))
    known.exchange(start.at)
    if audit is not None:
        audit.draw(start.at)  # after the policy has learned how long buses take
    return source


def _audit(
    settings: CollectSettings, policy: IsolatedPolicy, stop_codes: frozenset[str], failures: Failures
) -> Audit:
    """Return the audit of the visits drawn at stops that can be asked."""

    def draws(first: datetime, last: datetime) -> list[Draw]:
        drawn = audit_draws(settings, first, last, DEFAULTS.audit.polls_per_visit)
        return [draw for draw in drawn if draw.stop_code in stop_codes]

    sample = AuditSample(settings.audit_share, policy.running_seconds)
    return Audit(sample, draws, policy, failures, timedelta(seconds=settings.window_seconds))


_SOURCES: dict[Asked, Callable[[Endpoint, CollectSettings, Catalogue, SteadyInstant], Source]] = {
    Asked.ONCE: _once,
    Asked.PER_LINE: _per_line,
    Asked.PER_LINE_AND_DATE: _timetables,
    Asked.BY_POLICY: _passages,
    Asked.AT_INTERVALS: _status,
    Asked.WITH_ITEMS: _news,
    Asked.VERSION_0: _legacy,
}
