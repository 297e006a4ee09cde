"""Compares the emulator's delays and prediction errors with those of real days and feeds.

The column `real` has the figures of a recorded day of a real network, times at time points. Those of emulated
networks are medians over five working days, at every stop, and at every sixth, about as far apart as time
points. `recorded` is computed by the same code from a table of recorded times, where there is one.

Run: python benchmarks/emulator_calibration.py [FILE.parquet …]
"""

import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from transit_emulator.calibration import HORIZONS, emulated_calls, prediction_errors, theoretical_share
from transit_emulator.day_figures import REAL_DAY, Calls, DayFigures, figures_of, median_figures
from transit_emulator.networks.network import Ints
from transit_emulator.noise import Floats
from transit_emulator.world import build_world

DAYS = [date(2026, 3, day) for day in range(2, 7)]
SEED = 2
TIME_POINTS = 6  # stops from one to the next
RECORDED = Path(__file__).parents[2] / "shared" / "networks" / "boston-2022" / "day.parquet"
_CODES = ["trip_id", "stop_code", "line", "direction"]
_COLUMNS = ["service_date", *_CODES, "stop_sequence", "scheduled_at", "actual_at"]


class Row(NamedTuple):
    """A figure as the table prints it: what it is, and how many decimals it has."""

    label: str
    n_decimals: int = 0


ROWS = (  # one per figure of DayFigures
    Row("delay p1, p5, p25, p50, p75, p95, p99 (s)"),
    Row("arrival less departure delay p5, p25, p50, p75, p95 (s)"),
    Row("standard deviation between trips (s)"),
    Row("standard deviation within trips (s)"),
    Row("standard deviation between line-directions (s)"),
    Row("correlation of successive trips", 2),
    Row("mean delay at 7, 12, 16, 20 h (s)"),
    Row("on time (-60 to 359 s), all; at the origin", 3),
    Row("running times: largest over smallest; different values", 2),
    Row("scheduled at whole minutes", 2),
    Row("patterns per line-direction; share of the main one", 3),
    Row("departures never shown live, or without a record", 3),
)


def main() -> None:
    """Print the figures side by side."""
    files = [Path(name) for name in sys.argv[1:]] or [path for path in [RECORDED] if path.exists()]
    recorded = {f"recorded: {path.parent.name}/{path.stem}": _recorded(path) for path in files}
    columns = {"real": REAL_DAY, **dict(_emulated()), **recorded}
    print(f"| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for row, values in zip(ROWS, zip(*columns.values(), strict=True), strict=True):
        print(f"| {row.label} | {' | '.join(_text(each, row.n_decimals) for each in values)} |")
    _print_prediction_errors()


def _text(values: Sequence[float], n_decimals: int) -> str:
    texts = (f"{value:,.{n_decimals}f}" for value in values)
    return ", ".join(text.rstrip("0").rstrip(".") if n_decimals else text for text in texts)


def _emulated() -> Iterator[tuple[str, DayFigures]]:
    for size, distances in {"city": (1, TIME_POINTS), "metropolis": (1, TIME_POINTS), "small": (1,)}.items():
        world = build_world(size, seed=SEED)
        for every in distances:
            name = size if every == 1 else f"{size}, every {every}th stop"
            yield name, median_figures(figures_of(emulated_calls(world, day, every)) for day in DAYS)


def _recorded(path: Path) -> DayFigures:
    """Return the medians over the service dates of a table: a row per trip and point, null if unrecorded."""
    table = pq.read_table(path, columns=_COLUMNS)
    table = table.sort_by([(name, "ascending") for name in ("service_date", "trip_id", "stop_sequence")])
    days = pc.unique(table["service_date"])
    return median_figures(
        figures_of(_calls(table.filter(pc.equal(table["service_date"], day)))) for day in days
    )


def _calls(table: pa.Table) -> Calls:
    trip, stop, line, direction = (_encoded(table[name]) for name in _CODES)
    way = line * (direction.max() + 1) + direction
    first = np.flatnonzero(np.diff(trip, prepend=-1))
    called = [(way[rows[0]], *stop[rows]) for rows in np.split(np.arange(len(trip)), first[1:])]
    number = {pattern: place for place, pattern in enumerate(dict.fromkeys(called))}
    pattern = np.repeat([number[each] for each in called], np.diff(first, append=len(trip)))
    return Calls(trip, way, pattern, _seconds(table["scheduled_at"]), _seconds(table["actual_at"]))


def _encoded(column: "pa.ChunkedArray[Any]") -> Ints:
    return np.unique(column.to_numpy().astype(str), return_inverse=True)[1].astype(np.int64)


def _seconds(column: "pa.ChunkedArray[Any]") -> Floats:
    """Return seconds of local clocks; NaN where null."""
    seconds = pc.local_timestamp(column).cast(pa.timestamp("s")).cast(pa.int64())
    return np.asarray(seconds.to_numpy(), dtype=np.float64)


def _print_prediction_errors() -> None:
    world = build_world()
    day = DAYS[1]
    print(f"\ntheoretical share of listed rows {theoretical_share(world, day):.3f} (a real feed: 0.66)")
    errors = prediction_errors(world, day)
    for horizon in HORIZONS:
        late = errors.within(horizon)
        median, p95 = np.percentile(late, [50, 95])
        print(
            f"{horizon.first:2d}-{horizon.last:2d} min: mean absolute error {np.abs(late).mean():.2f} "
            f"(real {horizon.real_error}), later than predicted: median {median:.2f}, p95 {p95:.2f}, "
            f"n {len(late)}"
        )


if __name__ == "__main__":
    main()
