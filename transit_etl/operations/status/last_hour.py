"""Counts the requests of the last hour, without rehearsed ones, from the raw files while they are written."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa

from transit_base.errors import MISSHAPEN
from transit_base.listing import pass_over
from transit_etl.api.exchange import Outcome
from transit_etl.clock import naive_utc
from transit_etl.collect.passage_parser import PassageParser
from transit_etl.collect.planning.policy import TripKey
from transit_etl.collect.raw.rawfile import read_lines
from transit_etl.collect.raw.windows import HOUR, recent_windows
from transit_etl.endpoints import ENDPOINTS
from transit_etl.paths import finished_raw_file, is_rehearsed
from transit_etl.settings import FolderSettings

MINUTE = timedelta(minutes=1)
TOLERANCE_SECONDS = 120.0
UNUSABLE = [  # what the upstream answered, or failed to; not what the collector did
    each.value
    for each in Outcome
    if each not in (Outcome.OK, Outcome.INTERRUPTED, Outcome.NOT_SENT, Outcome.BAD_IDENTIFIER)
]


@dataclass(frozen=True, slots=True)
class EndpointRequests:
    """The requests for an endpoint in the last hour.

    `n_last_minute` and `n_last_hour` count attempts, so a retry counts again; `n_good` and `n_rate_limited`
    count requests by their outcome, `n_not_sent` those that got no permit in time. `last_good_at` is of
    usable answers: a refused connection is none. `outcomes` counts the requests of the hour by outcome.
    """

    endpoint: str
    n_last_minute: int = 0
    n_last_hour: int = 0
    n_good: int = 0
    n_rate_limited: int = 0
    n_not_sent: int = 0
    last_good_at: datetime | None = None
    outcomes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """How closely the passages that were announced live and expected in the last hour were observed.

    A passage is observed when a good poll of its stop no longer lists it. `n_evidenced` were gone at most a
    minute after the last poll that listed them, `n_bounded` later; the stops of the others have not been
    polled since. `share` is `n_evidenced` of `n_due`.
    """

    n_due: int
    n_evidenced: int
    n_bounded: int
    share: float | None


class UnusableAnswers(NamedTuple):
    """The requests since the last good answer, if none of them got a usable one."""

    first_at: datetime
    last_at: datetime
    last_good_at: datetime | None
    outcomes: dict[str, int]


class LastAnswers(NamedTuple):
    """When each endpoint, and each stop, last gave a good answer; None for an endpoint that gave none."""

    of_endpoints: dict[str, datetime | None]
    of_stops: dict[str, datetime]


class LastHour:
    """The requests of one operator that were sent in the hour before `now`, staged or not."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, now: datetime, zone: ZoneInfo) -> None:
        self._connection = connection
        self._now = now
        self._parser = PassageParser(zone)

    def requests(self) -> list[EndpointRequests]:
        """Count the requests by endpoint."""
        rows = self._connection.execute(
            _BY_ENDPOINT, {"minute_ago": naive_utc(self._now) - MINUTE}
        ).fetchall()
        return [
            EndpointRequests(endpoint, last_minute, hour, good, limited, not_sent, _aware(last), outcomes)
            for endpoint, last_minute, hour, good, limited, not_sent, last, outcomes in rows
        ]

    def last_good_answers(self) -> dict[str, datetime]:
        """Return when each stop last gave a good answer."""
        return _last_good_of_stops(self._connection)

    def unusable_answers(self) -> UnusableAnswers | None:
        """Return the requests that were sent after the last good answer; None if there are none."""
        rows = self._connection.execute(_UNUSABLE, {"unusable": UNUSABLE}).fetchall()
        if not rows:
            return None
        outcomes = {outcome: count for outcome, count, *_ in rows}
        first_at, last_at = min(row[2] for row in rows), max(row[3] for row in rows)
        return UnusableAnswers(_utc(first_at), _utc(last_at), _aware(rows[0][4]), outcomes)

    def clock_error_seconds(self) -> float | None:
        """Return how far the clock is ahead of the timestamps of the last answers; None without any."""
        row = self._connection.execute(_CLOCK_ERROR).fetchone()
        return None if row is None or row[0] is None else round(float(row[0]), 1)

    def evidence(self) -> Evidence:
        """Count how closely the passages expected by now were observed."""
        now = self._now.timestamp()
        due = [each for each in self._last_listings().values() if each.is_due(now)]
        n_evidenced = sum(each.unlisted_after <= MINUTE.total_seconds() for each in due)
        n_bounded = sum(each.next_at is not None for each in due) - n_evidenced
        share = round(n_evidenced / len(due), 4) if due else None
        return Evidence(len(due), n_evidenced, n_bounded, share)

    def _last_listings(self) -> dict[tuple[str, TripKey], "_LastListing"]:
        """Return what the last poll of each stop that listed a trip live says of it."""
        last = {}
        for stop_code, listed_at, next_at, body in self._connection.execute(_GOOD_POLLS).fetchall():
            with suppress(*MISSHAPEN):  # a row that was damaged since it was landed
                for listing in self._parser.listings(body, datetime.fromtimestamp(listed_at, UTC)):
                    if listing.is_live:
                        key = (stop_code, listing.trip_key)
                        last[key] = _LastListing(listed_at, next_at, listing.predicted_at)
        return last


