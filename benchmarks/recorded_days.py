"""Rehearse recorded days of a real network and compare the shares on time with what was recorded.

    python benchmarks/recorded_days.py --actuals actuals.parquet --timezone America/New_York

Each service date of the tables is rehearsed alone, in a folder of its own, from its beginning, as the first
day of a collector. Dates with less than a tenth of the trips of the busiest are left out unless named.
Without a table two days of a built-in network are simulated, written as one, and replayed.

A row for each date:

- the calls that took place, and the share of them that is recorded; the others are interpolated or as late as
  the nearest recorded one;
- departures of which nothing is recorded: nobody knows whether they ran;
- the true share on time, of all calls that took place and of those recorded;
- the estimate of the network with its 95 % interval, and whether that holds the true share of all calls;
- line-directions: how many get an estimate, how many of their intervals hold, the median width in points.

With `--keep DIR` the rehearsals and warehouses are kept, and dates that are there are only compared.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import duckdb
import httpx2

from transit_emulator.app import DEFAULT_TOKEN, create_app
from transit_emulator.days.trip_ids import IdMode
from transit_emulator.faults.definitions import Fault
from transit_emulator.local_time import ONE_DAY
from transit_emulator.truth import write_truth
from transit_emulator.world import NETWORK_NAMES, World, build_world, recorded_world
from transit_etl import warehouse
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings
from transit_etl.warehouse.database import database_path

FREE_RATE = 60  # requests a minute without a token
LEAST_SHARE = 0.1  # of the trips of the busiest date
SIMULATED_DAYS = (date(2026, 3, 2), date(2026, 3, 3))
COMPARE = """
    create table calls as
    select actual.*, epoch(actual.passed_at - scheduled.scheduled_at) between -60 and 359 as is_on_time
    from '{truth}/actual_passages.parquet' as actual
    join '{truth}/scheduled_passages.parquet' as scheduled
        using (service_date, trip_id, stop_code, stop_sequence)
    where scheduled.scheduled_at >= '{first}' and scheduled.scheduled_at < '{last}';
    create table lines as
    select true_lines.*, estimated_on_time_share as share, estimated_on_time_share_low as low,
        estimated_on_time_share_high as high
    from (
        select line_code, direction, avg(is_on_time::int) as truth, count(distinct trip_id) as n_trips
        from calls group by all
    ) as true_lines
    left join (from built.marts.punctuality_daily where service_date = '{day}') using (line_code, direction);
    create table judged as from lines where n_trips >= 5;
    create table network as from built.marts.network_punctuality_daily where service_date = '{day}';
    create table figures as
    select
        '{day}' as day,
        (select count(*) from calls) as n_calls,
        (select avg(is_recorded::int) from calls) as recorded,
        (
            select count(*) from '{truth}/trips.parquet'
            where outcome = 'not_recorded' and scheduled_departure_at between '{first}' and '{last}'
        ) as n_unknown,
        (select avg(is_on_time::int) from calls) as truth,
        (select avg(is_on_time::int) filter (is_recorded) from calls) as recorded_truth,
        network.estimated_on_time_share as share,
        network.estimated_on_time_share_low as low,
        network.estimated_on_time_share_high as high,
        network.estimate_null_reason as reason,
        (select count(*) from judged) as n_lines,
        (select avg((share is not null)::int) from judged) as given,
        (select avg((truth between low and high)::int) from judged where share is not null) as held,
        (select median(high - low) from judged where share is not null) as width
    from (select 1) left join network on true
"""


class Figures(NamedTuple):
    """What is compared of a date; shares are fractions, None where there is none."""

    day: str
    n_calls: int
    recorded: float | None
    n_unknown: int
    truth: float | None
    recorded_truth: float | None
    share: float | None
    low: float | None
    high: float | None
    reason: str | None
    n_lines: int
    given: float | None
    held: float | None
    width: float | None


def main() -> None:
    """Rehearse, build and compare each date; print a row as soon as it is known."""
    options = options_of(__doc__).parse_args()
    with tempfile.TemporaryDirectory(prefix="transit-recorded-") as name:
        folder = options.keep or Path(name)
        tables = tables_of(options, folder)
        print(f"{options.hours:g} h of each date, {options.rate} requests a minute, {options.ids} ids")
        print(HEADING)
        for table in tables:
            world = recorded_world(table, ZoneInfo(options.timezone), options.seed, IdMode(options.ids))
            for day in options.date or service_dates(world):
                if len(world.network.trips_on(day)):
                    started = time.perf_counter()
                    figures = measure(options, world, day, folder / day.isoformat())
                    print(_row(figures), f"({time.perf_counter() - started:.0f} s)", flush=True)


def tables_of(options: argparse.Namespace, folder: Path) -> list[Path]:
    """Return the tables of recorded times, or one of simulated days."""
    return options.actuals or [simulated_table(folder / "simulated.parquet", SIMULATED_DAYS, options.size)]


def simulated_table(path: Path, days: Sequence[date], size: str = "small") -> Path:
    """Write days of a built-in network as a table of recorded times."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as truth, duckdb.connect() as db:
        write_truth(build_world(size), days[0], days[-1], Path(truth))
        db.execute(f"""
            copy (
                select service_date, trip_id, line_code as line, direction, headsign, stop_code,
                    stop_sequence, scheduled_at at time zone 'UTC' as scheduled_at,
                    passed_at at time zone 'UTC' as actual_at
                from '{truth}/scheduled_passages.parquet'
                join (from '{truth}/trips.parquet' select service_date, trip_id, headsign)
                    using (service_date, trip_id)
                left join (
                    from '{truth}/actual_passages.parquet'
                    select service_date, trip_id, stop_sequence, passed_at
                ) using (service_date, trip_id, stop_sequence)
            ) to '{path}'
        """)
    return path


