"""What becomes of lines, stops, timetables, status and news."""

import json
from datetime import date, datetime
from typing import Any

import pytest

from tests.stage.landing import AT, Folder, line
from transit_etl.stage import stage

NAIVE_AT = AT.replace(tzinfo=None)


def staged(folder: Folder, endpoint: str, dataset: str, key: str, body: object) -> list[dict[str, Any]]:
    folder.land(endpoint, [(key, body)])
    stage(folder.settings)
    return folder.rows(dataset)


def stop(code: str, ordine: object, **changes: object) -> dict[str, object]:
    return {"codice_linea": "018-00", "direzione": "1", "codice_fermata": code, "ordine": ordine} | changes


def timetable(**legs: object) -> dict[str, object]:
    service = {
        "codice": "F1",
        "barrato": True,
        "targa": "PRA&apos;",
        "descrizione": "feriale",
        "tratte": legs,
    }
    return {"linea": "018-00", "data": "2026-11-20", "servizi": [service]}


def test_a_line_keeps_its_code_and_what_has_no_column(folder: Folder) -> None:
    (row,) = staged(folder, "lines", "lines", "", [line("T374-00", "374", nota_estesa={"a": None})])

    found = (row["line_code"], row["line_number"], row["is_active"], row["note"], row["extra"])
    assert ("T374-00", "374", True, "", '{"nota_estesa":{"a":null}}') == found


def test_a_code_listed_twice_leaves_with_both_its_rows(folder: Folder) -> None:
    rows = staged(folder, "lines", "lines", "", [line("001-00"), line("002-00"), line("002-00")])

    assert ["001-00"] == [row["line_code"] for row in rows]
    assert ["code_listed_once"] * 2 == [row["rule"] for row in folder.quarantine("lines")]


def test_any_key_other_than_andata_that_holds_stops_is_the_way_back(folder: Folder) -> None:
    body = {
        "codice_linea": "018-00",
        "andata": [stop("0001", 1), stop("MM01", 7)],
        "rientro": [stop("12345", 1)],
    }
    rows = staged(folder, "stops", "line_stops", "018-00", body | {"aggiornato": "ieri", "colori": [1]})

    expected = [
        ("inbound", "rientro", 1, 1, "12345"),
        ("outbound", "andata", 1, 1, "0001"),
        ("outbound", "andata", 2, 7, "MM01"),
    ]
    names = ("direction", "direction_key", "position", "stop_sequence", "stop_code")
    assert expected == [tuple(row[name] for name in names) for row in rows]
    assert {"answer.aggiornato": "ieri", "answer.colori": [1]} == json.loads(rows[0]["extra"])


def test_positions_follow_ordine_however_the_stops_are_listed(folder: Folder) -> None:
    body = {"codice_linea": "018-00", "andata": [stop("0003", 9), stop("0001", 1), stop("0002", "4")]}
    rows = staged(folder, "stops", "line_stops", "018-00", body)

    assert [("0001", 1), ("0002", 2), ("0003", 3)] == [(row["stop_code"], row["position"]) for row in rows]


def test_two_stops_at_one_place_leave_and_a_stop_visited_twice_stays(folder: Folder) -> None:
    body = {"andata": [stop("0001", 1), stop("0002", 2), stop("0003", 2), stop("0001", 5)]}
    rows = staged(folder, "stops", "line_stops", "018-00", body)

    assert ["0001", "0001"] == [row["stop_code"] for row in rows]
    assert ["sequence_ascends"] * 2 == [row["rule"] for row in folder.quarantine("line_stops")]


def test_departures_of_both_directions_are_resolved_on_the_day_asked_for(folder: Folder) -> None:
    legs = {
        "andata": {"descrizione": "A - B", "partenze": ["06:10", "24:10", "00:10"]},
        "ritorno": {"descrizione": "B - A", "partenze": []},
    }
    rows = staged(folder, "timetables", "timetables", "018-00/2026-11-20", timetable(**legs))

    expected = [
        (1, "06:10", datetime(2026, 11, 20, 5, 10), 22_200, 6),  # noqa: DTZ001 - the lake's UTC
        (2, "24:10", datetime(2026, 11, 20, 23, 10), 87_000, 24),  # noqa: DTZ001
        (3, "00:10", datetime(2026, 11, 20, 23, 10), 87_000, 24),  # noqa: DTZ001
    ]
    names = ("departure_number", "departure_text", "departure_at", "service_seconds", "service_hour")
    assert expected == [tuple(row[name] for name in names) for row in rows]
    assert ("018-00", date(2026, 11, 20), "PRA'", True, "outbound") == tuple(
        rows[0][name] for name in ("line_code", "service_date", "headsign", "is_slash_variant", "direction")
    )


