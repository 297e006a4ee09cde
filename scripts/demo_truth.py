"""Compares the figures of a rehearsed day in the warehouse with the truth, which the emulator knows."""

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
from rich.table import Table

TABLES = ("actual_passages", "scheduled_passages", "trips", "events")

PREPARE = """
    create table span as
        select min(received_at) as first_at, max(received_at) as last_at from warehouse.core.requests
        where is_good and contains("window", '-rehearsal');
    create macro is_on_time(delay_seconds) as delay_seconds between -60 and 359;
    create table calls as
        select actual.*, scheduled.scheduled_at, trips.live_id, trips.outcome
        from truth_actual_passages as actual
        join truth_scheduled_passages as scheduled using (service_date, trip_id, stop_code, stop_sequence)
        join truth_trips as trips using (service_date, trip_id)
        join span on actual.passed_at between span.first_at and span.last_at;
    create table trips as
        select trips.* from truth_trips as trips
        join span on trips.scheduled_departure_at between span.first_at and span.last_at;
    create table departures as
        select departures.outcome, trips.outcome as true_outcome
        from (
            select *, row_number() over (
                partition by service_date, line_code, direction, scheduled_departure_at, is_slash_variant
                order by trip_id
            ) as duplicate_number
            from trips where not is_added
        ) as trips
        join warehouse.core.scheduled_departures as departures
            on departures.service_date = trips.service_date and departures.line_code = trips.line_code
            and departures.direction = trips.direction
            and departures.is_slash_variant = trips.is_slash_variant
            and departures.departure_at = trips.scheduled_departure_at
            and departures.duplicate_number = trips.duplicate_number
        where departures.is_in_force and departures.service_date = $day;
    create table visits as
        select row_number() over () as visit, * from warehouse.core.stop_visits where service_date = $day;
    create table matched as  -- each visit with the call that it is about
        select visits.visit, visits.arrival_quality, visits.passed_at, visits.passed_after,
            visits.passed_before, calls.passed_at as true_at
        from visits join calls
            on visits.stop_code = calls.stop_code and visits.trip_id = calls.live_id
            and abs(epoch(visits.passed_at) - epoch(calls.passed_at)) < 2700
        qualify row_number() over (
            partition by visit order by abs(epoch(visits.passed_at) - epoch(true_at))
        ) = 1;
"""
QUESTIONS = """
    create view on_time as
        select max(on_time_share) as share, max(on_time_share_low) as low, max(on_time_share_high) as high,
            (select avg(is_on_time(epoch(passed_at) - epoch(scheduled_at))::int) from calls) as true_share
        from warehouse.marts.network_punctuality_daily where service_date = $day;
    create view stop_visits as
        select count(*) filter (arrival_quality = 'evidenced') as n_evidenced,
            count(*) filter (arrival_quality in ('evidenced', 'bounded')) as n_observed,
            (select count(*) from calls) as n_calls
        from visits;
    create view errors as
        select median(abs(epoch(passed_at) - epoch(true_at))) as median,
            quantile_cont(abs(epoch(passed_at) - epoch(true_at)), 0.95) as p95,
            avg((
                true_at between passed_after - interval 1 second and passed_before + interval 1 second
            )::int) as share_within_bounds
        from matched where arrival_quality = 'evidenced';
    create view trip_outcomes as  -- of each departure what is known, and what really happened to it
        select count(*) filter (outcome in ('run', 'tracking_lost', 'never_tracked')) as n_run,
            count(*) filter (outcome = 'not_run') as n_not_run, count(*) as n_scheduled,
            count(*) filter (outcome = 'not_run' and true_outcome = 'not_run') as n_rightly_not_run,
            count(*) filter (
                outcome in ('run', 'tracking_lost', 'never_tracked') and true_outcome <> 'not_run'
            ) as n_rightly_run,
            count(*) filter (true_outcome = 'not_run') as n_truly_not_run
        from departures;
    create view disruptions as
        select
            (select count(distinct (event, category, started_at, lines_text))
                from warehouse.core.status_episodes, span where first_seen_at <= last_at) as n_listed,
            (select count(*) from truth_events, span where listed_at <= last_at and ended_at > first_at)
                as n_announced;
"""


def truth_table(warehouse: Path, truth: Path, day: date) -> Table:
    """Return a table with the figures of a service date and the true ones."""
    return _table(compare(warehouse, truth, day), day)


def compare(warehouse: Path, truth: Path, day: date) -> dict[str, dict[str, Any]]:
    """Return the figures of a service date and the true ones: a row by column for each view of QUESTIONS."""
    with duckdb.connect() as connection:
        connection.execute(f"attach '{warehouse}' as warehouse (read_only)")
        for name in TABLES:
            connection.execute(f"create view truth_{name} as from '{truth / name}.parquet'")
        for statement in (PREPARE + QUESTIONS).replace("$day", f"date '{day}'").split(";"):
            connection.execute(statement)
        views = ("on_time", "stop_visits", "errors", "trip_outcomes", "disruptions")
        return {view: _row(connection, view) for view in views}


def _row(connection: duckdb.DuckDBPyConnection, view: str) -> dict[str, Any]:
    """Return the only row of a view, by column."""
    rows: list[dict[str, Any]] = connection.sql(f"from {view}").to_arrow_table().to_pylist()
    return rows[0]


def _table(figures: dict[str, dict[str, Any]], day: date) -> Table:
    table = Table(
        title=f"The rehearsed service day {day:%A %d %B %Y}, and the truth",
        title_justify="left",
        title_style="bold",
    )
    for heading in ("", "warehouse", "truth"):
        table.add_column(heading)
    found = figures["on_time"]
    bounds = f"certain: {_share(found['low'])} to {_share(found['high'])}"
    table.add_row(
        "on time",
        f"{_share(found['share'])} ({'too little was observed' if found['share'] is None else bounds})",
        _share(found["true_share"]),
    )
    found = figures["stop_visits"]
    table.add_row(
        "stop visits",
        f"{found['n_observed']:,} observed passing, {found['n_evidenced']:,} to within 60 s",
        f"{found['n_calls']:,} calls at stops",
    )
    found = figures["errors"]
    table.add_row(
        "error of passage times",
        f"median {_seconds(found['median'])}, p95 {_seconds(found['p95'])}",
        f"{_share(found['share_within_bounds'])} within the bounds",
    )
    found = figures["trip_outcomes"]
    table.add_row(
        "trips",
        f"{found['n_run']:,} of {found['n_scheduled']:,} ran, {found['n_not_run']:,} did not",
        f"of the same, {found['n_rightly_run']:,} ran, {found['n_rightly_not_run']:,} did not "
        f"({found['n_truly_not_run']:,} in all)",
    )
    found = figures["disruptions"]
    table.add_row("disruptions", f"{found['n_listed']:,} listed", f"{found['n_announced']:,} announced")
    return table


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1%}"


def _seconds(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.0f} s"
