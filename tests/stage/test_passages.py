"""What becomes of a passage answer: columns, times, odd values, unknown keys."""

import itertools
import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.stage.landing import AT, Folder, answer, passage, utc_text
from transit_etl.stage import stage

NAIVE_AT = AT.replace(tzinfo=None)


def staged(folder: Folder, *bodies: object, at: datetime = AT) -> list[dict[str, Any]]:
    folder.land("passages", [("0001", body) for body in bodies], at=at)
    stage(folder.settings)
    return folder.rows("passages", "request_id, row_number")


def test_a_passage_becomes_one_row_with_its_times_resolved(folder: Folder) -> None:
    expected = {
        "stop_code": "0001", "answered_at": NAIVE_AT, "observed_at": NAIVE_AT, "row_number": 1,
        "line_label": "18", "line_label_raw": "018", "is_slash_variant": False, "destination": "PRA' PALMARO",
        "predicted_at": NAIVE_AT + timedelta(minutes=5), "clock_text": "09:05:00", "wait_text": "5'",
        "wait_minutes": 5.0, "wait_gap_seconds": 0.0, "is_theoretical": False, "is_full": False,
        "is_wrapped": False, "trip_id": "77", "service_date": date(2026, 11, 20), "service_seconds": 32_700,
        "service_hour": 9, "extra": None,
    }  # fmt: skip

    (row,) = staged(folder, answer(passage()))
    assert expected == {name: row[name] for name in expected}


@pytest.mark.parametrize(
    ("label", "expected", "is_slash"),
    [
        ("018", "18", False), ("604/", "604/", True), ("N1", "N1", False), ("F2/", "F2/", True),
        (" n2 ", "N2", False), ("000", "0", False), ("0N1", "N1", False), ("09/", "9/", True),
    ],
)  # fmt: skip
def test_a_line_label_loses_its_padding_and_nothing_else(
    folder: Folder, label: str, expected: str, *, is_slash: bool
) -> None:
    (row,) = staged(folder, answer(passage(linea=label)))

    assert (expected, is_slash, label) == (row["line_label"], row["is_slash_variant"], row["line_label_raw"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("18'", 18), ("0'", 0), (" 7 ' ", 7), ("05'", 5), ("9", 9), ("05:24", None), ("05.24", None),
        ("in arrivo", None), ("", None), ("5.5'", None), ("-3'", None), ("1e1'", None),
    ],
)  # fmt: skip
def test_a_wait_is_a_number_of_minutes_or_text_alone(folder: Folder, text: str, expected: int | None) -> None:
    clock = (AT + timedelta(hours=1, minutes=expected or 0)).strftime("%H:%M:%S")
    (row,) = staged(folder, answer(passage(attesa=text, orario=clock)))

    assert (expected, text) == (row["wait_minutes"], row["wait_text"])


def test_a_wait_wrapped_to_almost_a_day_stays_and_is_flagged(folder: Folder) -> None:
    (row,) = staged(folder, answer(passage(attesa="1439'", orario="08:59:00")))

    assert (True, NAIVE_AT - timedelta(minutes=1)) == (row["is_wrapped"], row["predicted_at"])
    assert [] == folder.quarantine("passages")


def test_a_prediction_past_midnight_belongs_to_the_service_day_before(folder: Folder) -> None:
    at = datetime(2026, 11, 20, 22, 52, 44, tzinfo=UTC)
    body = answer(passage(orario="00:01:18", attesa="9'"), timestamp="2026-11-20T22:52:44.000Z")
    (row,) = staged(folder, body, at=at)

    expected = (datetime(2026, 11, 20, 23, 1, 18), date(2026, 11, 20), 86_478, 24)  # noqa: DTZ001 - the lake's UTC
    assert expected == (row["predicted_at"], row["service_date"], row["service_seconds"], row["service_hour"])


@pytest.mark.parametrize(
    ("timestamp", "believed"),
    [
        (AT - timedelta(seconds=100), True),
        (AT + timedelta(seconds=4), True),
        (AT - timedelta(minutes=3), False),
        (AT + timedelta(seconds=30), False),
        (AT + timedelta(hours=1), False),
        (AT - timedelta(days=400), False),
    ],
)
def test_an_answer_speaks_of_its_own_timestamp_unless_that_is_impossible(
    folder: Folder, timestamp: datetime, *, believed: bool
) -> None:
    (row,) = staged(folder, answer(passage(attesa="?"), timestamp=utc_text(timestamp)))

    naive = timestamp.replace(tzinfo=None)
    assert (naive, naive if believed else NAIVE_AT) == (row["answered_at"], row["observed_at"])
    assert NAIVE_AT + timedelta(minutes=5) == row["predicted_at"]


@pytest.mark.parametrize(
    ("ages", "believed"),
    [([0, 60, 120, 180, 240], True), ([240, 241, 240, 242, 240], False), ([0, 0, 0, 0, 3000], False)],
    ids=["a cache", "a wrong clock", "one wrong timestamp"],
)
def test_answers_older_than_a_request_may_take_are_those_of_a_cache_if_their_age_varies(
    folder: Folder, ages: list[int], *, believed: bool
) -> None:
    times = [AT - timedelta(seconds=age) for age in ages]
    rows = staged(folder, *[answer(passage(attesa="?"), timestamp=utc_text(time)) for time in times])

    assert (times[-1] if believed else AT).replace(tzinfo=None) == rows[-1]["observed_at"]


