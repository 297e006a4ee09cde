"""Has a public validator look for errors in a feed before it takes its place."""

from collections import Counter
from pathlib import Path


def errors_in_gtfs(folder: Path) -> list[str]:
    """Return the errors that gtfs-guru finds in a GTFS Schedule feed, each kind once; no remarks."""
    import gtfs_guru  # noqa: PLC0415 - only feeds need it

    notices = gtfs_guru.validate(str(folder / "gtfs.zip")).notices
    return _counted("gtfs-guru", [each.code for each in notices if each.severity == "ERROR"])


def _counted(validator: str, kinds: list[str]) -> list[str]:
    return [f"{validator}: {kind}, {number} times" for kind, number in sorted(Counter(kinds).items())]