def service_dates(world: World) -> Iterator[date]:
    """Yield the dates of a recording with at least a tenth of the trips of the busiest."""
    calendar = world.network.calendar
    n_days = (calendar.last_date - calendar.first_date).days + 1
    days = [calendar.first_date + ONE_DAY * step for step in range(n_days)]
    n_trips = [len(world.network.trips_on(day)) for day in days]
    for day, n in zip(days, n_trips, strict=True):
        if n >= LEAST_SHARE * max(n_trips):
            yield day


def measure(
    options: argparse.Namespace, world: World, day: date, folder: Path, faults: Sequence[Fault] = ()
) -> Figures:
    """Rehearse and build a date in a folder, unless it is there, and compare it with what was recorded."""
    settings = Settings(
        data_dir=folder / "data",
        operator="recorded",
        timezone=options.timezone,
        window_seconds=3600,
        rate_per_minute=options.rate,
        token=DEFAULT_TOKEN if options.rate > FREE_RATE else None,
    )
    first = datetime.combine(day, settings.service_day_cutoff, settings.zone) + timedelta(hours=options.skip)
    last = first + timedelta(hours=options.hours)
    if not (folder / "truth").exists():
        app = create_app(
            world, tokens=[DEFAULT_TOKEN], limit_with_token=max(300, options.rate), faults=faults
        )
        report = rehearse(settings, first, options.hours, transport=httpx2.ASGITransport(app))
        if report.is_failure:
            raise SystemExit(f"the rehearsal of {day} failed: {report.outcomes}")
        warehouse.build(settings)
        write_truth(world, day, day, folder / "truth")
    with duckdb.connect() as db:
        db.execute("set timezone = 'UTC'")
        db.execute(f"attach '{database_path(settings)}' as built (read_only)")
        script = COMPARE.format(truth=folder / "truth", day=day, first=_utc(first), last=_utc(last))
        for statement in script.split(";\n"):
            db.execute(statement)
        return Figures(*db.execute("from figures").fetchall()[0])


HEADING = "date        calls (recorded)  unknown  true (recorded)  estimate [95 %]          line-directions"


def _row(found: Figures) -> str:
    return (
        f"{found.day}  {found.n_calls:>6,} ({percent_text(found.recorded)})  {found.n_unknown:>5}  "
        f"{percent_text(found.truth)} ({percent_text(found.recorded_truth)})  {estimate_text(found)}  "
        f"{percent_text(found.given)} of {found.n_lines} given, {percent_text(found.held)} hold, "
        f"width {percent_text(found.width)}"
    )


def estimate_text(found: Figures) -> str:
    """Write the estimate of the network, and whether its interval holds."""
    if found.share is None or found.truth is None:
        return f"none: {found.reason or 'nothing is known of the date'}"
    is_held = (found.low or 0) <= found.truth <= (found.high or 0)
    interval = f"{percent_text(found.share)} [{percent_text(found.low)}, {percent_text(found.high)}]"
    return f"{interval} {'holds' if is_held else 'does not hold'}"


def percent_text(share: float | None) -> str:
    """Write a share in percent."""
    return "-" if share is None else f"{100 * share:.1f}"


def _utc(instant: datetime) -> str:
    return instant.astimezone(ZoneInfo("UTC")).strftime("%Y-%m-%d %H:%M:%S")


def options_of(description: str | None) -> argparse.ArgumentParser:
    """Return the options of a benchmark that replays recorded days."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--actuals", type=Path, action="append", help="a table of recorded times")
    parser.add_argument("--size", choices=NETWORK_NAMES, default="small", help="simulated without a table")
    parser.add_argument("--timezone", default="Europe/Rome", help="the zone of the tables")
    parser.add_argument("--date", type=date.fromisoformat, action="append", help="only this service date")
    parser.add_argument("--seed", type=int, default=1, help="of the emulator")
    parser.add_argument("--rate", type=int, default=60, help="requests a minute")
    parser.add_argument("--ids", choices=[mode.value for mode in IdMode], default="stable")
    parser.add_argument("--skip", type=float, default=0, help="hours of each date left out at its beginning")
    parser.add_argument("--hours", type=float, default=24, help="hours rehearsed of each date")
    parser.add_argument("--keep", type=Path, help="a folder in which everything is kept")
    return parser


if __name__ == "__main__":
    main()
