"""Builds a month by one worker and by two: whether both give the same tables, and how long each takes.

    python benchmarks/workers.py [--data FOLDER] [--size small] [--hours 24] [--days 31] [--workers 1 2]

The first 24 hours of a data folder, or of a rehearsal, are repeated so often, the dates moved. Each worker
has one processor of this machine. Each build is from nothing. Every table and view that is published is
compared row by row (`benchmarks/engines.py`). Fails if a row differs.
"""

import argparse
import os
import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from benchmarks.engines import SCHEMAS, add_data_options, compare_builds, data_of
from benchmarks.repeated_days import repeat_first_day
from transit_etl import warehouse
from transit_etl.settings import Settings


def main() -> int:
    """Build by each number of workers, print what that took, and compare; 1 if a row differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_options(parser)
    parser.add_argument("--days", type=int, default=31, help="how often the first 24 hours are repeated")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    console = Console()
    processors = sorted(os.sched_getaffinity(0))
    if max(options.workers) > len(processors):
        parser.error(f"this machine has {len(processors)} processors, one for each worker")
    times = Table("workers", "seconds", "share of the time of the first")
    folders: list[Path] = []
    n_wrong = 0
    with TemporaryDirectory() as name:
        lake = repeat_first_day(data_of(options, Path(name)), Path(name) / "lake", options.days)
        taken: list[float] = []
        for n_workers in options.workers:
            folder = Path(name) / f"{n_workers}-workers"
            shutil.copytree(lake, folder)
            os.sched_setaffinity(0, processors[:n_workers])
            started_at = time.monotonic()
            warehouse.build(Settings(data_dir=folder, build_workers=n_workers))
            taken.append(time.monotonic() - started_at)
            os.sched_setaffinity(0, processors)
            times.add_row(f"{n_workers}", f"{taken[-1]:,.0f}", f"{taken[-1] / taken[0]:.2f}")
            folders.append(folder)
            for each in compare_builds(folders[0], folder, schemas=(*SCHEMAS, "headline", "quality")):
                if each.differences:
                    console.print(f"{each.table}: {'; '.join(each.differences)}", markup=False)
                    n_wrong += 1
        console.print(times)
        console.print(f"{n_wrong} tables or views differ")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
