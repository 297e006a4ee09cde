"""Compares the figures of rehearsed days in the warehouse with the truth, which the emulator knows."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
from rich.table import Table

from transit_base.cited import cited

TABLES = ("actual_passages", "scheduled_passages", "trips", "events", "plant", "plant_outages")

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
        select departures.line_code, departures.direction, departures.outcome, trips.outcome as true_outcome
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
        where departures.is_in_force and departures.service_date between $first and $last
            and trips.outcome <> 'not_recorded';  -- nobody knows whether these ran
    create table visits as
        select row_number() over () as visit, * from warehouse.core.stop_visits
        where service_date between $first and $last;
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
QUESTIONS = r"""
    create view on_time as
        select period, figure, low, high, decimals, reason, true_share
        from warehouse.headline.on_time_network
        left join (from warehouse.core.precision_labels where quantity = 'share') using (precision)
        join (
            select service_date::varchar as period,
                avg(is_on_time(epoch(passed_at) - epoch(scheduled_at))::int) as true_share
            from calls group by all
        ) using (period)
        order by period;
    create view stop_visits as
        select count(*) filter (arrival_quality = 'evidenced') as n_evidenced,
            count(*) filter (arrival_quality in ('evidenced', 'bounded')) as n_observed,
            (select count(*) from calls) as n_calls
        from visits;
    create view errors as
        select median(abs(epoch(passed_at) - epoch(true_at))) as median,
            quantile_cont(abs(epoch(passed_at) - epoch(true_at)), 0.95) as p95,
            100 * avg((
                true_at between passed_after - interval 1 second and passed_before + interval 1 second
            )::int) as percent_within_bounds
        from matched where arrival_quality = 'evidenced';
    create view trip_outcomes as  -- what is known of departures, and which did not run
        select count(*) as n_scheduled,
            count(*) filter (outcome = 'run') as n_run,
            count(*) filter (outcome = 'not_run') as n_not_run,
            count(*) filter (outcome not in ('run', 'not_run')) as n_unknown,
            count(*) filter (true_outcome = 'not_run') as n_cancelled,
            count(*) filter (true_outcome = 'not_run' and outcome = 'run') as n_cancelled_run,
            count(*) filter (true_outcome = 'not_run' and outcome = 'not_run') as n_cancelled_not_run,
            count(*) filter (true_outcome = 'not_run' and outcome not in ('run', 'not_run'))
                as n_cancelled_unknown
        from departures;
    create view delivered as  -- of all, and by line and direction: the share that ran
        select avg((outcome = 'run')::int) as low, avg((outcome <> 'not_run')::int) as high,
            avg((true_outcome <> 'not_run')::int) as true_share
        from departures group by grouping sets ((), (line_code, direction))
        order by grouping(line_code) desc, line_code, direction;
    create view lifts as  -- by lift: for how many seconds it was out of use, between bounds and truly
        with spans as (
            select service_date, min(from_at) as from_at, max(to_at) as to_at
            from warehouse.core.service_hours
            where service_date between $first and $last
            group by service_date
        ),
        names as (
            select distinct plant_id, regexp_replace(trim(spelling), '\s+', ' ', 'g') as lift
            from (select plant_id, unnest(list_append(spellings, name)) as spelling from truth_plant)
        ),
        outages as (
            select plant_id, service_date,
                sum(epoch(least(ended_at, to_at) - greatest(started_at, from_at))) as out_seconds
            from truth_plant_outages join spans on started_at < to_at and ended_at > from_at group by all
        )
        select names.lift, sum(days.out_low_seconds) as low, sum(days.out_high_seconds) as high,
            sum(coalesce(outages.out_seconds, 0)) as true_seconds
        from warehouse.marts.lift_availability as days
        join spans using (service_date)
        join names on names.lift = regexp_replace(trim(days.lift), '\s+', ' ', 'g')
        left join outages using (plant_id, service_date)
        group by names.lift order by names.lift;
    create view disruptions as
        select
            (select count(distinct (event, category, started_at, lines_text))
                from warehouse.core.status_episodes, span where first_seen_at <= last_at) as n_listed,
            (select count(*) from truth_events, span where listed_at <= last_at and unlisted_at > first_at)
                as n_announced;
