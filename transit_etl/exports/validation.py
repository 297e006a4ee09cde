"""Has public validators look for errors in a feed before it takes its place."""

from collections import Counter
from pathlib import Path

_MOST_ROWS = 10_000  # of each file of a package; frictionless reads 7,000 a second, and one query wrote all


def errors_in_gtfs(folder: Path) -> list[str]:
    """Return the errors that gtfs-guru finds in a GTFS Schedule feed, each kind once; no remarks."""
    import gtfs_guru  # noqa: PLC0415 - only feeds need it

    notices = gtfs_guru.validate(str(folder / "gtfs.zip")).notices
    return _counted("gtfs-guru", [each.code for each in notices if each.severity == "ERROR"])


def errors_in_package(folder: Path) -> list[str]:
    """Return the errors that frictionless finds in a descriptor and in the first rows of its files."""
    from frictionless import Package, system  # noqa: PLC0415 - takes seconds

    with system.use_context(trusted=True):
        package = Package.from_descriptor(str(folder / "datapackage.json"))
        report = package.validate(limit_rows=_MOST_ROWS)
    return _counted("frictionless", [kind for (kind,) in report.flatten(["type"])])


def _counted(validator: str, kinds: list[str]) -> list[str]:
    return [f"{validator}: {kind}, {number} times" for kind, number in sorted(Counter(kinds).items())]
