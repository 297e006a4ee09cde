"""Reads the lines, stops and news that the lake holds, so that a collector knows what it can request."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb

from transit_base.errors import TransitError
from transit_etl.collect.news_items import FetchedItem, news_item
from transit_etl.lake_reading import read_undamaged
from transit_etl.paths import lake_day, lake_files
from transit_etl.service_day import DAY

MOST_DAYS_AHEAD = 15  # timetables are asked for at most 14 days ahead
READ_DAYS = MOST_DAYS_AHEAD + 2  # the UTC days of the lake, before today, that a collector cannot do without
_FIRST_LINES = "run `transit-etl collect lines` and `transit-etl stage` first"
_FIRST_STOPS = "run `transit-etl collect stops` and `transit-etl stage` first"


class NothingKnownError(TransitError):
    """The lake does not yet hold what a collector needs; the message says what to run first."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line as the newest list of lines gives it."""

    code: str
    number: str | None
    is_active: bool


@dataclass(frozen=True, slots=True)
class LineDirection:
    """The stops of a line in one direction, in the order it serves them, and its number at a stop."""

    line_code: str
    line_number: str | None
    direction: str
    stop_codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """When something last had a good answer (UTC, naive; None if never), and if a request failed since."""

    received_at: datetime | None
    is_failed: bool = False


class Catalogue:
    """The newest staged answer about each entity of one operator. Every call reads the lake again."""

    def __init__(self, data_dir: Path, operator: str) -> None:
        self._data_dir = data_dir
        self._operator = operator

    def lines(self) -> list[Line]:
        """Return the lines of the newest list, or raise NothingKnownError."""
        rows = self.rows("lines", _NEWEST_LINES)
        if not rows:
            raise NothingKnownError(f"no line of operator {self._operator} is known: {_FIRST_LINES}")
        return [Line(*row) for row in rows]

    def line_directions(self) -> list[LineDirection]:
        """Return the stops of every listed line from its newest answer, or raise NothingKnownError."""
        numbers = {line.code: line.number for line in self.lines()}
        rows = self.rows("line_stops", _NEWEST_STOPS)
        known = [
            LineDirection(code, numbers[code], way, tuple(stops))
            for code, way, stops in rows
            if code in numbers
        ]
        if not known:
            raise NothingKnownError(f"no stop of operator {self._operator} is known: {_FIRST_STOPS}")
        return known

    def stop_codes(self) -> list[str]:
        """Return every stop that a listed line serves, sorted, or raise NothingKnownError."""
        return sorted({stop for known in self.line_directions() for stop in known.stop_codes})

    def status_categories(self) -> set[str]:
        """Return the status categories seen so far; none if no status was staged yet."""
        return {category for (category,) in self.rows("status", _CATEGORIES)}

    def asked(self, endpoint: str, since: date = date.min) -> dict[str, LastAnswer]:
        """Return what came of asking an endpoint for each key, such as a line, from a UTC day on."""
        found = self.rows("requests", _ASKED, since=since, endpoint=endpoint)
        return {key: LastAnswer(*what_came) for key, *what_came in found}

    def departures(self, first: date, last: date) -> list[tuple[str, str, float, int]]:
        """Return the departures of some service dates by the newest timetables.

        They are line code, direction, instant in epoch seconds, and seconds of the service day.
        """
        since = first - DAY * MOST_DAYS_AHEAD
        return self.rows("timetables", _DEPARTURES, since=since, first_date=first, last_date=last)

    def fetched_news(self) -> dict[str, FetchedItem]:
        """Return the last fetched text of every news item by its identifier, whether it is listed or not."""
        return {
            news_id: FetchedItem(
                news_item(news_id, title, published) if was_listed else None,
                fetched_at.replace(tzinfo=UTC),
                text_since.replace(tzinfo=UTC),
            )
            for news_id, was_listed, title, published, fetched_at, text_since in self.rows(
                "news_details", _FETCHED_NEWS, also="news"
            )
        }

    def rows(
        self,
        dataset: str,
        sql: str,
        *,
        also: str | None = None,
        since: date = date.min,
        **parameters: object,
    ) -> list[tuple[Any, ...]]:
        """Run a query over the lake files of one or two datasets; no row if there are no files of one.

        The query names the files by the parameter `files`, and those of the second dataset by its name; the
        files of the first one are those received on a UTC day from `since` on. It runs again if files were
        merged while it ran, and without those that are damaged.
        """

        def run(good: list[Path]) -> list[tuple[Any, ...]]:
            of_dataset = {
                name: [str(path) for path in good if path in found] for name, found in files.items()
            }
            if not all(of_dataset.values()):
                return []
            with duckdb.connect() as connection:
                given = {"operator": self._operator, **parameters, **of_dataset}
                return connection.execute(sql, given).fetchall()

        for is_last_try in (False, True):
            files = {"files": {path for path in self._files(dataset) if lake_day(path)[1] >= since}}
            files |= {also: self._files(also)} if also else {}
            try:
                return read_undamaged(run, [path for found in files.values() for path in sorted(found)])
            except duckdb.IOException:
                if is_last_try:
                    raise
        return []

    def _files(self, dataset: str) -> set[Path]:
        return set(lake_files(self._data_dir, dataset, self._operator))


