"""Let answers about passages mislead in each way, and compare the figures with the truth.

    python benchmarks/misleading.py --actuals actuals.parquet --timezone America/New_York

Each kind of the emulator's faults that no single answer shows is tried on one recorded date, three times: in
an hour of the morning, for the busiest line, and for the whole network all day; kinds that change whole
answers in a third of them in place of the line. Without a table a day of a built-in network is simulated and
replayed.

A row for each, after one without any fault:

- the true share on time of the network and the estimate with its 95 % interval, or why there is none;
- line-directions: how many get an estimate, how many of their intervals hold, the median width in points;
- departures that are said not to have run, and how many of these did not;
- the kinds of `quality.findings`.

With `--keep DIR` the rehearsals and warehouses are kept, and what is there is only compared.
"""

import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb

from benchmarks.recorded_days import (
    Figures,
    estimate_text,
    measure,
    options_of,
    percent_text,
    service_dates,
    tables_of,
)
from transit_emulator.days.trip_ids import IdMode
from transit_emulator.faults.definitions import Fault, FaultKind
from transit_emulator.world import World, recorded_world

FAULTS = [
    Fault(kind=FaultKind.NO_PASSAGES, row_share=1),
    Fault(kind=FaultKind.STUCK_ROWS, row_share=0.25, seconds=360),
    Fault(kind=FaultKind.OLD_ANSWERS, seconds=180),
    Fault(kind=FaultKind.FROZEN_ANSWERS, seconds=1800),
    Fault(kind=FaultKind.LIVE_TIMETABLE),
    Fault(kind=FaultKind.SINGLE_IDS),
    Fault(kind=FaultKind.SHARED_IDS),
    Fault(kind=FaultKind.PAST_DEPARTURES),
]
WHOLE_ANSWERS = (FaultKind.OLD_ANSWERS, FaultKind.FROZEN_ANSWERS, FaultKind.PAST_DEPARTURES)
HOUR = 8
NOT_RUN = """
    select count(*), count(*) filter (not ran)
    from (from built.core.scheduled_departures where outcome = 'not_run') as said
    join (
        select service_date, line_code, direction, scheduled_departure_at,
            bool_or(outcome <> 'not_run') as ran
        from '{truth}/trips.parquet' where outcome <> 'not_recorded' and not is_added group by all
    ) as trips
        on said.service_date = trips.service_date and said.line_code = trips.line_code
        and said.direction = trips.direction and said.departure_at = trips.scheduled_departure_at
"""
FOUND = "select distinct kind from built.quality.findings where kind is not null order by kind"


def main() -> None:
    """Print a row for each kind and intensity as soon as it is known."""
    parser = options_of(__doc__)
    parser.add_argument("--kind", type=FaultKind, action="append", help="only this kind")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="transit-misleading-") as name:
        folder = options.keep or Path(name)
        world = recorded_world(
            tables_of(options, folder)[0], ZoneInfo(options.timezone), options.seed, IdMode(options.ids)
        )
        day = (options.date or list(service_dates(world)))[0]
        for what, faults in _cases(world, day, options.kind or [each.kind for each in FAULTS]):
            kept = folder / what.replace(" ", "-")
            _print(what, measure(options, world, day, kept, faults), kept)


def _cases(world: World, day: date, kinds: Sequence[FaultKind]) -> Iterator[tuple[str, list[Fault]]]:
    """Yield no fault, and the fault of each kind with each intensity."""
    yield "no fault", []
    begin = datetime.fromtimestamp(world.schedule(day).starts_at, UTC) + timedelta(hours=HOUR)
    hour = {"first": begin, "last": begin + timedelta(hours=1)}
    for fault in (each for each in FAULTS if each.kind in kinds):
        is_whole = fault.kind in WHOLE_ANSWERS
        part: dict[str, object] = {"share": 1 / 3} if is_whole else {"labels": (_busiest_line(world, day),)}
        yield f"{fault.kind} hour", [fault.model_copy(update=hour)]
        yield f"{fault.kind} {'third' if is_whole else 'line'}", [fault.model_copy(update=part)]
        yield f"{fault.kind} day", [fault]


def _busiest_line(world: World, day: date) -> str:
    """Return the label of the line with the most trips, as faults name it."""
    network = world.network
    counts: dict[int, int] = {}
    for trip in network.trips_on(day):
        line = network.patterns[network.trips[int(trip)].pattern].line
        counts[line] = counts.get(line, 0) + 1
    busiest = max(counts, key=lambda line: (counts[line], -line))
    return network.lines[busiest].number.lstrip("0").rstrip("/")


def _print(what: str, found: Figures, folder: Path) -> None:
    with duckdb.connect() as db:
        db.execute("set timezone = 'UTC'")
        db.execute(f"attach '{folder}/data/warehouse/build.duckdb' as built (read_only)")
        n_not_run, n_right = db.execute(NOT_RUN.format(truth=folder / "truth")).fetchall()[0]
        kinds = ", ".join(kind for (kind,) in db.execute(FOUND).fetchall())
    print(
        f"{what:<24}  {percent_text(found.truth)}  {estimate_text(found):<34}  "
        f"{percent_text(found.given)} of {found.n_lines} given, {percent_text(found.held)} hold, width "
        f"{percent_text(found.width)}; not run: {n_right} of {n_not_run} right; {kinds or 'no finding'}",
        flush=True,
    )


if __name__ == "__main__":
    main()
