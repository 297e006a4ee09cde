"""Export the feeds of a warehouse, and have public validators and comparisons look for errors.

    python benchmarks/validated_exports.py [--data FOLDER] [--keep FOLDER]

Exports TIDES, GTFS, retrospective GTFS and GTFS Realtime from the published file of a data folder, which
stays as it is; without one an hour and a half of the small network is rehearsed. Stops without a place get
an invented one: a feed without is not valid. Prints what each validator finds, and what contradicts the
published file. Then breaks a copy of each export in several ways. Fails if there is an error or a
contradiction, or if something broken is accepted.
"""

import argparse
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import httpx2
import pyarrow as pa

from benchmarks.validators import (
    GTFS_DAMAGES,
    TIDES_DAMAGES,
    Findings,
    by_frictionless,
    by_gtfs_guru,
    by_gtfs_validator,
    by_protobuf,
    read_alerts,
    with_damaged_table,
    with_texts,
)
from transit_emulator.app import create_app
from transit_emulator.world import build_world
from transit_etl import warehouse
from transit_etl.export_settings import export_settings
from transit_etl.paths import published_database
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings
from transit_exports import Request, export

START, HOURS = datetime(2026, 11, 18, 6, 0, tzinfo=UTC), 1.5
FEEDS = ("gtfs", "gtfs-retrospective")
FORMATS = (*FEEDS, "tides", "gtfs-rt")
SQL = Path(__file__).with_name("exported_identities.sql")
_PLACES = """
update intermediate.stop_names set latitude = 44.4 + hash(stop_code) % 1000 / 1e5, longitude = 8.9
where latitude is null;
insert into intermediate.stop_names
select operator, stop_code, null, 44.4 + hash(stop_code) % 1000 / 1e5, 8.9 from core.stops
where stop_code not in (select stop_code from intermediate.stop_names)
"""
_FEED = """
create schema {schema};
create table {schema}.trips as
select *, case direction_id when '0' then 'outbound' when '1' then 'inbound' end as direction
from read_csv('{folder}/trips.txt', all_varchar = true);
create table {schema}.dates as
select service_id, strptime(date, '%Y%m%d')::date as service_date
from read_csv('{folder}/calendar_dates.txt', all_varchar = true);
create table {schema}.calls as
select trip_id, stop_id, stop_sequence::bigint as stop_sequence, timepoint, seconds,
    row_number() over trip as nth, lag(seconds) over trip as seconds_before
from (
    select
        *,
        list_reduce([part::bigint for part in string_split(arrival_time, ':')], lambda x, y: x * 60 + y)
            as seconds
    from read_csv('{folder}/stop_times.txt', all_varchar = true)
)
window trip as (partition by trip_id order by stop_sequence::bigint)
"""
_TYPES = {  # of columns of TIDES that are no texts
    "service_date": "date", "trip_stop_sequence": "bigint", "scheduled_stop_sequence": "bigint",
    "visit_key": "uuid", "departure_key": "uuid", "actual_arrival_time": "timestamp",
    "schedule_arrival_time": "timestamp", "schedule_trip_start": "timestamp",
}  # fmt: skip


