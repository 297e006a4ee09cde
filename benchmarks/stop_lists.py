"""Make a GTFS feed of real stop lists: lines, stops, their order and places are real, the timetable is not.

    python benchmarks/stop_lists.py --folder captured --output feed.zip
    python benchmarks/any_network.py --gtfs feed.zip

The folder holds what the app of an operator of the interface reads, without heads, separated by semicolons:

- `app_stops.csv`: code, name, description, latitude, longitude;
- `app_lines.csv`: code, number, the two termini;
- `app_lines_stops.csv`: line code and number of the direction (`018-00_1`), stop code, position.

A line has a departure every 20 to 60 minutes from 5 to 24, a variant (whose code does not end in 00) every
one to three hours. Buses go 5.5 m/s in a straight line and stop for 20 s; times are in whole minutes.
"""

import argparse
import tempfile
import zipfile
from pathlib import Path

import duckdb

READ = """
create table stops as
select
    column0 as stop_id, column0 as stop_code, column1 as stop_name, column3 as stop_lat, column4 as stop_lon
from read_csv('{folder}/app_stops.csv', delim = ';', header = false, all_varchar = true);

create table calls as
select
    column0[:-3] as route_id, cast(column0[-1:] as integer) - 1 as direction_id, column1 as stop_id,
    row_number() over way as stop_sequence,
    radians(cast(stop_lat as double)) as y, radians(cast(stop_lon as double)) * cos(y) as x,
    sqrt((y - lag(y) over way) ** 2 + (x - lag(x) over way) ** 2) * 6371000 as metres,
    coalesce(round(metres / 5.5 + 20), 0) as seconds
from read_csv('{folder}/app_lines_stops.csv', delim = ';', header = false, all_varchar = true)
inner join stops on column1 = stop_id
window way as (partition by column0 order by cast(column2 as integer));

create table routes as
select column0 as route_id, 'a' as agency_id, column1 as route_short_name, '3' as route_type, column2, column3
from read_csv('{folder}/app_lines.csv', delim = ';', header = false, all_varchar = true)
where column0 in (select route_id from calls);

create table ways as
select
    route_id, direction_id, if(direction_id = 0, column3, column2) as trip_headsign,
    if(route_id like '%-00', 20, 60) as shortest,
    60 * (shortest + cast(hash(route_id) % (2 * shortest + 1) as bigint)) as headway
from (select distinct route_id, direction_id from calls)
inner join routes using (route_id);

create table trips as
select
    route_id, 'every day' as service_id, trip_headsign, direction_id,
    concat_ws(' ', route_id, direction_id, departure) as trip_id, departure
from (
    select *, 18000 + 60 * cast(hash(trip_headsign) % 30 as bigint) as first,
        unnest(range(first, 86400, headway)) as departure
    from ways
);

create table stop_times as
select
    trip_id, stop_id, stop_sequence,
    departure + 60 * cast(round(sum(seconds) over trip / 60) as bigint) as second,
    printf('%02d:%02d:00', second // 3600, second // 60 % 60) as arrival_time, arrival_time as departure_time
from trips
inner join calls using (route_id, direction_id)
window trip as (partition by trip_id order by stop_sequence);
"""
FILES = {
    "agency": "select 'a' as agency_id, 'Captured' as agency_name, 'https://example.org/' as agency_url,"
    " '{timezone}' as agency_timezone",
    "stops": "from stops order by stop_id",
    "routes": "select * exclude (column2, column3) from routes order by route_id",
    "calendar": "select 'every day' as service_id, columns(* exclude (day)), '20260302' as start_date,"
    " '20260331' as end_date from (select 0 as day, 1 as monday, 1 as tuesday, 1 as wednesday, 1 as thursday,"
    " 1 as friday, 1 as saturday, 1 as sunday)",
    "trips": "select * exclude (departure) from trips order by trip_id",
    "stop_times": "select * exclude (second) from stop_times order by trip_id, stop_sequence",
}


def main() -> None:
    """Write the feed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--timezone", default="Europe/Rome")
    options = parser.parse_args()
    with (
        duckdb.connect() as connection,
        tempfile.TemporaryDirectory() as scratch,
        zipfile.ZipFile(options.output, "w", zipfile.ZIP_DEFLATED) as feed,
    ):
        connection.execute(READ.format(folder=options.folder))
        for name, query in FILES.items():
            path = Path(scratch) / f"{name}.txt"
            connection.sql(query.format(timezone=options.timezone)).write_csv(str(path))
            feed.write(path, path.name)
    print(options.output)


if __name__ == "__main__":
    main()