@pytest.mark.parametrize(
    ("ages", "expected"), [([0, 1, 2, 3, 4], 4), ([0, 1, 0, 1, 1], 0)], ids=["a cache", "rounded waits"]
)
def test_waits_that_are_longer_than_their_clock_times_allow_tell_the_age_of_an_answer(
    folder: Folder, ages: list[int], expected: int
) -> None:
    rows = staged(folder, *[answer(passage(attesa=f"{5 + age}'")) for age in ages])

    assert NAIVE_AT - timedelta(minutes=expected) == rows[-1]["observed_at"]
    assert {NAIVE_AT + timedelta(minutes=5)} == {row["predicted_at"] for row in rows}


def test_a_timestamp_with_an_offset_is_converted_and_one_that_is_none_is_kept_as_extra(
    folder: Folder,
) -> None:
    rows = staged(
        folder,
        answer(passage(), timestamp="2026-11-20T09:00:00.000+01:00"),
        answer(passage(), timestamp="just now"),
    )

    assert [NAIVE_AT, None] == [row["answered_at"] for row in rows]
    assert [None, '{"answer.timestamp":"just now"}'] == [row["extra"] for row in rows]


def test_unknown_keys_of_the_answer_and_of_its_rows_are_kept(folder: Folder) -> None:
    rows = staged(folder, answer(passage(), passage(matricola={"n/1": [1, None]}), versione="2"))

    expected = [{"answer.versione": "2"}, {"answer.versione": "2", "matricola": {"n/1": [1, None]}}]
    assert expected == [json.loads(row["extra"]) for row in rows]


def test_values_of_a_wrong_type_become_null_and_stay_visible(folder: Folder) -> None:
    rows = staged(folder, answer(passage(pieno="forse", id_corsa=[1]), passage(linea=18, attesa=5)))

    assert [(None, None), (False, "77")] == [(row["is_full"], row["trip_id"]) for row in rows]
    assert {"pieno": "forse", "id_corsa": [1]} == json.loads(rows[0]["extra"])
    assert ("18", 5.0, None) == (rows[1]["line_label"], rows[1]["wait_minutes"], rows[1]["extra"])


def test_an_entry_that_is_no_passage_is_quarantined_as_it_came(folder: Folder) -> None:
    assert 1 == len(staged(folder, answer(passage(), 7)))

    rules = {row["rule"]: json.loads(row["row"]["extra"]) for row in folder.quarantine("passages")}
    assert {"line_present", "clock_read", "nature_known"} == set(rules)
    assert {"value": 7} == rules["line_present"]


def test_a_body_that_cannot_be_read_is_quarantined_whole(folder: Folder) -> None:
    assert [] == staged(folder, "[broken", '{"passaggi": 3}')

    kept = folder.quarantine("passages")
    assert [("unreadable_answer", "[broken"), ("unreadable_answer", '{"passaggi": 3}')] == [
        (row["rule"], row["row"]["body"]) for row in kept
    ]


def test_only_good_answers_give_rows_and_every_line_gives_a_request(folder: Folder) -> None:
    folder.land("passages", [("0001", answer(passage())), ("0001", answer())])
    folder.land("passages", [("0002", answer(passage(linea="*ERR*")))], worker="b", outcome="error_row")
    folder.land("v0_transits", [("0001", answer(passage()))], api_version=0)
    stage(folder.settings)

    expected = [
        ("passages", True, 1),
        ("passages", True, 0),
        ("passages", False, None),
        ("v0_transits", True, None),
    ]
    rows = folder.rows("requests", 'endpoint, "window", request_id')
    assert expected == [(row["endpoint"], row["is_good"], row["n_rows"]) for row in rows]
    assert 1 == len(folder.rows("passages"))


def test_another_stop_in_the_answer_than_asked_for_is_visible(folder: Folder) -> None:
    (row,) = staged(folder, answer(passage(), codice_fermata="0416"))

    assert ("0001", '{"answer.codice_fermata":"0416"}') == (row["stop_code"], row["extra"])


NUMBERS = itertools.count()
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KNOWN = ["linea", "destinazione", "orario", "attesa", "teorico", "id_corsa", "pieno"]
ANY_PASSAGE = st.dictionaries(st.sampled_from(KNOWN) | st.text(max_size=5), JSON_VALUES, max_size=9)


@pytest.mark.long
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bodies=st.lists(st.lists(ANY_PASSAGE, max_size=4), min_size=1, max_size=5))
def test_whatever_a_passage_holds_every_row_listed_is_in_the_lake_or_in_quarantine(
    folder: Folder, bodies: list[list[dict[str, object]]]
) -> None:
    window = folder.land("passages", [("0001", answer(*rows)) for rows in bodies], worker=str(next(NUMBERS)))
    stage(folder.settings)

    rows = [row for row in folder.rows("passages") if row["window"] == window]
    kept = [row for row in folder.quarantine("passages") if row["window"] == window]
    seen = {(row["request_id"], row["row_number"]) for row in rows}
    seen |= {(row["request_id"], row["row"]["row_number"]) for row in kept}
    requests = [row for row in folder.rows("requests") if row["window"] == window]
    assert sum(map(len, bodies)) == len(seen)
    assert [len(rows) for rows in bodies] == [
        row["n_rows"] for row in sorted(requests, key=lambda row: int(row["request_id"].rsplit("/", 1)[1]))
    ]
