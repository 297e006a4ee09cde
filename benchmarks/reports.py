"""Measures the report of a month: how long it takes, how much memory, and how large its pages are.

    python benchmarks/reports.py [--days 31] [--copies 14] [--data FOLDER] [--folder FOLDER]

The month repeats one day (`benchmarks/synthetic_year.py`). With `--data` it is a day of that data folder;
`--copies 1` leaves it as it is. The report is written by a process of its own, then once more with nothing
changed. Fails if a page is larger than 500 kB, or if the second report rewrote a file.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from shutil import rmtree
from typing import Any

from benchmarks.synthetic_year import FIRST, add_options, year_of
from transit_etl.paths import performance_dir

LARGEST_PAGE = 500_000  # bytes


@dataclass(frozen=True, slots=True)
class Written:
    """A report that was written, and what it took."""

    about: dict[str, Any]
    seconds: float
    peak_mib: float

    def __str__(self) -> str:
        """Say it in one line."""
        counts = (
            f"{self.about['n_pages']:,} pages, {self.about['n_changed']:,} of {self.about['n_files']:,} files"
        )
        return f"{counts} written in {self.seconds:.1f} s, at most {self.peak_mib:,.0f} MiB"


def main() -> None:
    """Print the measurements; fail if a page is too large or a file was rewritten for nothing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_options(parser)
    parser.set_defaults(days=31)
    options = parser.parse_args()
    with year_of(options) as folder:
        rmtree(performance_dir(folder), ignore_errors=True)
        first = _write(folder, options.days)
        print(f"a month: {first}", flush=True)
        second = _write(folder, options.days)
        print(f"again:   {second}", flush=True)
        sizes = {path: path.stat().st_size for path in performance_dir(folder).rglob("*.html")}
        largest = max(sizes, key=lambda path: sizes[path])
        print(f"largest page: {sizes[largest] / 1e3:.0f} kB, {largest.relative_to(performance_dir(folder))}")
        sys.exit(sizes[largest] > LARGEST_PAGE or second.about["n_changed"] > 0)


def _write(folder: Path, n_days: int) -> Written:
    last = FIRST + timedelta(days=n_days - 1)
    command = [
        sys.executable,
        "-m",
        "transit_etl.cli",
        "report",
        "--from",
        f"{FIRST}",
        "--to",
        f"{last}",
        "--json",
    ]
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as printed:
        environment = {**os.environ, "TRANSIT_DATA_DIR": str(folder)}
        process = subprocess.Popen(command, env=environment, stdout=printed)  # noqa: S603 - our own program
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, command
        seconds = time.perf_counter() - began
        printed.seek(0)
        [about] = json.load(printed)
    return Written(about, seconds, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
