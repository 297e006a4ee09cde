"""Checks the settings files, the data folder and the disk it is on."""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from transit_base.files import misplaced_text
from transit_base.listing import files_below, passing_over
from transit_etl.collect.raw.rawfile import DataFolderError, check_writable
from transit_etl.operations.check.problem import Problem
from transit_etl.operations.status import Status
from transit_etl.paths import lake_dir, raw_dir
from transit_etl.project import project_folder, settings_files
from transit_etl.service_day import DAY
from transit_etl.settings import PREFIX, FolderSettings, Settings
from transit_etl.warehouse.building.judged_stops import judged_stops
from transit_etl.warehouse.building.plant_file import plant_names
from transit_etl.warehouse.building.reference_files import ReferenceFileError
from transit_etl.warehouse.building.stop_names import route_types, stop_names

MIB = 1024 * 1024
N_MEASURED_DAYS = 7
SMALLEST_SPACE = 512 * MIB  # a build and its publication need some, however little is collected
# File systems of other machines: locks and atomic renames cannot be relied on there.
_REMOTE = ("9p", "afs", "ceph", "cifs", "fuse.", "glusterfs", "lustre", "ncp", "nfs", "smb")
_SECRET = re.compile(r"(token|limiter_url|alert_urls)\s*=", re.IGNORECASE)
_MOUNTS = Path("/proc/mounts")


def problems(settings: Settings, status: Status) -> Iterator[Problem]:
    """Yield what is wrong with the settings files, the data folder and its disk."""
    yield from _exposed_secrets(settings)
    yield from named_files(settings)
    yield from _misplaced(status)
    try:
        check_writable(settings.data_dir)
    except DataFolderError as error:
        yield Problem("folder", str(error))
        if not os.access(settings.data_dir, os.R_OK | os.X_OK):
            return
    kind = file_system(settings.data_dir)
    if kind.startswith(_REMOTE):
        yield Problem(
            "local_disk",
            f"{settings.data_dir.absolute()} is on {kind}, a file system of another machine: files are "
            "locked and replaced as only a local disk does it reliably",
        )
    yield from _space(settings, status)


def _misplaced(status: Status) -> Iterator[Problem]:
    if status.misplaced:
        first, n_others = status.misplaced[0], len(status.misplaced) - 1
        more = f"; {n_others} more: `transit-etl status`" if n_others else ""
        yield Problem("misplaced", misplaced_text(first) + more)
    if status.unreadable:
        n_others = len(status.unreadable) - 1
        more = f"; {n_others} more: `transit-etl status`" if n_others else ""
        yield Problem("unreadable", status.unreadable[0] + more)


def file_system(folder: Path) -> str:
    """Return the type of the file system that a folder is on; an empty text where nothing tells it."""
    if not _MOUNTS.exists():
        return ""
    mounts = [line.split(" ")[1:3] for line in _MOUNTS.read_text(errors="replace").splitlines()]
    place = folder.resolve()
    above = [(len(point), kind) for point, kind in mounts if place.is_relative_to(point)]
    return max(above)[1] if above else ""


def _exposed_secrets(settings: Settings) -> Iterator[Problem]:
    project = project_folder(str(settings.project_dir) if settings.project_dir else None)
    for path in settings_files(project):
        is_readable = path.stat().st_mode & stat.S_IROTH
        if is_readable and _SECRET.search(path.read_text(errors="replace")):
            yield Problem(
                "settings_file", f"{path} holds a secret that every user of this machine can read: chmod 600"
            )


def named_files(settings: Settings) -> Iterator[Problem]:
    """Yield which files that settings name cannot be used."""
    read = {
        "stops_file": (stop_names, route_types),
        "judged_stops_file": (judged_stops,),
        "plant_file": (plant_names,),
    }
    for name, readers in read.items():
        try:
            for read_file in readers:
                read_file(settings)
        except ReferenceFileError as error:
            yield Problem(name, f"{error}; look at {PREFIX}{name.upper()}")
    if settings.metrics_file is not None:
        try:
            check_writable(settings.metrics_file.parent)
        except DataFolderError as error:
            yield Problem(
                "metrics_file", f"TRANSIT_METRICS_FILE: cannot write in {error.folder}: {error.reason}"
            )


def _space(settings: Settings, status: Status) -> Iterator[Problem]:
    per_day = _bytes_per_day(settings)
    growth = per_day * settings.check_disk_days
    if status.free_bytes < max(SMALLEST_SPACE, growth):
        needed = f"{SMALLEST_SPACE / MIB:,.0f} MiB are needed to build and to publish"
        if growth > SMALLEST_SPACE:
            needed = (
                f"{growth / MIB:,.0f} MiB are needed for {settings.check_disk_days:g} days at "
                f"{per_day / MIB:,.0f} MiB a day"
            )
        yield Problem(
            "space",
            f"{status.free_bytes / MIB:,.0f} MiB are free on the disk of {settings.data_dir.absolute()}, but "
            f"{needed}",
        )


def _bytes_per_day(settings: FolderSettings) -> float:
    """Return how many bytes of raw and lake the last days have made, on average."""
    today = settings.clock.now().date()
    days = [today - DAY * ago for ago in range(1, N_MEASURED_DAYS + 1)]
    with passing_over():
        sizes = [
            sum(
                path.lstat().st_size
                for root in (raw_dir(settings.data_dir), lake_dir(settings.data_dir))
                for path in files_below(root, "operator=*", "*", f"date={day}", "*")
            )
            for day in days
        ]
    used = [size for size in sizes if size]
    return sum(used) / len(used) if used else 0.0
