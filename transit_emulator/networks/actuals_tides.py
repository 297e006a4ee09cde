"""Reads the stop visits and performed trips of TIDES as rows of the plain table of recorded times."""

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

TRIP = "trip_id_performed"
_VISITS, _TRIPS = "stop_visits", "trips_performed"


def stop_visit_files(folder: Path) -> list[Path]:
    """Return the files of stop visits in a folder; raise ValueError if there is none."""
    found = sorted(file for file in folder.glob(f"{_VISITS}*") if file.suffix.lower() in (".csv", ".parquet"))
    if not found:
        raise ValueError(f"the folder has no file {_VISITS}….csv or {_VISITS}….parquet")
    return found


def trip_files(visits: Sequence[Path]) -> list[Path]:
    """Return the files of trips that belong to files of stop visits; raise ValueError if one is not there."""
    found = [file.with_name(file.name.replace(_VISITS, _TRIPS)) for file in visits]
    for file, visit_file in zip(found, visits, strict=True):
        if file == visit_file or not file.is_file():
            raise ValueError(
                f"{visit_file.name} has the columns of TIDES {_VISITS}; its trips are looked for beside it, "
                f"in a file with {_TRIPS} in place of {_VISITS} in its name"
            )
    return found


def as_plain(visit_columns: Collection[str], trip_columns: Collection[str]) -> str:
    """Return the SQL that makes the table `given` of `visits` and `trips`, which have these columns.

    At the first stop of a trip its departure counts, at all others the arrival; where one is not there, the
    other one. Trips that are not in service, or of no route, are left out.
    """
    visit, trip = partial(_either, "visits", visit_columns), partial(_either, "trips", trip_columns)
    return f"""
        create table given as
        select * exclude (departs_at, arrives_at, departed_at, arrived_at, is_first),
            coalesce(case when is_first then departs_at end, arrives_at, departs_at) as scheduled_at,
            coalesce(case when is_first then departed_at end, arrived_at, departed_at) as actual_at
        from (
            select *, try_cast(stop_sequence as bigint)
                = min(try_cast(stop_sequence as bigint)) over (partition by service_date, trip_id) as is_first
            from (
                select
                    {visit("service_date")} as service_date,
                    {visit(TRIP)} as trip_id,
                    {trip("route_id")} as line,
                    coalesce({trip("direction_id")}, '0') as direction,
                    {trip("vehicle_id")} as vehicle_id,
                    {visit("stop_id")} as stop_code,
                    {visit("scheduled_stop_sequence", "trip_stop_sequence")} as stop_sequence,
                    {visit("schedule_departure_time")} as departs_at,
                    {visit("schedule_arrival_time")} as arrives_at,
                    {visit("actual_departure_time")} as departed_at,
                    {visit("actual_arrival_time")} as arrived_at,
                    coalesce({trip("schedule_relationship")} = 'Canceled', false) as is_canceled,
                    coalesce({visit("schedule_relationship")} = 'Skipped', false) as is_skipped
                from visits left join trips using (service_date, {TRIP})
                where coalesce({trip("trip_type")}, 'In service') = 'In service'
                    and (trips.{TRIP} is null or {trip("route_id")} is not null)
            )
        )
    """


def _either(table: str, present: Collection[str], *columns: str) -> str:
    """Return the SQL of the first of some columns that is not empty, as text; those not present are empty."""
    found = [f"nullif(trim({table}.{column}::varchar), '')" for column in columns if column in present]
    return f"coalesce({', '.join(found)})" if found else "null::varchar"
