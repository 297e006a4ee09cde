"""Asks public validators what they find wrong in exported feeds and packages; and breaks these on purpose.

The tests of exports use the same validators and the same damages on a small export.
"""

import json
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import gtfs_guru
from google.protobuf.message import DecodeError, EncodeError  # type: ignore[import-untyped]
from google.transit import gtfs_realtime_pb2 as gtfs

from transit_exports.validation import report_on_tides

Texts = dict[str, str]


class Findings(NamedTuple):
    """How often a validator found each kind of error, and of what it only remarks."""

    errors: Mapping[str, int]
    remarks: Mapping[str, int]


def by_gtfs_guru(feed: Path) -> Findings:
    """Validate a GTFS Schedule feed with gtfs-guru."""
    notices = gtfs_guru.validate(str(feed)).notices
    return Findings(
        Counter(each.code for each in notices if each.severity == "ERROR"),
        Counter(each.code for each in notices if each.severity != "ERROR"),
    )


def by_gtfs_validator(feed: Path) -> Findings:
    """Validate a GTFS Schedule feed with gtfs-validator.

    FileNotFoundError if it is not there, with which the program would find nothing wrong.
    """
    program = Path(sys.executable).with_name("gtfs-validator")
    command: list[str | Path] = [program, "--input", feed.resolve(strict=True), "--stdout"]
    done = subprocess.run(command, check=True, capture_output=True, cwd=feed.parent)  # noqa: S603 - of our environment
    errors, remarks = Counter[str](), Counter[str]()
    for each in json.loads(done.stdout)["notices"]:
        (errors if each["severity"] == "ERROR" else remarks)[each["code"]] += each["totalNotices"]
    return Findings(errors, remarks)


def by_frictionless(folder: Path) -> Findings:
    """Validate all of a TIDES package with frictionless, by the schemas and the profile in it."""
    report = report_on_tides(folder)
    warnings = [*report.warnings, *(warning for task in report.tasks for warning in task.warnings)]
    return Findings(Counter(kind for (kind,) in report.flatten(["type"])), Counter(warnings))


def with_damaged_table(folder: Path, target: Path, table: str, old: str, new: str) -> Path:
    """Make a TIDES package of one file of a table alone, with a text replaced once; return its folder."""
    package = json.loads((folder / "datapackage.json").read_text())
    resource = next(each for each in package["resources"] if each.get("tides-table") == table)
    shutil.copytree(folder / "schemas", target / "schemas", dirs_exist_ok=True)
    (target / "datapackage.json").write_text(json.dumps({**package, "resources": [resource]}))
    text = (folder / resource["path"]).read_text()
    (target / resource["path"]).write_text(text.replace(old, new, 1))
    return target


def read_alerts(file: Path) -> gtfs.FeedMessage:
    """Read a GTFS Realtime feed back; DecodeError for one that is none."""
    feed = gtfs.FeedMessage()
    feed.ParseFromString(file.read_bytes())
    return feed


def by_protobuf(file: Path) -> Findings:
    """Read a GTFS Realtime feed back, and look for what its alerts must have."""
    try:
        feed = read_alerts(file)
        feed.SerializeToString()  # fails where a required field is missing
    except (DecodeError, EncodeError) as error:
        return Findings({type(error).__name__: 1}, {})
    errors = Counter[str]()
    errors["not version 2.0"] = feed.header.gtfs_realtime_version != "2.0"
    errors["not a full dataset"] = feed.header.incrementality != gtfs.FeedHeader.FULL_DATASET
    errors["an id twice"] = len(feed.entity) - len({entity.id for entity in feed.entity})
    for entity in feed.entity:
        alert = entity.alert
        errors["no informed entity"] += not alert.informed_entity
        errors["no header"] += not alert.header_text.translation
        errors["ends before it begins"] += any(0 < each.end < each.start for each in alert.active_period)
    return Findings(+errors, {})


def with_texts(feed: Path, target: Path, damage: Callable[[Texts], Texts]) -> Path:
    """Copy a GTFS Schedule feed with some of its files replaced; return the copy."""
    with zipfile.ZipFile(feed) as archive:
        texts = {name.removesuffix(".txt"): archive.read(name).decode() for name in archive.namelist()}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (texts | damage(texts)).items():
            archive.writestr(f"{name}.txt", text)
    return target


GTFS_DAMAGES: Mapping[str, Callable[[Texts], Texts]] = {
    "a time that is none": lambda texts: {"stop_times": texts["stop_times"].replace(":00", ":77", 1)},
    "a stop that is missing": lambda texts: {"stops": texts["stops"].rsplit("\n", 2)[0] + "\n"},
    "a route without a name": lambda texts: {"routes": texts["routes"].replace("route_id", "route", 1)},
    "no agency": lambda texts: {"agency": texts["agency"].splitlines()[0] + "\n"},
}
# What is replaced once in the trips of a TIDES package, by what, and the error that it must give.
TIDES_DAMAGES = (
    ("Scheduled", "Perhaps", "constraint-error"),
    (",unknown,", ",,", "constraint-error"),
    ("Z,", "Y,", "type-error"),
    ("trip_id_performed", "trip", "incorrect-label"),
)
