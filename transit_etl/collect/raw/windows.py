"""Lists the raw files of the last hour, as collectors learn from them and the status counts them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from transit_base.stamps import stamp
from transit_etl.paths import finished_raw_file, open_raw_files, raw_files

HOUR = timedelta(hours=1)
_LONGEST_WINDOW = timedelta(hours=1)  # the bound of `Settings.window_seconds`


def earliest_recent(now: datetime) -> datetime:
    """Return the earliest UTC instant at which a window began that may hold an answer of the last hour."""
    return (now - HOUR - _LONGEST_WINDOW).astimezone(UTC)


def recent_windows(data_dir: Path, operator: str, now: datetime, endpoint: str = "*") -> list[Path]:
    """List the raw files that may hold an answer of the last hour, oldest window first.

    A window is listed once, under the name it has: one that is being written as its open file, which may be
    renamed at any moment.
    """
    since = earliest_recent(now)
    files = [
        path
        for listed in (open_raw_files, raw_files)  # in this order, no window is missed that ends meanwhile
        for day in sorted({since.date(), now.astimezone(UTC).date()})
        for path in listed(data_dir, operator, endpoint, day)
    ]
    windows = {finished_raw_file(path).name: path for path in files}
    return [path for name, path in sorted(windows.items()) if name >= stamp(since)]