def main() -> None:
    """Print what is found; fail if anything is wrong or something broken is accepted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a data folder with a published file")
    parser.add_argument("--keep", type=Path, help="where the exports are written and kept")
    options = parser.parse_args()
    with nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        settings = _settings(options.data, folder)
        exports = {form: _exported(settings, form) for form in FORMATS}
        database = published_database(settings.data_dir)
        problems = [
            *_invalid(exports),
            *(f"contradicts the warehouse: {name}" for name in contradictions(database, exports)),
            *(f"accepted: {damage}" for damage in _accepted(exports, folder)),
        ]
    print("\n".join(problems) or "no error, no contradiction, and every broken copy was refused")
    sys.exit(bool(problems))


def _settings(data: Path | None, folder: Path) -> Settings:
    """Return settings of a copy of the published file, in which every stop has a place."""
    settings = Settings(data_dir=folder / "data", window_seconds=3600)
    path = published_database(settings.data_dir)
    if data is None:
        rehearse(
            settings, START, HOURS, transport=httpx2.ASGITransport(create_app(build_world("small", None, 1)))
        )
        warehouse.build(settings)
        warehouse.publish(settings)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(published_database(data), path)
    with duckdb.connect(path) as connection:
        connection.execute(_PLACES)
    return settings


def _exported(settings: Settings, form: str) -> Path:
    started = time.perf_counter()
    report = export(export_settings(settings), Request((), form, allows_incomplete=True))
    seconds = time.perf_counter() - started
    print(f"{form}: {report.n_rows:,} rows, {report.n_bytes / 1e6:,.1f} MB in {seconds:.1f} s")
    return report.folder


def _validators(exports: dict[str, Path]) -> Iterator[tuple[str, Callable[[Path], Findings], Path]]:
    for feed in FEEDS:
        yield f"{feed}, gtfs-guru", by_gtfs_guru, exports[feed] / "gtfs.zip"
        yield f"{feed}, gtfs-validator", by_gtfs_validator, exports[feed] / "gtfs.zip"
    yield "tides, frictionless", by_frictionless, exports["tides"]
    yield "gtfs-rt, protobuf", by_protobuf, exports["gtfs-rt"] / "alerts.pb"


def _invalid(exports: dict[str, Path]) -> Iterator[str]:
    for name, validate, path in _validators(exports):
        started = time.perf_counter()
        found = validate(path)
        print(f"{name}: {time.perf_counter() - started:.1f} s, {sum(found.errors.values())} errors")
        for kind, number in sorted(found.remarks.items()):
            print(f"    {kind}: {number:,}")
        yield from (f"{name}: {kind}, {number} times" for kind, number in found.errors.items())


def contradictions(database: Path, exports: dict[str, Path]) -> Iterator[str]:
    """Say what in exports of all formats contradicts the published file: how many rows, and one of them."""
    with duckdb.connect() as connection, tempfile.TemporaryDirectory() as scratch:
        connection.execute(f"set timezone = 'UTC'; set temp_directory = '{scratch}'")
        connection.execute(f"attach '{database}' as published (read_only)")
        _open_exports(connection, exports, Path(scratch))
        for query in SQL.read_text().split(";\n"):
            *_, name = (line for line in query.splitlines() if line.startswith("-- "))
            if rows := connection.execute(query).fetchall():
                yield f"{name.removeprefix('-- ')}: {len(rows):,} rows do not, such as {rows[0]}"


def _open_exports(connection: duckdb.DuckDBPyConnection, exports: dict[str, Path], scratch: Path) -> None:
    for schema, form in zip(("static", "ran"), FEEDS, strict=True):
        with zipfile.ZipFile(exports[form] / "gtfs.zip") as archive:
            archive.extractall(scratch / schema)
        connection.execute(_FEED.format(schema=schema, folder=scratch / schema))
    connection.execute("create schema tides")
    for table in ("stop_visits", "trips_performed", "stop_visit_evidence", "passage_estimates"):
        files = exports["tides"] / f"{table}_2*.csv"
        columns = connection.execute(f"describe from read_csv('{files}', all_varchar = true)").fetchall()
        types = {name: _TYPES.get(name, "varchar") for name, *_ in columns}
        connection.execute(f"create view tides.{table} as from read_csv('{files}', columns = {types})")
    connection.register("alerts", pa.Table.from_pylist([*_alerts(exports["gtfs-rt"] / "alerts.pb")]))


def _alerts(file: Path) -> Iterator[dict[str, Any]]:
    for entity in read_alerts(file).entity:
        [period] = entity.alert.active_period
        yield {
            "id": entity.id,
            "active_from": _instant(period.start),
            "active_to": _instant(period.end) if period.end else None,
            "routes": [each.route_id for each in entity.alert.informed_entity if each.route_id],
        }


def _instant(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def _accepted(exports: dict[str, Path], folder: Path) -> Iterator[str]:
    """Break copies of the exports, and say what is accepted all the same."""
    for feed in FEEDS:
        for name, damage in GTFS_DAMAGES.items():
            broken = with_texts(exports[feed] / "gtfs.zip", folder / "broken.zip", damage)
            for validate in (by_gtfs_guru, by_gtfs_validator):
                if not validate(broken).errors:
                    yield f"{feed} with {name}, by {validate.__name__}"
    for old, new, error in TIDES_DAMAGES:
        broken = with_damaged_table(exports["tides"], folder / "broken", "trips_performed", old, new)
        if error not in by_frictionless(broken).errors:
            yield f"tides with {new!r} for {old!r}"
    alerts = folder / "broken.pb"
    alerts.write_bytes((exports["gtfs-rt"] / "alerts.pb").read_bytes()[:-1])
    if not by_protobuf(alerts).errors:
        yield "gtfs-rt without its last byte"


if __name__ == "__main__":
    main()
