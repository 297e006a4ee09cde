"""Rehearse a whole day of a network that the models were not made for, and compare what they made of it.

    python benchmarks/any_network.py --gtfs feed.zip

The day is the first one of the timetable with nearly as many trips as the busiest of two months, from the
beginning of its service day. With `--days 3` two more are rehearsed, and the last is compared. Without a GTFS
zip a built-in network is rehearsed. Both kinds of identifiers are tried, unless `--ids` names one.

The rows are those of `benchmarks/punctuality.py` that tell whether the network was understood:

- visits: whether the line and direction are known and right;
- matches: whether a bus runs as the departure that it is matched to;
- passages due: how many, over the true ones, and how many at stops where the departure does not call;
- whether bounds, and the intervals of the network, of line-directions and of stops, hold the truth;
- whether departures that are said not to have run did not.
"""

import argparse
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from benchmarks.punctuality import options_of, print_rows, rows_of
from transit_emulator.days.trip_ids import IdMode
from transit_emulator.local_time import ONE_DAY
from transit_emulator.world import World, build_world
from transit_etl.settings import Settings

NEARLY = 0.9  # of the trips of the busiest date
TWO_MONTHS = 61  # days
FIGURES = (
    "visits observed live: with line and direction",
    "trip -> scheduled departure",
    "passages due, over the true ones",
    "rows of trip_trajectories at stops",
    "truth within [passed_after, passed_before]",
    "bounds of every passage due",
    "estimated on-time share of the network",
    "line-directions with five trips or more",
    "their 95 % interval: holds the truth",
    "stops with five passages or more",
    "not_run by identity",
)


def main() -> None:
    """Print a table for each kind of identifiers."""
    parser = options_of(__doc__)
    parser.add_argument("--days", type=int, default=1, help="days rehearsed; the last is compared")
    parser.set_defaults(hours=24, start=None, ids=None)
    options = parser.parse_args()
    if options.actuals:
        parser.error("for recorded days there is benchmarks/recorded_days.py")
    world = build_world(options.size, options.gtfs)
    options.timezone = world.network.zone.key
    options.start = options.start or _beginning(world)
    for ids in [options.ids] if options.ids else [mode.value for mode in IdMode]:
        print(f"{options.gtfs or options.size}, day {options.days} from {options.start}, {ids} identifiers")
        with tempfile.TemporaryDirectory(prefix="transit-any-network-") as name:
            _print(options, ids, (options.keep or Path(name)) / ids)


def _print(options: argparse.Namespace, ids: str, folder: Path) -> None:
    begins = options.start + timedelta(days=options.days - 1)
    hours = 24 * (options.days - 1) + options.hours
    of_ids = argparse.Namespace(**{**vars(options), "ids": ids, "hours": hours})
    rows = rows_of(of_ids, folder, begins, options.hours)
    print_rows([row for row in rows if row.figure.startswith(FIGURES)])


def _beginning(world: World) -> datetime:
    """Return when the service day begins of the first date with nearly as many trips as the busiest."""
    calendar = world.network.calendar
    n_days = min((calendar.last_date - calendar.first_date).days + 1, TWO_MONTHS)
    dates = [calendar.first_date + ONE_DAY * step for step in range(n_days)]
    n_trips = {day: len(world.network.trips_on(day)) for day in dates}
    day = next(day for day in dates if n_trips[day] >= NEARLY * max(n_trips.values()))
    return datetime.combine(day, Settings.model_fields["service_day_cutoff"].default, world.network.zone)


if __name__ == "__main__":
    main()
