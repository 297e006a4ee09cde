"""Makes an installation with which nothing is wrong."""

from datetime import UTC
from importlib.metadata import version

import duckdb

from tests.collect.helpers import write_lake
from tests.operations.status.installations import NOW, Exchange, land, minutes, stop
from transit_etl.api import v1
from transit_etl.paths import published_database
from transit_etl.settings import Settings
from transit_etl.warehouse.building.dbt import fingerprint

_PUBLISHED = f"""
create schema quality; create schema core;
create table quality.builds as select 7 as build_number;
create table quality.publication as
select '{version("transit-etl")}' as version, '{fingerprint(Settings())}' as fingerprint;
create table core.requests as
select 'emulated' as operator, timestamp '2026-11-10 08:00' as received_at, 'w' as "window";
"""


def healthy(settings: Settings) -> Settings:
    """Fill the data folder with good answers of every endpoint, staged rows, and a published warehouse."""
    asked = [
        v1.all_of("lines"),
        v1.of_line("stops", "015-00"),
        v1.of_line("timetables", "015-00"),
        v1.all_of("status"),
        v1.all_of("news"),
    ]
    stamp = f"{(NOW - minutes(0.1)).astimezone(UTC):%Y-%m-%dT%H:%M:%S.000Z}"
    land(
        settings,
        *(Exchange(request, minutes(0.2), {}) for request in asked),
        Exchange(stop(1), minutes(0.1), {"timestamp": stamp, "passaggi": []}),
    ).close()
    for dataset in ("lines", "line_stops", "timetables", "passages"):
        write_lake(settings.data_dir, dataset, [{}], at=NOW - minutes(0.1))
    path = published_database(settings.data_dir)
    path.parent.mkdir(parents=True)
    with duckdb.connect(path) as connection:
        connection.execute(_PUBLISHED)
    return settings