def scan(name: str) -> str:
    """Return the files that a query names by a parameter, as a relation."""
    return f"read_parquet(${name}, union_by_name = true, hive_partitioning = false)"


_NEWEST_LINES = f"""
    select line_code, line_number, coalesce(is_active, true)
    from {scan("files")}
    where operator = $operator and line_code is not null
    qualify received_at = max(received_at) over ()
    order by row_number
"""
_NEWEST_STOPS = f"""
    with listed as not materialized (
        select line_code, direction, position, stop_code, request_id, received_at
        from {scan("files")}
        where operator = $operator and line_code is not null and stop_code is not null
    ),
    answers as (
        select distinct line_code, request_id, received_at from listed
    ),
    newest as (
        select line_code, request_id from answers
        qualify row_number() over (partition by line_code order by received_at desc, request_id) = 1
    )
    select line_code, direction, list(stop_code order by position)
    from listed semi join newest using (line_code, request_id)
    group by line_code, direction
    order by line_code, direction
"""
_CATEGORIES = f"""
    select distinct category from {scan("files")}
    where operator = $operator and category is not null
"""
_ASKED = f"""
    select
        key,
        max(received_at) filter (where outcome = 'ok'),
        max_by(outcome, coalesce(received_at, planned_at)) != 'ok'
    from {scan("files")}
    where operator = $operator and endpoint = $endpoint and outcome != 'not_sent'
    group by key
"""
NEWEST_TIMETABLE = """
    request_id = first_value(request_id) over (
        partition by line_code, service_date order by received_at desc, request_id
    )
"""
_DEPARTURES = f"""
    select line_code, direction, epoch(departure_at), service_seconds
    from {scan("files")}
    where
        operator = $operator and departure_at is not null and direction is not null
        and service_date between $first_date and $last_date
    qualify {NEWEST_TIMETABLE}
"""
_FETCHED_NEWS = f"""
    with answers as (
        select
            news_id, received_at,
            content is distinct from lag(content) over (partition by news_id order by received_at) as is_other
        from {scan("files")}
        where operator = $operator and news_id is not null
    ),
    fetched as (
        select
            news_id, max(received_at) as fetched_at,
            coalesce(max(case when is_other then received_at end), min(received_at)) as text_since
        from answers group by news_id
    ),
    listed as (
        select news_id, title, published_text, received_at from {scan("news")}
        where operator = $operator
        qualify row_number() over (partition by news_id, request_id order by row_number) = 1
    )
    select
        fetched.news_id, listed.news_id is not null, title, published_text, fetched_at, text_since
    from fetched asof left join listed
        on fetched.news_id = listed.news_id and fetched.fetched_at >= listed.received_at
"""
