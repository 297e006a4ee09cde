from datetime import UTC, datetime

import pytest

from tests.emulator.fixture_types import Get
from transit_emulator.app import create_app
from transit_emulator.world import World

PATHS = ["transiti/0100", "orari/001-00", "news", "news/26030301", "stato-servizio"]


@pytest.mark.parametrize("path", PATHS)
def test_every_endpoint_of_version_0_needs_a_token(get: Get, path: str) -> None:
    statuses = [get(f"/api/amt/{path}", token=token).status_code for token in (None, "wrong", "demo-token")]

    assert statuses == [401, 401, 200]


def test_the_openapi_document_marks_version_0_deprecated_and_its_names_assumed(world: World) -> None:
    document = create_app(world, segment="xyz").openapi()
    operations = [path["get"] for name, path in document["paths"].items() if name.startswith("/api/xyz/")]

    assert len(operations) == 5
    assert all(
        operation["deprecated"] and operation["security"] == [{"bearer": []}] for operation in operations
    )
    assert all("assumed" in operation["responses"]["200"]["description"] for operation in operations)


def test_arrivals_are_those_of_version_1(get: Get) -> None:
    old, new = get("/api/amt/transiti/0100").json(), get("/api/v1/passaggi/0100").json()

    assert old["codiceFermata"] == "0100"
    assert [row["orario"] for row in old["transiti"]] == [row["orario"] for row in new["passaggi"]]
    assert old["transiti"]


@pytest.mark.parametrize("code", ["10390", "01", "abcd"])
def test_a_stop_code_has_exactly_four_digits(get: Get, code: str) -> None:
    assert get(f"/api/amt/transiti/{code}").status_code == 400


def test_parts_of_the_date_that_are_not_given_are_those_of_the_current_local_date(get: Get) -> None:
    late = datetime(2026, 3, 4, 23, 30, tzinfo=UTC)

    assert get("/api/amt/orari/001-00", late).json()["data"] == "2026-03-05"
    assert get("/api/amt/orari/001-00?gg=28", late).json()["data"] == "2026-03-28"
    assert get("/api/amt/orari/001-00?gg=01&mm=02&aa=2027", late).json()["data"] == "2027-02-01"


def test_the_timetable_has_the_departures_of_version_1(get: Get) -> None:
    old = get("/api/amt/orari/003-00?gg=04&mm=03&aa=2026").json()["tratte"]
    services = get("/api/v1/orari/003-00/2026-03-04").json()["servizi"]

    assert [leg["partenze"] for leg in old] == [
        leg["partenze"] for service in services for leg in service["tratte"].values()
    ]
    assert {leg["direzione"] for leg in old} == {"andata", "ritorno"}


@pytest.mark.parametrize("query", ["gg=31&mm=02", "gg=x", "mm=13", "aa=26"])
def test_a_date_that_does_not_exist_is_a_bad_request(get: Get, query: str) -> None:
    assert get(f"/api/amt/orari/001-00?{query}").status_code == 400


def test_the_news_limit_is_applied_and_validated(get: Get) -> None:
    assert len(get("/api/amt/news?limit=3").json()) == 3
    assert [get(f"/api/amt/news?limit={text}").status_code for text in ("0", "x", "5.5")] == [400, 400, 400]


def test_a_news_item_is_html_with_images_and_links(get: Get) -> None:
    item = get("/api/amt/news?limit=1").json()[0]
    detail = get(f"/api/amt/news/{item['id']}").json()

    assert detail["contenuto"].startswith("<p>")
    assert all(image in detail["contenuto"] for image in detail["immagini"])
    assert all(link["url"] in detail["contenuto"] for link in detail["collegamenti"])


def test_the_status_is_grouped_by_type_of_service(get: Get) -> None:
    now = datetime(2026, 3, 4, 18, tzinfo=UTC)
    old, new = get("/api/amt/stato-servizio", now).json(), get("/api/v1/stato_servizio", now).json()["stato"]

    assert set(old) == {"ascensori", "funicolari", "ferrovia_genova_casella", "metropolitana", "autobus"}
    assert len(old["ascensori"]) == sum(entry["categoria"] == "ASC" for entry in new)
    assert sum(map(len, old.values())) == len(new)
