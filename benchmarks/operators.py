"""Builds and publishes the day of one operator, and of several in one data folder: what each more costs.

    python benchmarks/operators.py [--data FOLDER] [--size small] [--hours 24] [--operators 1 4 16]

The lake of a data folder, or of a rehearsal, is given to so many operators. Each number of them is built from
nothing and published. Prints the processor time of the build, also as a multiple of the first, the time of
the publication, the size of its file, and the memory of the largest process. Fails if each of several costs
more than one alone.
"""

import argparse
import resource
import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from benchmarks.engines import add_data_options, data_of
from transit_etl import identity, paths, warehouse
from transit_etl.settings import Settings

_MEGABYTE = 1e6


def main() -> int:
    """Build each number of operators and print what that took; 1 if each more costs more than the first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_options(parser)
    parser.add_argument("--operators", type=int, nargs="+", default=[1, 4, 16])
    options = parser.parse_args()
    table = Table("operators", "build, processor s", "publish, s", "published file, MB")
    costs = []
    with TemporaryDirectory() as name:
        data = data_of(options, Path(name))
        for n_operators in options.operators:
            settings = _shared(data, Path(name) / f"{n_operators}", n_operators)
            began = _processor_seconds()
            warehouse.build(settings)
            costs.append(_processor_seconds() - began)
            started_at = time.monotonic()
            published = warehouse.publish(settings)
            publish_seconds = time.monotonic() - started_at
            table.add_row(
                f"{n_operators}",
                f"{costs[-1]:,.0f} ({costs[-1] / costs[0]:.1f} times)",
                f"{publish_seconds:,.1f}",
                f"{published.stat().st_size / _MEGABYTE:,.0f}",
            )
    Console().print(table)
    Console().print(f"peak memory of a process: {_peak_megabytes():,.0f} MB")
    n_times = [cost / costs[0] / n for cost, n in zip(costs, options.operators, strict=True)]
    return int(max(n_times) > 1.0)


def _shared(data: Path, folder: Path, n_operators: int) -> Settings:
    """Make a data folder in which so many operators have the lake of one; return its settings."""
    first = Settings(data_dir=data)
    settings = first.model_copy(update={"data_dir": folder})
    names = [first.operator, *(f"{first.operator}-{number}" for number in range(2, n_operators + 1))]
    lake = paths.lake_dir(data)
    for name in names:
        shutil.copytree(lake / f"operator={first.operator}", paths.lake_dir(folder) / f"operator={name}")
    shutil.copytree(
        lake / f"operator={paths.NO_OPERATOR}", paths.lake_dir(folder) / f"operator={paths.NO_OPERATOR}"
    )
    each = {name: settings.model_copy(update={"operator": name}) for name in names}
    for name in names:
        identity.accept(each[name])
    return each[names[0]].knowing(each)


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / _MEGABYTE


if __name__ == "__main__":
    sys.exit(main())
