"""Compare punctuality in the warehouse with what really happened, and with naive estimates.

    python benchmarks/punctuality.py --size small --hours 3 --rate 300 --ids stable

Rehearses the real collectors against the emulator in process, lets the emulator write the truth, builds the
warehouse and compares. With `--keep DIR` the rehearsal is kept in that folder; a later call with the same
folder repeats only the build and the comparison, so that a changed model is measured in seconds.

What is compared:

- visits with calls: same stop, same listed id (or none), nearest in time;
- trips with departures: of the trips that were scheduled to leave their origin during the collection;
- `not_run`: precision among all trips with this outcome; recall among trips of tracked lines whose first stop
  was polled at least every ten minutes from fifty minutes before the scheduled departure until twenty after,
  and which were taken off the list. A trip that does not run and stays listed until its time looks exactly
  like one that ran untracked: these are counted separately;
- EWT: over all stops and hours that the warehouse publishes, with every bus that passed, observed or not;
- shares: over all calls that happened during the collection, observed or not; and over the visits with a
  known punctuality, which the models are responsible for. The two differ if calls without a known punctuality
  were on time more or less often. So the true share is also given by what is known of a call, and for two
  kinds of trips: those under way when the collection began, whose timetable rows were no longer listed, and
  those that are never tracked;
- added trips, which are in no timetable: how many were matched to a departure nevertheless.

The naive estimates use the listings as they are: the last prediction as the arrival, the middle between the
last poll with the bus and the first without it, and that first poll.
"""

import argparse
import json
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import duckdb
import httpx2

from transit_emulator.app import DEFAULT_TOKEN, create_app
from transit_emulator.days.trip_ids import IdMode
from transit_emulator.truth import write_truth
from transit_emulator.world import NETWORK_NAMES, World, build_world, recorded_world
from transit_etl import warehouse
from transit_etl.paths import dbt_run_results
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings
from transit_etl.warehouse.database import database_path

SQL = Path(__file__).with_name("punctuality.sql")
FREE_RATE = 60  # requests a minute without a token


class Row(NamedTuple):
    """A row of the printed table."""

    figure: str
    goal: str
    measured: str
    naive: str


def main() -> None:
    """Rehearse unless the folder has a rehearsal, build, compare, print."""
    options = options_of(__doc__).parse_args()
    if options.keep:
        measure(options, options.keep)
        return
    with tempfile.TemporaryDirectory(prefix="transit-punctuality-") as folder:
        measure(options, Path(folder))


def measure(options: argparse.Namespace, folder: Path) -> None:
    """Print the table for one rehearsal."""
    file = options.actuals or options.gtfs
    network = file.stem if file else options.size
    span = f"{options.hours:g} h from {options.start.isoformat()}"
    print(f"{network}, {span}, {options.rate} requests a minute, {options.ids} ids")
    print_rows(rows_of(options, folder, options.start, options.hours))


def rows_of(options: argparse.Namespace, folder: Path, begins: datetime, hours: float) -> list[Row]:
    """Return the rows of the table for some hours; rehearse and build unless the folder has it."""
    settings = _settings(options, folder)
    if not (folder / "truth").exists():
        _rehearse(options, settings, folder / "truth")
    if not options.as_built:
        built = warehouse.build(settings)
        print(f"built and checked in {built.seconds:.1f} s")
        _print_slowest(settings)
    return _compare(settings, folder / "truth", begins, begins + timedelta(hours=hours))


def _settings(options: argparse.Namespace, folder: Path) -> Settings:
    return Settings(
        data_dir=folder / "data",
        operator="emulated",
        timezone=options.timezone,
        window_seconds=3600,
        rate_per_minute=options.rate,
        token=DEFAULT_TOKEN if options.rate > FREE_RATE else None,
    )


def _rehearse(options: argparse.Namespace, settings: Settings, truth: Path) -> None:
    world = _world(options)
    app = create_app(world, tokens=[DEFAULT_TOKEN], limit_with_token=max(300, options.rate))
    began = time.perf_counter()
    report = rehearse(settings, options.start, options.hours, transport=httpx2.ASGITransport(app))
    print(f"rehearsed in {time.perf_counter() - began:.0f} s: {report.outcomes}")
    first = options.start.date() - timedelta(days=1)
    write_truth(world, first, report.end.date(), truth)


def _world(options: argparse.Namespace) -> World:
    ids = IdMode(options.ids)
    if options.actuals:
        return recorded_world(options.actuals, ZoneInfo(options.timezone), options.seed, ids)
    return build_world(options.size, options.gtfs, options.seed, ids)


def _print_slowest(settings: Settings) -> None:
    path = dbt_run_results(settings.data_dir)
    results = json.loads(path.read_text())["results"]
    slowest = sorted(results, key=lambda result: -float(result["execution_time"]))[:6]
    found = (f"{result['unique_id'].split('.')[2]} {result['execution_time']:.1f} s" for result in slowest)
    print("slowest: " + ", ".join(found))


def _compare(settings: Settings, truth: Path, begins: datetime, ends: datetime) -> list[Row]:
    with duckdb.connect() as db:
        db.execute("set timezone = 'UTC'")
        db.execute(f"attach '{database_path(settings)}' as built (read_only)")
        for path in truth.glob("*.parquet"):
            db.execute(f"create view truth_{path.stem} as from read_parquet('{path}')")
        db.execute(f"create table span as select '{begins.isoformat()}'::timestamptz::timestamp as begins, "
                   f"'{ends.isoformat()}'::timestamptz::timestamp as ends")  # fmt: skip
        rows: list[Row] = []
        for statement in SQL.read_text().split(";\n"):
            if statement.strip():
                found = db.execute(statement)
                if statement.lstrip().lower().startswith(("select", "with", "from")):
                    rows += [
                        Row(*("no figure" if cell is None else cell for cell in row))
                        for row in found.fetchall()
                    ]
    return rows


def print_rows(rows: list[Row]) -> None:
    """Print a table of figures, with a heading."""
    table = [
        Row(
            "compared with the truth",
            "goal",
            "measured",
            "naive: last prediction | middle | first poll without",
        ),
        *rows,
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def options_of(description: str | None) -> argparse.ArgumentParser:
    """Return the options of a benchmark that rehearses a network."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=NETWORK_NAMES, default="small", help="a built-in network")
    parser.add_argument("--gtfs", type=Path, help="a GTFS zip instead")
    parser.add_argument("--actuals", type=Path, help="a table of recorded times instead")
    parser.add_argument("--timezone", default="Europe/Rome", help="the zone of the network")
    parser.add_argument("--seed", type=int, default=1, help="of the emulator")
    parser.add_argument("--rate", type=int, default=60, help="requests a minute")
    parser.add_argument("--ids", choices=[mode.value for mode in IdMode], default="stable")
    parser.add_argument("--start", type=datetime.fromisoformat, default="2026-11-18T05:00:00+00:00")
    parser.add_argument("--hours", type=float, default=3)
    parser.add_argument("--keep", type=Path, help="a folder in which the rehearsal is kept")
    parser.add_argument("--as-built", action="store_true", help="compare without building")
    return parser


if __name__ == "__main__":
    main()