def test_a_junk_leg_is_left_out_and_counted(folder: Folder) -> None:
    legs = {
        "andata": {"descrizione": "A - B", "partenze": ["06:10"]},
        "ritorno": {"descrizione": " ", "partenze": ["07:10"]},
    }
    rows = staged(folder, "timetables", "timetables", "018-00/2026-11-20", timetable(**legs))

    (counted,) = [row for row in folder.rows("validation_results") if row["rule"] == "junk_leg"]
    assert (1, 2, 1) == (len(rows), counted["n_rows"], counted["n_unexpected"])


def test_a_departure_that_cannot_be_read_or_lies_outside_its_day_leaves(folder: Folder) -> None:
    legs = {"andata": {"descrizione": "A - B", "partenze": ["06:10", "presto", "29:30", 610]}}
    rows = staged(folder, "timetables", "timetables", "018-00/2026-11-20", timetable(**legs))

    kept = {(row["rule"], row["row"]["departure_text"]) for row in folder.quarantine("timetables")}
    assert ["06:10"] == [row["departure_text"] for row in rows]
    assert {("clock_read", "presto"), ("clock_read", "610"), ("inside_service_day", "29:30")} == kept


def test_what_is_no_leg_and_another_day_than_asked_for_are_kept_as_extra(folder: Folder) -> None:
    body = timetable(andata={"descrizione": "A", "partenze": ["06:10"], "km": 3}, nota="x") | {
        "data": "2026-11-21"
    }
    (row,) = staged(folder, "timetables", "timetables", "018-00/2026-11-20", body)

    expected = {"answer.data": "2026-11-21", "service.tratte.nota": "x", "leg.km": 3}
    assert expected == json.loads(row["extra"])


@pytest.mark.parametrize(
    ("linee", "expected", "kind"),
    [
        (["1", 2], ["1", "2"], "array"),
        ("Ascensore Castello", ["Ascensore Castello"], "text"),
        (None, None, "absent"),
    ],
)
def test_the_lines_of_a_status_entry_come_in_three_kinds(
    folder: Folder, linee: object, expected: list[str] | None, kind: str
) -> None:
    entry = {"evento": "DEV", "categoria": "SG", "linee": linee, "messaggio": "m", "data": "3/1/2026 9:05"}
    (row,) = staged(folder, "status", "status", "", {"stato": [entry]})

    assert (expected, kind) == (row["lines"], row["lines_kind"])
    assert datetime(2026, 1, 3, 8, 5) == row["started_at"]  # noqa: DTZ001 - the lake's UTC
    assert (None, date(2026, 11, 20), 32_400) == tuple(
        row[name] for name in ("category_asked", "service_date", "service_seconds")
    )


def test_an_event_whose_start_cannot_be_read_stays_with_its_text(folder: Folder) -> None:
    entry = {"evento": "X", "categoria": "MM", "messaggio": "m", "data": "da ieri"}
    (row,) = staged(folder, "status", "status", "MM", {"stato": [entry]})

    assert (None, "da ieri", "MM") == (row["started_at"], row["started_text"], row["category_asked"])


@pytest.mark.parametrize(("body", "n_rows"), [({}, None), ({"stato": None}, None), ({"stato": []}, 0)])
def test_a_status_without_its_list_says_nothing_and_with_an_empty_one_that_nothing_is_disrupted(
    folder: Folder, body: dict[str, list[str] | None], n_rows: int | None
) -> None:
    assert [] == staged(folder, "status", "status", "", body)

    assert [n_rows] == [row["n_rows"] for row in folder.rows("requests")]
    assert (["unreadable_answer"] if n_rows is None else []) == [
        row["rule"] for row in folder.quarantine("status")
    ]


def test_news_and_their_texts_have_instants_and_dates(folder: Folder) -> None:
    item = {
        "id": 7,
        "titolo": "Sciopero",
        "data": "2026-11-20T08:00:00.000Z",
        "data_formattata": "x",
        "tag": 1,
    }
    folder.land("news_details", [("7", {"titolo": "Sciopero", "contenuto": "…", "data": "20 novembre"})])
    (row,) = staged(folder, "news", "news", "", [item])
    (detail,) = folder.rows("news_details")

    assert ("7", NAIVE_AT, '{"tag":1}') == (row["news_id"], row["published_at"], row["extra"])
    assert ("7", None, '{"data":"20 novembre"}') == tuple(
        detail[name] for name in ("news_id", "published_date", "extra")
    )
