"""A GTFS feed of one line, for tests that need a network of their own."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zipfile import ZipFile


def write_feed(
    path: Path, timezone: str = "Europe/Rome", first: str = "05:00:00", last: str = "23:00:00"
) -> None:
    """Write a feed of one line and five stops; a bus leaves every ten minutes in each direction, every day.

    first, last: when the first bus leaves, and until when others do, in local time.
    """
    today = datetime.now(UTC).date()
    begin, end = (today + timedelta(days=days) for days in (-60, 60))
    there = [f"out,08:{3 * n:02}:00,08:{3 * n:02}:00,s{n},{n}" for n in range(5)]
    back = [f"in,08:{3 * n:02}:00,08:{3 * n:02}:00,s{4 - n},{n}" for n in range(5)]
    tables = {
        "agency": ["agency_id,agency_name,agency_url,agency_timezone", f"1,A,http://a.example,{timezone}"],
        "calendar": [
            "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date",
            f"always,1,1,1,1,1,1,1,{begin:%Y%m%d},{end:%Y%m%d}",
        ],
        "stops": ["stop_id,stop_code,stop_name", *(f"s{n},{n:04},Stop {n}" for n in range(5))],
        "routes": ["route_id,route_short_name,route_long_name,route_type", "r,1,One,3"],
        "trips": [
            "route_id,service_id,trip_id,trip_headsign,direction_id",
            "r,always,out,East,0",
            "r,always,in,West,1",
        ],
        "stop_times": ["trip_id,arrival_time,departure_time,stop_id,stop_sequence", *there, *back],
        "frequencies": [
            "trip_id,start_time,end_time,headway_secs",
            f"out,{first},{last},600",
            f"in,{first},{last},600",
        ],
    }
    with ZipFile(path, "w") as archive:
        for name, lines in tables.items():
            archive.writestr(f"{name}.txt", "\n".join(lines) + "\n")