class _LastListing(NamedTuple):
    """The last listing of a passage, and when its stop was polled next, if it was; in epoch seconds."""

    listed_at: float
    next_at: float | None
    predicted_at: float

    @property
    def unlisted_after(self) -> float:
        """How many seconds later the stop no longer listed it; infinite if it was not polled again."""
        return math.inf if self.next_at is None else self.next_at - self.listed_at

    def is_due(self, now: float) -> bool:
        """Whether it was expected by now, and by the poll that no longer listed it.

        One that is no longer listed long before its time has not passed; one expected at this very moment
        may still be listed by the next poll.
        """
        return self.predicted_at <= now - TOLERANCE_SECONDS and (
            self.next_at is None or self.predicted_at <= self.next_at + TOLERANCE_SECONDS
        )


@contextmanager
def last_hour(settings: FolderSettings, now: datetime) -> Iterator[LastHour]:
    """Read the last hour's raw files, finished and open, for as long as the context lasts."""
    windows = recent_windows(settings.data_dir, settings.operator, now)
    files = [path for path in windows if not is_rehearsed(path.name)]
    with duckdb.connect() as connection:
        _read(connection, files, now - HOUR, now)
        yield LastHour(connection, now, settings.zone)


def last_answers(files: Iterable[Path], since: datetime, now: datetime) -> LastAnswers:
    """Return when each endpoint, and each stop, last gave a good answer in some raw files."""
    with duckdb.connect() as connection:
        _read(connection, files, since, now)
        rows = connection.execute(_LAST_GOOD_OF_ENDPOINTS).fetchall()
        return LastAnswers({name: _utc(at) for name, at in rows}, _last_good_of_stops(connection))


def _last_good_of_stops(connection: duckdb.DuckDBPyConnection) -> dict[str, datetime]:
    return {stop: _utc(at) for stop, at in connection.execute(_LAST_GOOD_ANSWERS).fetchall()}


def _read(
    connection: duckdb.DuckDBPyConnection, files: Iterable[Path], since: datetime, now: datetime
) -> None:
    """Make a table of the requests in raw files that were sent in a time."""
    lines = pa.table({"line": pa.array((line for file in files for line in _lines(file)), pa.large_binary())})
    connection.register("lines", lines)
    connection.execute(
        _REQUESTS, {"since": naive_utc(since), "now": naive_utc(now), "endpoints": list(ENDPOINTS)}
    )


def _lines(file: Path) -> list[bytes]:
    try:
        try:
            return list(read_lines(file))
        except FileNotFoundError:  # finished since it was listed: read it under its final name
            return list(read_lines(finished_raw_file(file)))
    except OSError as error:
        if not pass_over(file, error):
            raise
        return []


def _aware(instant: datetime | None) -> datetime | None:
    return None if instant is None else _utc(instant)


def _utc(instant: datetime) -> datetime:
    return instant.replace(tzinfo=UTC)


# Only the needed fields of a row are read. A line that is no row of a request has neither instant.
_REQUESTS = """
    create temp table requests as
    with read as (
        select unnest(try(json_transform(decode(line::blob), '{
            "request_id": "VARCHAR", "endpoint": "VARCHAR", "key": "VARCHAR", "planned_at": "VARCHAR",
            "sent_at": "VARCHAR", "received_at": "VARCHAR", "outcome": "VARCHAR", "attempts": "UTINYINT",
            "error": "VARCHAR", "body": "VARCHAR"
        }')))
        from lines
    ),
    timed as (
        select * replace (
            try_cast(planned_at as timestamp) as planned_at,
            try_cast(sent_at as timestamp) as sent_at,
            try_cast(received_at as timestamp) as received_at
        )
        from read
    )
    from timed
    where coalesce(sent_at, planned_at) > $since and coalesce(sent_at, planned_at) <= $now
        and (sent_at is not null or outcome = 'not_sent') and endpoint in $endpoints
        and (received_at is null or received_at between $since and $now + interval 1 day)
    qualify row_number() over (partition by request_id) = 1
"""
_BY_ENDPOINT = """
    select
        endpoint,
        coalesce(sum(attempts) filter (sent_at > $minute_ago), 0)::bigint,
        coalesce(sum(coalesce(attempts, 1)) filter (sent_at is not null), 0)::bigint,
        count(*) filter (outcome = 'ok'),
        count(*) filter (outcome = 'rate_limited'),
        count(*) filter (sent_at is null and error like '%permit%'),
        max(received_at) filter (outcome = 'ok'),
        coalesce(histogram(outcome), map())
    from requests group by endpoint order by endpoint
"""
_LAST_GOOD_OF_ENDPOINTS = """
    select endpoint, max(received_at) from requests
    where outcome = 'ok' and received_at is not null group by endpoint
"""
_LAST_GOOD_ANSWERS = """
    select key, max(received_at) from requests
    where endpoint = 'passages' and outcome = 'ok' and received_at is not null and key is not null
    group by key
"""
_UNUSABLE = """
    with good as (
        select max(sent_at) as last_at, max(received_at) as answered_at from requests where outcome = 'ok'
    )
    select outcome, count(*), min(sent_at), max(sent_at), any_value(good.answered_at)
    from requests cross join good
    where outcome in $unusable and sent_at > coalesce(good.last_at, '-infinity')
    group by outcome order by count(*) desc, outcome
"""
_CLOCK_ERROR = """
    select median(epoch(received_at) - epoch(answered_at)) from (
        select
            received_at,
            try_cast(try(ltrim(body, chr(65279))::json ->> 'timestamp') as timestamp) as answered_at
        from requests where endpoint = 'passages' and outcome = 'ok'
        order by received_at desc limit 30
    )
"""
_GOOD_POLLS = """
    select
        key, epoch(received_at),
        lead(epoch(received_at)) over (partition by key order by received_at, request_id), body
    from requests
    where endpoint = 'passages' and outcome = 'ok' and received_at is not null and body is not null
    order by received_at, request_id
"""
