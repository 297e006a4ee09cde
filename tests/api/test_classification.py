"""An answer is judged by its status and its body's shape, and only `ok` is an observation."""

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transit_etl.api import v0, v1
from transit_etl.api.classification import classify
from transit_etl.api.exchange import Outcome, Request

PASSAGE = {"linea": "15", "destinazione": "NERVI", "orario": "10:00:00", "attesa": "3'"}
DAY_REQUEST = v1.timetable("015-00", date(2026, 3, 2))


def _outcome(request: Request, document: object, status: int = 200) -> Outcome:
    return classify(request, status, json.dumps(document).encode()).outcome


@pytest.mark.parametrize(
    ("request_", "document"),
    [
        (v1.all_of("lines"), []),
        (v1.all_of("lines"), [{"codice": "015-00"}]),
        (v1.of_line("stops", "015-00"), {"codice_linea": "015-00", "andata": [], "ritorno": []}),
        (v1.of_line("stops", "015-00"), {"codice_linea": "015-00"}),
        (v1.of_line("stops", "015-00"), {"ritorno": [{"codice_fermata": "0416"}]}),
        (DAY_REQUEST, {"linea": "015-00", "data": "2026-03-02", "servizi": []}),
        (v1.passages("0416"), {"codice_fermata": "0416", "passaggi": []}),
        (v1.passages("0416"), {"passaggi": [PASSAGE]}),
        (v1.status(), {"stato": []}),
        (v1.status(), {"stato": [{"evento": "DEV"}], "aggiornato": "now"}),
        (v1.news(), [{"id": "1"}]),
        (v1.news_item("1"), {"titolo": "Avviso"}),
        (v0.status(), {"anything": 1}),
        (v0.transits("0416"), []),
        (v0.news(), None),
    ],
)
def test_a_body_of_the_expected_shape_is_ok(request_: Request, document: object) -> None:
    assert Outcome.OK == _outcome(request_, document)


@pytest.mark.parametrize(
    ("request_", "document"),
    [
        (v1.all_of("lines"), {}),
        (v1.all_of("lines"), {"linee": []}),
        (v1.all_of("lines"), ["015-00"]),
        (v1.of_line("stops", "015-00"), []),
        (v1.of_line("stops", "015-00"), {"errore": "linea sconosciuta"}),
        (DAY_REQUEST, {"linea": "015-00"}),
        (DAY_REQUEST, {"servizi": {}}),
        (v1.passages("0416"), {}),
        (v1.passages("0416"), {"passaggi": None}),
        (v1.passages("0416"), {"passaggi": "*ERR*"}),
        (v1.passages("0416"), []),
        (v1.status(), []),
        (v1.status(), None),
        (v1.status(), {"stato": "ok"}),
        (v1.news(), {"news": []}),
        (v1.news_item("1"), {"errore": "non trovata"}),
        (v1.news_item("1"), []),
    ],
)
def test_json_of_another_shape_is_wrong_and_says_what_was_found(request_: Request, document: object) -> None:
    verdict = classify(request_, 200, json.dumps(document).encode())

    assert Outcome.WRONG_SHAPE == verdict.outcome
    assert verdict.reason is not None
    assert "expected" in verdict.reason


@pytest.mark.parametrize("document", [{}, {"stato": None}])
def test_a_status_without_its_key_says_that_nothing_is_disrupted(document: object) -> None:
    assert Outcome.OK == _outcome(v1.status(), document)


@pytest.mark.parametrize("document", [{"messaggio": "riprova"}, {"stato": None, "errore": "x"}])
def test_a_message_instead_of_a_status_does_not_say_that_nothing_is_disrupted(document: object) -> None:
    assert Outcome.WRONG_SHAPE == _outcome(v1.status(), document)


@pytest.mark.parametrize("rows", [[{"linea": "*ERR*"}], [PASSAGE, {"linea": " *ERR* "}]])
def test_an_error_row_among_passages_is_no_observation(rows: list[object]) -> None:
    assert Outcome.ERROR_ROW == _outcome(v1.passages("0416"), {"passaggi": rows})


def test_an_error_mark_elsewhere_is_only_text() -> None:
    assert Outcome.OK == _outcome(v1.news(), [{"id": "1", "titolo": "*ERR*", "linea": "*ERR*"}])


def test_one_odd_row_does_not_spoil_the_others() -> None:
    assert Outcome.OK == _outcome(v1.passages("0416"), {"passaggi": [None, PASSAGE]})


@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>maintenance</body></html>",
        b'{"passaggi": [{"linea": "15", "desti',
        b'{"passaggi": [], "x": NaN}',
        '{"passaggi": [], "citt\u00e0": 1}'.encode("latin-1"),
        '{"passaggi": []}'.encode("utf-16"),
        b'\xef\xbb\xbf\xef\xbb\xbf{"passaggi": []}',
        b"[" * 200_000,
        b'{"passaggi": [], "n": ' + b"9" * 5000 + b"}",
    ],
    ids=["html", "truncated", "nan", "latin-1", "utf-16", "two byte order marks", "deep", "endless number"],
)
def test_what_is_not_json_in_utf_8_is_not_json(body: bytes) -> None:
    assert Outcome.NOT_JSON == classify(v1.passages("0416"), 200, body).outcome


def test_a_byte_order_mark_before_json_is_passed_over() -> None:
    assert Outcome.OK == classify(v1.passages("0416"), 200, b'\xef\xbb\xbf{"passaggi": []}').outcome


@pytest.mark.parametrize("body", [b"", b"  \r\n"])
def test_a_body_of_nothing_is_empty(body: bytes) -> None:
    assert Outcome.EMPTY_BODY == classify(v1.passages("0416"), 200, body).outcome


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (203, Outcome.OK), (204, Outcome.NO_CONTENT), (205, Outcome.NO_CONTENT),
        (301, Outcome.CLIENT_ERROR), (304, Outcome.CLIENT_ERROR), (400, Outcome.CLIENT_ERROR),
        (401, Outcome.CLIENT_ERROR), (404, Outcome.CLIENT_ERROR), (429, Outcome.RATE_LIMITED),
        (500, Outcome.SERVER_ERROR), (503, Outcome.SERVER_ERROR), (599, Outcome.SERVER_ERROR),
    ],
)  # fmt: skip
def test_the_status_decides_before_the_body(status: int, outcome: Outcome) -> None:
    assert outcome == _outcome(v1.passages("0416"), {"passaggi": []}, status)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["stato", "passaggi", "linea", "servizi", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.sampled_from([v1.all_of("lines"), v1.of_line("stops", "015-00"), DAY_REQUEST, v1.passages("0416"),
                        v1.status(), v1.news(), v1.news_item("1"), v0.status()]), ANY_JSON)  # fmt: skip
def test_any_json_gets_a_verdict(request_: Request, document: object) -> None:
    possible = {Outcome.OK, Outcome.WRONG_SHAPE, Outcome.ERROR_ROW}

    assert _outcome(request_, document) in possible


@given(st.integers(200, 599), st.binary(max_size=60))
def test_any_bytes_get_a_verdict(status: int, body: bytes) -> None:
    verdict = classify(v1.passages("0416"), status, body)

    assert (verdict.outcome is Outcome.OK) == (verdict.reason is None)
