"""Counts the requests of the last hour, read from the raw files while they are written."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa

from transit_etl.collect.raw.rawfile import read_lines
from transit_etl.collect.raw.windows import HOUR, recent_windows
from transit_etl.paths import finished_raw_file

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class EndpointRequests:
    """The requests for an endpoint in the last hour.

    `n_last_minute` and `n_last_hour` count attempts, so a retry counts again; `n_good` and `n_rate_limited`
    count requests by their outcome.
    """

    endpoint: str
    n_last_minute: int = 0
    n_last_hour: int = 0
    n_good: int = 0
    n_rate_limited: int = 0
    last_received_at: datetime | None = None


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


class LastHour:
    """The requests of one operator that were sent in the hour before `now`, staged or not."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, now: datetime) -> None:
        self._connection = connection
        self._now = _naive(now)

    def requests(self) -> list[EndpointRequests]:
        """Count the requests by endpoint."""
        rows = self._connection.execute(_BY_ENDPOINT, {"minute_ago": self._now - MINUTE}).fetchall()
        return [
            EndpointRequests(endpoint, last_minute, hour, good, limited, _aware(last))
            for endpoint, last_minute, hour, good, limited, last in rows
        ]

    def last_good_answers(self) -> dict[str, datetime]:
        """Return when each stop last gave a good answer."""
        rows = self._connection.execute(_LAST_GOOD_ANSWERS).fetchall()
        return {stop: received_at.replace(tzinfo=UTC) for stop, received_at in rows}

    def evidence(self) -> Evidence:
        """Count how closely the passages expected by now were observed."""
        n_due, n_evidenced, n_bounded = self._connection.execute(_EVIDENCE, {"now": self._now}).fetchall()[0]
        share = round(n_evidenced / n_due, 4) if n_due else None
        return Evidence(n_due, n_evidenced, n_bounded, share)


@contextmanager
def last_hour(data_dir: Path, operator: str, now: datetime) -> Iterator[LastHour]:
    """Read the last hour's raw files, finished and open, for as long as the context lasts."""
    files = recent_windows(data_dir, operator, now)
    lines = pa.table({"line": pa.array((line for file in files for line in _lines(file)), pa.large_binary())})
    with duckdb.connect() as connection:
        connection.register("lines", lines)
        connection.execute(_REQUESTS, {"since": _naive(now) - HOUR, "now": _naive(now)})
        yield LastHour(connection, now)


def _lines(file: Path) -> list[bytes]:
    try:
        return list(read_lines(file))
    except FileNotFoundError:  # finished since it was listed: read it under its final name
        return list(read_lines(finished_raw_file(file)))


def _naive(instant: datetime) -> datetime:
    """Write an instant as DuckDB holds it here: in UTC, without a zone."""
    return instant.astimezone(UTC).replace(tzinfo=None)


def _aware(instant: datetime | None) -> datetime | None:
    return None if instant is None else instant.replace(tzinfo=UTC)


# Only the needed fields of a row are read, and only the bodies of passages are parsed.
_REQUESTS = """
    create temp table requests as
    select row.* replace (
        cast(row.sent_at as timestamp) as sent_at,
        cast(row.received_at as timestamp) as received_at
    )
    from (
        select json_transform(decode(line::blob), '{
            "request_id": "VARCHAR", "endpoint": "VARCHAR", "key": "VARCHAR", "sent_at": "VARCHAR",
            "received_at": "VARCHAR", "outcome": "VARCHAR", "attempts": "INTEGER", "body": "VARCHAR"
        }') as row from lines
    )
    where cast(row.sent_at as timestamp) > $since and cast(row.sent_at as timestamp) <= $now
    qualify row_number() over (partition by row.request_id) = 1
"""
_BY_ENDPOINT = """
    select
        endpoint,
        coalesce(sum(attempts) filter (sent_at > $minute_ago), 0)::bigint,
        sum(coalesce(attempts, 1))::bigint,
        count(*) filter (outcome = 'ok'),
        count(*) filter (outcome = 'rate_limited'),
        max(received_at)
    from requests group by endpoint order by endpoint
"""
_LAST_GOOD_ANSWERS = """
    select key, max(received_at) from requests
    where endpoint = 'passages' and outcome = 'ok' group by key
"""
# A passage counts as gone only if it was expected by then, with a tolerance of two minutes: one that is no
# longer listed long before its time has not passed. One expected within the last two minutes is left out.
_EVIDENCE = """
    with polls as (
        select
            request_id, key as stop_code, received_at, body,
            lead(received_at) over (partition by key order by received_at, request_id) as next_at
        from requests where endpoint = 'passages' and outcome = 'ok'
    ),
    rows as (
        select stop_code, received_at, next_at, unnest(json_transform(body, '{"passaggi": [{
            "linea": "VARCHAR", "destinazione": "VARCHAR", "id_corsa": "VARCHAR",
            "attesa": "DOUBLE", "teorico": "BOOLEAN"
        }]}').passaggi) as listed
        from polls
    ),
    last_listings as (
        select stop_code, received_at, next_at, listed.attesa as wait_minutes
        from rows
        where listed.teorico is false and listed.attesa between 0 and 120
        qualify row_number() over (
            partition by stop_code, listed.linea, listed.destinazione, listed.id_corsa
            order by received_at desc
        ) = 1
    ),
    due as (
        select
            received_at + to_seconds(60 * wait_minutes) as due_at,
            next_at,
            next_at - received_at <= interval 60 second as is_close
        from last_listings
    )
    select
        count(*),
        count(*) filter (is_close),
        count(*) filter (not is_close)
    from due
    where due_at <= $now - interval 2 minute and (next_at is null or due_at <= next_at + interval 2 minute)
"""
