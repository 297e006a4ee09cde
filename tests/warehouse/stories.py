"""One service day of small stories, each at a stop of its own, in one lake for one build."""

from pathlib import Path

from tests.warehouse.lakes import Event, Lake, Line, Listed, NewsItem

STOPS = [f"10{number:02d}" for number in range(20)]


def write(data_dir: Path) -> Lake:
    """Write the lake of every story and return it, so that a test may go on with it."""
    lake = Lake(data_dir)
    _network(lake)
    _passages(lake)
    _lost_and_found(lake)
    _edges_of_the_day(lake)
    _departures(lake)
    _edited_timetable(lake)
    _patterns(lake)
    _ambiguous_labels(lake)
    _status(lake)
    _news(lake)
    lake.validation("08:00", "passages", "values_not_null", is_success=True)
    lake.write()
    return lake


def _network(lake: Lake) -> None:
    lines = [
        Line("001-00", "1", "HARBOUR", "HILL"),
        Line("002-00", "2", "AIRPORT", "MARKET"),
        Line("002-01", "2", "STATION", "MARKET"),
        Line("003-00", "3", "HARBOUR", "PARK"),
        Line("004-00", "4", "LIGHTHOUSE", "PARK"),
        Line("005-00", "5", "CASTLE", "PARK"),
        Line("005-01", "5", "CASTLE", "PARK"),
        Line("006-00", "6", "MILL", "PARK"),
    ]
    lake.lines("06:00", *lines, Line("009-00", "9", "OLD TOWN", "HILL"))
    lake.lines("12:00", *lines, Line("009-00", "9", "NEW TOWN", "HILL"))
    lake.request("lines", "", "13:00", outcome="timeout")
    lake.lines("18:00", *lines)
    lake.stops("001-00", "06:01", outbound=STOPS)
    lake.stops("002-00", "06:01", outbound=["2000", "2002", "2003"])
    lake.stops("002-01", "06:01", outbound=["2001", "2002", "2003"])
    lake.stops("004-00", "06:01", outbound=["4001", "4002"])
    lake.stops("005-00", "06:01", outbound=["5001", "5003"])
    lake.stops("005-01", "06:01", outbound=["5002", "5003"])
    lake.stops("003-00", "06:01", outbound=["3001", "3002"])
    lake.stops("006-00", "06:01", outbound=["6001", "6002"])


def _passages(lake: Lake) -> None:
    lake.poll("1001", "07:50", Listed("PLAIN", "08:00:00", is_theoretical=True))
    lake.poll("1001", "08:00:30", Listed("PLAIN", "08:01:00", is_full=True))
    lake.poll("1001", "08:01:20")

    lake.poll("1002", "07:40", Listed("MISSED", "08:05:00", is_theoretical=True))
    lake.poll("1002", "08:00", Listed("MISSED", "08:05:00"))
    lake.poll("1002", "08:04", outcome="timeout")
    lake.poll("1002", "08:10")

    lake.poll("1003", "08:00", Listed("ERROR", "08:07:00"))
    lake.poll("1003", "08:05:30", outcome="error_row")
    lake.poll("1003", "08:06", Listed("ERROR", "08:07:00"))
    lake.poll("1003", "08:08")

    lake.poll("1004", "08:00", Listed("WRAPPED", "08:01:00"))
    lake.poll("1004", "08:01:30", Listed("WRAPPED", "08:01:00", is_wrapped=True))

    lake.poll("1005", "08:05", Listed("HIDDEN", "08:10:00"))
    lake.poll("1005", "08:06", Listed("FIRST", "08:07:00"), Listed("SECOND", "08:08:00"))
    lake.poll("1005", "08:12")

    lake.poll("1008", "08:00", Listed("LOOP", "08:02:00"), Listed("LOOP", "08:12:00"))
    lake.poll("1008", "08:03", Listed("LOOP", "08:12:00"))
    lake.poll("1008", "08:13")

    lake.poll("1009", "08:00", Listed("JUMP", "08:05:00"))
    lake.poll("1009", "08:04", Listed("JUMP", "08:20:00"))
    lake.poll("1009", "08:06")


def _lost_and_found(lake: Lake) -> None:
    lake.poll("1007", "08:00", Listed("PAPER", "08:20:00", is_theoretical=True))
    lake.poll("1007", "08:19", Listed("PAPER", "08:20:00", is_theoretical=True))
    lake.poll("1007", "08:25")

    lake.poll("1010", "08:00", Listed("VANISHED", "08:20:00"))
    lake.poll("1010", "08:02")
    lake.poll("1010", "08:21")

    lake.poll("1011", "08:00", Listed("RETURNED", "08:10:00"))
    lake.poll("1011", "08:02")
    lake.poll("1011", "08:04", Listed("RETURNED", "08:10:00"))
    lake.poll("1011", "08:11")

    lake.poll("1012", "08:00", Listed("QUARANTINED", "08:02:00"))
    lake.poll("1012", "08:03", n_lost=1)
    lake.poll("1012", "08:05")

    lake.poll("1013", "07:50", Listed("REVERTED", "08:00:00", is_theoretical=True))
    lake.poll("1013", "07:55", Listed("REVERTED", "08:02:00"))
    lake.poll("1013", "07:58", Listed("REVERTED", "08:00:00", is_theoretical=True))
    lake.poll("1013", "08:05")

    lake.poll("1014", "08:00", Listed(None, "08:10:00", extra='{"piano": 1}'))
    lake.poll("1016", "08:00", Listed("UNFOLLOWED", "08:05:00"))


