from datetime import UTC, datetime, timedelta

import pytest

from tests.emulator.fixture_types import Get, Send
from transit_emulator.app import create_app
from transit_emulator.world import World

NOW = datetime(2026, 3, 4, 7, 12, 30, 123_456, tzinfo=UTC)
V1_PATHS = {
    "/api/v1/fermate/{codicelinea}",
    "/api/v1/linee",
    "/api/v1/news",
    "/api/v1/news/{id}",
    "/api/v1/orari/{codice_linea}/{data}",
    "/api/v1/passaggi/{codice_fermata}",
    "/api/v1/stato_servizio",
    "/api/v1/stato_servizio/categoria/{categoria}",
}


def test_the_openapi_document_lists_exactly_the_paths_of_version_1(world: World) -> None:
    paths = create_app(world).openapi()["paths"]

    assert {path for path in paths if path.startswith("/api/v1")} == V1_PATHS


def test_no_endpoint_of_version_1_has_query_parameters(world: World) -> None:
    paths = create_app(world).openapi()["paths"]
    places = {item["in"] for path in V1_PATHS for item in paths[path]["get"]["parameters"]}

    assert places == {"path", "header"}


def test_every_documented_field_has_a_type_and_the_required_ones_are_named(world: World) -> None:
    schemas = create_app(world).openapi()["components"]["schemas"]
    passage = schemas["Passaggio"]

    assert set(passage["required"]) == set(passage["properties"])
    assert set(schemas["Evento"]["required"]) == {"evento", "categoria", "messaggio", "data"}
    untyped = [
        (name, field)
        for name, schema in schemas.items()
        for field, what in schema["properties"].items()
        if not {"type", "anyOf", "$ref"} & set(what)
    ]
    assert untyped == []


def test_lines_have_the_six_fields_and_the_irregularities(get: Get) -> None:
    lines = get("/api/v1/linee").json()

    assert {tuple(line) for line in lines} == {
        ("codice", "numero", "capolinea_andata", "capolinea_ritorno", "attiva", "note")
    }
    numbers = [line["numero"] for line in lines]
    assert len(numbers) > len(set(numbers)), "a public number is not a key"
    assert any(number.endswith("/") for number in numbers)
    assert any(line["codice"] == "N1-00" for line in lines)
    assert any(not line["attiva"] for line in lines)
    assert any(line["note"] for line in lines)


def test_stops_ascend_from_one_with_gaps_and_the_return_direction_is_called_ritorno(get: Get) -> None:
    answer = get("/api/v1/fermate/001-00").json()

    assert list(answer) == ["codice_linea", "andata", "ritorno"]
    orders = [stop["ordine"] for stop in answer["andata"]]
    assert orders[0] == 1
    assert orders == sorted(set(orders))
    assert orders[-1] > len(orders), "the sequence has gaps"
    assert {stop["direzione"] for stop in answer["andata"]} == {"1"}
    assert {stop["direzione"] for stop in answer["ritorno"]} == {"2"}
    assert set(answer["andata"][0]) == {"codice_linea", "direzione", "codice_fermata", "ordine"}


def test_a_circular_line_has_one_direction_and_calls_twice_at_a_stop(get: Get) -> None:
    answer = get("/api/v1/fermate/034-00").json()

    assert list(answer) == ["codice_linea", "andata"]
    codes = [stop["codice_fermata"] for stop in answer["andata"]]
    assert codes[0] == codes[-1]


def test_some_stop_codes_have_five_digits_and_some_lines_no_listed_stops(get: Get) -> None:
    codes = [stop["codice_fermata"] for stop in get("/api/v1/fermate/607-00").json()["andata"]]

    assert any(len(code) == 5 for code in codes)
    assert get("/api/v1/fermate/MM-00").json() == {"codice_linea": "MM-00", "andata": []}


