"""Holds what the warehouse says of a rehearsed day against what truly happened, which the emulator knows."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

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
    create table visits as
        select row_number() over () as visit, * from warehouse.core.stop_visits where service_date = $day;
    create table told as  -- the call that each visit is about
        select visits.visit, visits.arrival_quality, visits.passed_at, visits.passed_after,
            visits.passed_before, calls.passed_at as true_at
        from visits join calls
            on visits.stop_code = calls.stop_code and visits.trip_id = calls.live_id
            and abs(epoch(visits.passed_at) - epoch(calls.passed_at)) < 2700
        qualify row_number() over (
            partition by visit order by abs(epoch(visits.passed_at) - epoch(true_at))
        ) = 1;
"""
ON_TIME = """
    select max(on_time_share), max(on_time_share_low), max(on_time_share_high),
        (select avg(is_on_time(epoch(passed_at) - epoch(scheduled_at))::int) from calls)
    from warehouse.marts.network_punctuality_daily where service_date = $day
"""
VISITS = """
    select count(*) filter (arrival_quality = 'evidenced'),
        count(*) filter (arrival_quality in ('evidenced', 'bounded')),
        (select count(*) from calls)
    from visits
"""
ERRORS = """
    select median(abs(epoch(passed_at) - epoch(true_at))),
        quantile_cont(abs(epoch(passed_at) - epoch(true_at)), 0.95),
        avg((true_at between passed_after - interval 1 second and passed_before + interval 1 second)::int)
    from told where arrival_quality = 'evidenced'
"""
TRIPS = """
    select sum(n_run + n_tracking_lost + n_never_tracked), sum(n_not_run), sum(n_scheduled_trips),
        (select count(*) filter (outcome <> 'not_run') from trips),
        (select count(*) filter (outcome = 'not_run') from trips),
        (select count(*) from trips)
    from warehouse.marts.service_delivered where service_date = $day
"""
DISRUPTIONS = """
    select
        (select count(distinct (event, category, started_at, lines_text))
            from warehouse.core.status_episodes, span where first_seen_at <= last_at),
        (select count(*) from truth_events, span where listed_at <= last_at and ended_at > first_at)
"""

Ask = Callable[[str], tuple[float | int | None, ...]]


def truth_table(warehouse: Path, truth: Path, day: date) -> Table:
    """Return the figures of a service date beside the true ones."""
    with duckdb.connect() as connection:
        connection.execute(f"attach '{warehouse}' as warehouse (read_only)")
        for name in TABLES:
            connection.execute(f"create view truth_{name} as from '{truth / name}.parquet'")
        for statement in PREPARE.split(";"):
            if statement.strip():
                connection.execute(statement, {"day": day} if "$day" in statement else None)

        def ask(question: str) -> tuple[float | int | None, ...]:
            rows = connection.execute(question, {"day": day} if "$day" in question else None).fetchall()
            found: tuple[float | int | None, ...] = rows[0]
            return found

        return _table(ask, day)


def _table(ask: Ask, day: date) -> Table:
    table = Table(
        title=f"The rehearsed service day {day:%A %d %B %Y}, and the truth",
        title_justify="left",
        title_style="bold",
    )
    for heading in ("", "what the polls say", "what happened"):
        table.add_column(heading)
    share, low, high, true_share = ask(ON_TIME)
    bounds = "too little was seen" if share is None else f"surely {_share(low)} to {_share(high)}"
    table.add_row("on time", f"{_share(share)}, {bounds}", _share(true_share))
    evidenced, seen, calls = ask(VISITS)
    table.add_row(
        "stop visits", f"{seen:,} seen passing, {evidenced:,} within a minute", f"{calls:,} calls at stops"
    )
    middle, worst, inside = ask(ERRORS)
    table.add_row(
        "their times",
        f"off by {_seconds(middle)} (half of them), {_seconds(worst)} (19 of 20)",
        f"inside the bounds {_share(inside)}",
    )
    run, not_run, scheduled, truly_run, truly_not_run, truly_scheduled = ask(TRIPS)
    table.add_row(
        "trips",
        f"{run or 0:,} of {scheduled or 0:,} ran, {not_run or 0:,} did not",
        f"{truly_run:,} of {truly_scheduled:,} ran, {truly_not_run:,} did not",
    )
    listed, happened = ask(DISRUPTIONS)
    table.add_row("disruptions", f"{listed:,} listed", f"{happened:,} announced")
    return table


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1%}"


def _seconds(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.0f} s"
