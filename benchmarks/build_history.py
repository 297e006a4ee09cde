"""Measure whether adding a service date costs more when the warehouse already holds a long history.

    python benchmarks/build_history.py [--short 5] [--long 60] [--hours 4] [--repeat 3] [--data FOLDER]

Rehearses one morning of the small network against the emulator and copies it, moved by whole days, into two
lakes: a short history and a long one. Both are built whole; then the same number of dates is added to each in
turn, and each addition is timed. Prints the medians and their ratio; fails over 1.2.
"""

import argparse
import sys
import tempfile
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import median

import duckdb
import httpx

from transit_etl import paths, warehouse
from transit_etl.emulator.app import create_app
from transit_etl.emulator.world import build_world
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings
from transit_etl.stage.schemas import DATASETS

START = datetime(2026, 1, 7, 6, 0, tzinfo=UTC)  # ten weeks without a clock change from here
MOST = 1.2
SEED = 1


def main() -> int:
    """Run the measurement and print it; 1 if the long history makes a date dearer than allowed."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="history-") as scratch:
        folder = arguments.data or Path(scratch)
        day = Settings(data_dir=folder / "day", window_seconds=3600)
        _rehearse(day, arguments.hours)
        histories = [
            (n_days, Settings(data_dir=folder / f"{n_days}-days"))
            for n_days in (arguments.short, arguments.long)
        ]
        for n_days, settings in histories:
            _copy_days(day, settings, range(n_days))
            report = warehouse.build(settings)
            print(f"{n_days} days built whole in {report.seconds:.1f} s", flush=True)
        seconds = _add_dates(day, histories, arguments.repeat)
    medians = [median(times) for times in seconds]
    ratio = medians[1] / medians[0]
    for (n_days, _), times in zip(histories, seconds, strict=True):
        print(f"one more date after {n_days} days: " + ", ".join(f"{time:.1f} s" for time in times))
    print(f"ratio of the medians: {ratio:.2f} (at most {MOST})")
    return 0 if ratio <= MOST else 1


def _add_dates(day: Settings, histories: list[tuple[int, Settings]], repeat: int) -> list[list[float]]:
    """Add dates to each history in turn, so that a busy moment of the machine hits both."""
    seconds: list[list[float]] = [[] for _ in histories]
    for number in range(repeat):
        for (n_days, settings), times in zip(histories, seconds, strict=True):
            _copy_days(day, settings, range(n_days + number, n_days + number + 1))
            times.append(warehouse.build(settings).seconds)
    return seconds


def _rehearse(settings: Settings, hours: float) -> None:
    transport = httpx.ASGITransport(create_app(build_world("small", None, SEED)))
    rehearse(settings, START, hours, transport=transport)


def _copy_days(day: Settings, settings: Settings, numbers: range) -> None:
    """Write the rehearsed day moved by whole days, one file per dataset and day, as after compaction."""
    for dataset in DATASETS:
        pattern = str(paths.lake_glob(day.data_dir, dataset)).replace(
            "operator=*", f"operator={day.operator}"
        )
        if not list(Path("/").glob(pattern.lstrip("/"))):
            continue
        for number in numbers:
            received = date.fromisoformat(f"{START:%Y-%m-%d}") + timedelta(days=number)
            target = paths.lake_file(settings.data_dir, day.operator, dataset, received, "compacted")
            target.parent.mkdir(parents=True, exist_ok=True)
            duckdb.execute(_moved(pattern, target, number))
    _keep_schemas(day, settings)


def _moved(pattern: str, target: Path, n_days: int) -> str:
    """Return the statement that writes a day's rows with every instant, date and request moved on."""
    columns = duckdb.execute(f"describe from read_parquet('{pattern}', hive_partitioning = false)").fetchall()
    moved = []
    for name, kind, *_ in columns:
        if kind.startswith("TIMESTAMP"):
            moved.append(f'"{name}" + interval {n_days} day as "{name}"')
        elif kind == "DATE":
            moved.append(f'"{name}" + {n_days} as "{name}"')
        elif name in {"request_id", "window"}:
            moved.append(f"""'{n_days}-' || "{name}" as "{name}" """)
        elif name == "key":
            moved.append(f"""case when endpoint = 'timetables' then split_part(key, '/', 1) || '/' ||
                (cast(split_part(key, '/', 2) as date) + {n_days}) else key end as key""")
    replaced = f"replace ({', '.join(moved)})" if moved else ""
    rows = f"select * {replaced} from read_parquet('{pattern}', hive_partitioning = false)"
    return f"copy ({rows}) to '{target}' (format parquet, compression zstd)"


def _keep_schemas(day: Settings, settings: Settings) -> None:
    """Copy the empty files that give every dataset its columns."""
    for path in day.data_dir.glob("lake/operator=none/**/*.parquet"):
        target = settings.data_dir / path.relative_to(day.data_dir)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", type=int, default=5, help="days of the short history")
    parser.add_argument("--long", type=int, default=60, help="days of the long history")
    parser.add_argument("--hours", type=float, default=4.0, help="hours of each day that are polled")
    parser.add_argument("--repeat", type=int, default=3, help="dates added to each")
    parser.add_argument("--data", type=Path, help="an empty folder to work in and keep")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