def test_a_timetable_has_services_with_legs_keyed_by_direction(get: Get) -> None:
    answer = get("/api/v1/orari/001-00/2026-03-04").json()

    assert list(answer) == ["linea", "data", "servizi"]
    main, short, junk = answer["servizi"]
    assert list(main) == ["codice", "barrato", "targa", "descrizione", "tratte"]
    assert list(main["tratte"]) == ["andata", "ritorno"]
    assert list(main["tratte"]["andata"]) == ["descrizione", "partenze"]
    assert (main["barrato"], short["barrato"]) == (False, True)
    assert junk["tratte"]["andata"]["descrizione"] == ""


def test_three_digits_stand_for_a_line_and_are_echoed(get: Get) -> None:
    short, full = get("/api/v1/orari/607/2026-03-04").json(), get("/api/v1/orari/607-00/2026-03-04").json()

    assert short["linea"] == "607"
    assert short["servizi"] == full["servizi"]


def test_departures_past_midnight_are_written_both_ways(get: Get) -> None:
    def texts(line: str) -> list[str]:
        return [
            time
            for service in get(f"/api/v1/orari/{line}/2026-03-04").json()["servizi"]
            for leg in service["tratte"].values()
            for time in leg["partenze"]
        ]

    assert any(text >= "24:00" for text in texts("003-00"))
    assert not any(text >= "24:00" for text in texts("001-00"))
    assert any(text < "04:00" for text in texts("001-00"))


def test_a_date_outside_of_the_calendar_has_no_departures(get: Get) -> None:
    services = get("/api/v1/orari/001-00/1999-01-01").json()["servizi"]

    assert services
    assert not any(leg["partenze"] for service in services for leg in service["tratte"].values())


def test_the_timestamp_of_a_passage_answer_has_milliseconds(get: Get) -> None:
    answer = get("/api/v1/passaggi/0100", NOW).json()

    assert answer["codice_fermata"] == "0100"
    assert answer["timestamp"] == "2026-03-04T07:12:30.123Z"
    assert {tuple(row) for row in answer["passaggi"]} == {
        ("linea", "destinazione", "orario", "attesa", "teorico", "id_corsa", "pieno")
    }


def test_an_unknown_stop_answers_200_with_an_error_row(get: Get) -> None:
    answer = get("/api/v1/passaggi/9999")

    assert answer.status_code == 200
    assert [row["linea"] for row in answer.json()["passaggi"]] == ["*ERR*"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/fermate/999-99", 404),
        ("/api/v1/orari/999-99/2026-03-04", 404),
        ("/api/v1/orari/001-00/2026-02-30", 400),
        ("/api/v1/orari/001-00/20260304", 400),
        ("/api/v1/news/nonsense", 404),
        ("/api/v1/nothing", 404),
    ],
)
def test_an_error_answer_is_json_with_its_status(get: Get, path: str, status: int) -> None:
    answer = get(path)

    assert answer.status_code == status
    assert set(answer.json()) == {"errore"}


@pytest.mark.parametrize("now", ["yesterday", "2026-03-04T07:00:00", "1066-10-14T09:00:00Z"])
def test_an_instant_that_cannot_be_read_is_a_bad_request(world: World, send: Send, now: str) -> None:
    assert send(create_app(world), "/api/v1/linee", X_Emulated_Now=now).status_code == 400


def test_a_wrong_token_is_refused_and_a_missing_one_is_accepted(get: Get) -> None:
    assert get("/api/v1/linee", token="wrong").status_code == 401
    assert get("/api/v1/linee", token=None).status_code == 200


def test_the_about_page_suggests_an_instant_with_buses(get: Get) -> None:
    about = get("/").json()
    suggested = datetime.fromisoformat(about["suggested_now"])

    assert (about["n_lines"], about["n_stops"]) == (14, 84)
    assert abs(suggested - NOW) < timedelta(days=15)
    assert get("/api/v1/passaggi/0100", suggested).json()["passaggi"]