def _edges_of_the_day(lake: Lake) -> None:
    lake.poll("1006", "23:58", Listed("MIDNIGHT", "24:05:00", is_theoretical=True))
    lake.poll("1006", "24:04:30", Listed("MIDNIGHT", "24:05:10"))
    lake.poll("1006", "24:05:20")
    lake.poll("1015", "24:05:30", Listed("FUTURE", "24:30:00"))


def _departures(lake: Lake) -> None:
    lake.timetable("003-00", "06:02", "09:00", "09:10", "09:20", "09:40", "09:50", "23:00")
    lake.timetable("003-00", "07:02", "09:00", "09:10", "09:20", "09:40", "23:00")
    for clock in ("08:45", "08:50", "08:55"):
        lake.poll("3001", clock, Listed("DUE", "09:00:00", line="3", is_theoretical=True))
    lake.poll("3001", "09:00", Listed("DUE", "09:00:30", line="3"))
    lake.poll("3001", "09:01")
    for clock in ("09:05", "09:10", "09:15"):
        lake.poll("3001", clock, Listed("NEXT", "09:20:00", line="3", is_theoretical=True))
    lake.poll("3001", "09:20", Listed("NEXT", "09:21:00", line="3"))
    for clock in ("09:22", "09:25", "09:30"):
        lake.poll("3001", clock)
    lake.poll("3001", "09:40", Listed("LIVE_ONLY", "09:41:00", line="3"))
    lake.poll("3001", "09:42")


def _edited_timetable(lake: Lake) -> None:
    """Four buses that ran; the sign was edited, no departure was listed once, one of the past was added."""
    departures = ("08:00", "08:20", "08:40", "09:00")
    lake.timetable("006-00", "06:04", *departures, headsign="MILL")
    lake.timetable("006-00", "08:30", *departures, headsign="THE MILL")
    lake.timetable("006-00", "08:50")
    lake.timetable("006-00", "09:10", "07:40", *departures, headsign="THE MILL")
    for trip, clock in enumerate(departures):
        hour, minute = clock.split(":")
        destination = "MILL" if clock < "08:30" else "THE MILL"
        for before in (7, 4, 1):
            at = f"{int(hour) - (minute == '00'):02}:{(int(minute) - before) % 60:02}"
            lake.poll("6001", at, Listed(f"E{trip}", f"{clock}:30", line="6", destination=destination))
        lake.poll("6001", f"{hour}:{int(minute) + 1:02}")


def _patterns(lake: Lake) -> None:
    """Three trips listed at the origin, two of them at the second stop too, seven minutes later."""
    lake.timetable("004-00", "06:03", "10:00", "10:30", "10:40", headsign="LIGHTHOUSE")
    for trip, minutes in (("P1", "00"), ("P2", "30"), ("P3", "40")):
        lake.poll("4001", f"09:{minutes}", _theoretical(trip, f"10:{minutes}:00"))
    for trip, minutes in (("P1", "07"), ("P2", "37")):
        lake.poll("4002", f"09:{minutes}", _theoretical(trip, f"10:{minutes}:00"))
    lake.poll("4001", "10:15")
    lake.poll("4002", "10:46", Listed("P3", "10:48:00", line="4", destination="LIGHTHOUSE"))
    lake.poll("4002", "10:48:30")


def _theoretical(trip: str, at: str) -> Listed:
    return Listed(trip, at, line="4", destination="LIGHTHOUSE", is_theoretical=True)


def _ambiguous_labels(lake: Lake) -> None:
    lake.poll("2001", "08:00", Listed("ONLY", "08:03:00", line="2", destination="ELSEWHERE"))
    lake.poll("2002", "08:00", Listed("TOLD", "08:03:00", line="2", destination="STATION"))
    lake.poll("2003", "08:00", Listed("OPEN", "08:03:00", line="2", destination="NOWHERE"))
    lake.poll("2003", "08:01", Listed("STRANGE", "08:03:00", line="77"))
    lake.poll("5001", "08:00", Listed("FIFTH", "08:03:00", line="5", destination="CASTLE"))
    lake.poll("5002", "08:00", Listed("OTHER", "08:03:00", line="5", destination="CASTLE"))
    lake.poll("5003", "08:00", Listed("FIFTH", "08:09:00", line="5", destination="CASTLE"))
    lake.poll("5003", "08:01", Listed("ALONE", "08:09:00", line="5", destination="CASTLE"))


def _status(lake: Lake) -> None:
    flapping, edited = Event("DEV", ("1",), "07:00"), Event("DEV", ("1",), "07:00", message="Still diverted.")
    returning, unknown = Event("GEV", ("2",), "06:30"), Event("XYZ", ("3",), "06:00")
    lake.status("08:00", flapping, returning, unknown)
    lake.status("08:01", flapping, returning, unknown)
    lake.status("08:02", outcome="timeout")
    lake.status("08:02:30", returning, n_rows=3)  # two of its rows are in quarantine
    lake.status("08:02:40", n_rows=None)  # the answer had no list
    lake.status("08:03", returning, unknown)
    lake.status("08:04", edited, returning, unknown)
    lake.status("08:10", unknown)
    lake.status("08:11", unknown)  # so short an answer counts once another is
    lake.status("08:50", returning, unknown)
    lake.status("08:51", outcome="timeout")


def _news(lake: Lake) -> None:
    lake.news("08:00", NewsItem("n1", "Works"))
    lake.news_text("08:01", "n1", "From Monday.")
    lake.news("09:00", NewsItem("n1", "Works"))
    lake.news_text("09:01", "n1", "From Tuesday.")
    lake.news("10:00", NewsItem("n2", "Strike"))