"""


SINGLE_ROWS = ("stop_visits", "errors", "trip_outcomes", "disruptions")
# Of each row of the table: the question, what the warehouse says, what truly happened.
WORDS = (
    (
        "passages at stops",
        "{n_observed:,} were seen, {n_evidenced:,} of them to within 60 s; the others are estimated",
        "{n_calls:,} took place",
    ),
    (
        "times of those seen to within 60 s",
        "each lies between two polls",
        (
            "{percent_within_bounds:.1f} % lie there; the time given is {median:.0f} s off (median), at "
            "most {p95:.0f} s for 95 % of them"
        ),
    ),
    (
        "departures of the timetable",
        (
            "{n_scheduled:,} were due: {n_run:,} were seen to run, {n_not_run:,} are known not to have run, "
            "and of {n_unknown:,} it is not known"
        ),
        (
            "{n_cancelled:,} did not run: {n_cancelled_not_run:,} of those known not to, "
            "{n_cancelled_unknown:,} of the unknown, {n_cancelled_run:,} of those seen to run"
        ),
    ),
    ("disruptions", "{n_listed:,} were listed", "{n_announced:,} were announced"),
)


def truth_table(warehouse: Path, truth: Path, first: date, last: date) -> Table:
    """Return a table with the figures of service dates and the true ones."""
    table = Table(expand=False)
    for heading in ("question", "what the warehouse says", "what truly happened"):
        table.add_column(heading)
    for row in _rows(compare(warehouse, truth, first, last)):
        table.add_row(*row)
    return table


def compare(warehouse: Path, truth: Path, first: date, last: date) -> dict[str, list[dict[str, Any]]]:
    """Return the figures of service dates and the true ones: rows by column for each view of QUESTIONS."""
    with duckdb.connect() as connection:
        connection.execute(f"attach '{warehouse}' as warehouse (read_only)")
        for name in TABLES:
            connection.execute(f"create view truth_{name} as from '{truth / name}.parquet'")
        script = (PREPARE + QUESTIONS).replace("$first", f"date '{first}'").replace("$last", f"date '{last}'")
        for statement in script.split(";"):
            connection.execute(statement)
        views = ("on_time", "delivered", "lifts", *SINGLE_ROWS)
        return {view: connection.sql(f"from {view}").to_arrow_table().to_pylist() for view in views}


def _rows(figures: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[tuple[str, str, str]]:
    for row in figures["on_time"]:
        day = date.fromisoformat(row["period"])
        yield f"share of passages on time, {day:%A %d %B}", _interval(row), _share(row["true_share"])
    yield from _delivered(*figures["delivered"])
    values = {name: value for view in SINGLE_ROWS for name, value in figures[view][0].items()}
    for question, found, true in WORDS:
        if values["median"] is not None or "{median" not in true:
            yield question, found.format(**values), true.format(**values)
    yield from _lifts(figures["lifts"])


def _delivered(network: Mapping[str, Any], *lines: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    if lines:
        _, low, high, decimals = cited(network["low"], network["low"], network["high"])
        n_held = sum(line["low"] <= line["true_share"] <= line["high"] for line in lines)
        yield (
            "share of departures that ran",
            f"between {low:.{decimals}f} and {high:.{decimals}f} % (bounds)",
            f"{_share(network['true_share'])}; by line and direction {n_held} of {len(lines)} bounds hold",
        )


def _lifts(lifts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    if lifts:
        hours = {name: sum(lift[name] for lift in lifts) / 3600 for name in ("low", "high", "true_seconds")}
        n_held = sum(lift["low"] - 1 <= lift["true_seconds"] <= lift["high"] + 1 for lift in lifts)
        yield (
            f"hours in which {len(lifts)} lifts were out of use",
            f"between {hours['low']:.1f} and {hours['high']:.1f} (bounds)",
            f"{hours['true_seconds']:.1f}; by lift {n_held} of {len(lifts)} bounds hold",
        )


def _interval(row: Mapping[str, Any]) -> str:
    if row["figure"] is None:
        return f"not known: {row['reason']}"
    figure, low, high = (f"{100 * row[name]:.{row['decimals']}f}" for name in ("figure", "low", "high"))
    return f"{figure} % (95 % interval: {low} to {high} %)"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"
