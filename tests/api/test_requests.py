"""Requests of both versions: what they ask for, how they are addressed, what is refused before it is sent."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from urllib.parse import unquote, urlsplit

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transit_etl.api import v0, v1
from transit_etl.api.exchange import Request
from transit_etl.api.identifiers import InvalidIdentifierError

DAY = date(2026, 3, 29)
stops = partial(v1.of_line, "stops")


@pytest.mark.parametrize(
    ("request_", "endpoint", "key", "path"),
    [
        (v1.all_of("lines"), "lines", "", "linee"),
        (v1.of_line("stops", "015-00"), "stops", "015-00", "fermate/015-00"),
        (v1.timetable("015-00", DAY), "timetables", "015-00/2026-03-29", "orari/015-00/2026-03-29"),
        (v1.timetable("015", DAY), "timetables", "015/2026-03-29", "orari/015/2026-03-29"),
        (v1.passages("0416"), "passages", "0416", "passaggi/0416"),
        (v1.status(), "status", "", "stato_servizio"),
        (v1.status("ASC"), "status", "ASC", "stato_servizio/categoria/ASC"),
        (v1.news(), "news", "", "news"),
        (v1.news_item("65f0a1"), "news_details", "65f0a1", "news/65f0a1"),
    ],
)
def test_version_1_asks_at_the_specified_paths(request_: Request, endpoint: str, key: str, path: str) -> None:
    assert Request(endpoint, key, path, version=1, query=()) == request_


@pytest.mark.parametrize(
    ("request_", "endpoint", "key", "path", "query"),
    [
        (v0.transits("0416"), "v0_transits", "0416", "transiti/0416", ()),
        (v0.timetable("15"), "v0_timetables", "15", "orari/15", ()),
        (
            v0.timetable("15", day=5, month=3, year=2026),
            "v0_timetables", "15/2026-03-05", "orari/15", (("gg", "05"), ("mm", "03"), ("aa", "2026")),
        ),
        (v0.timetable("15", day=5), "v0_timetables", "15/****-**-05", "orari/15", (("gg", "05"),)),
        (v0.news(), "v0_news", "", "news", ()),
        (v0.news(limit=5), "v0_news", "", "news", (("limit", "5"),)),
        (v0.news_item("7"), "v0_news_details", "7", "news/7", ()),
        (v0.status(), "v0_status", "", "stato-servizio", ()),
    ],
)  # fmt: skip
def test_version_0_asks_at_the_specified_paths(
    request_: Request, endpoint: str, key: str, path: str, query: tuple[tuple[str, str], ...]
) -> None:
    assert Request(endpoint, key, path, version=0, query=query) == request_


@pytest.mark.parametrize("code", ["N1-00", "FGC-10", "MM-00", "T374-00", "005-03"])
def test_line_codes_of_the_real_network_are_accepted(code: str) -> None:
    assert f"fermate/{code}" == v1.of_line("stops", code).path


@pytest.mark.parametrize(
    "code", ["0416", "10416", "MM01", "IS16", "01011101", "416", "22105-", "de:08111:6115:1:2"]
)
def test_stop_codes_of_real_networks_are_accepted(code: str) -> None:
    assert f"passaggi/{code}" == v1.passages(code).path


@pytest.mark.parametrize(
    ("build", "given_"),
    [
        (stops, ""), (stops, "015"), (stops, "015/00"), (stops, "015-00\n"), (stops, "..-00"),
        (v1.passages, ""), (v1.passages, "4" * 33), (v1.passages, "04 6"), (v1.passages, "٠٤١٦"),
        (v1.passages, ".."), (v1.passages, "04/16"),
        (v0.transits, "10416"), (v0.transits, "MM01"), (v0.timetable, "604/"),
        (v1.status, ""), (v1.status, "A/B"), (v1.status, "è"),
        (lambda line: v1.timetable(line, DAY), "15"),
    ],
)  # fmt: skip
def test_a_bad_identifier_is_refused_and_named(build: Callable[[str], Request], given_: str) -> None:
    with pytest.raises(InvalidIdentifierError) as refusal:
        build(given_)

    assert repr(given_) in str(refusal.value)
    assert "expected" in str(refusal.value)


@pytest.mark.parametrize(
    "given_",
    ["", ".", "..", "a/b", "../linee", "%2F", "..%2flinee", "a?b", "a#b", "a\\b", "a\nb", "a\x00", "x" * 129],
)
@pytest.mark.parametrize("build", [v1.news_item, v0.news_item])
def test_a_news_id_that_could_leave_its_path_is_refused(build: Callable[[str], Request], given_: str) -> None:
    with pytest.raises(InvalidIdentifierError):
        build(given_)


@given(st.text(max_size=150))
def test_every_news_id_is_refused_or_stays_one_segment(news_id: str) -> None:
    try:
        path = v1.news_item(news_id).path
    except InvalidIdentifierError:
        return
    sent = httpx2.URL("http://upstream.test/api/v1/" + path)

    assert ["", "api", "v1", "news"] == sent.raw_path.decode().split("/")[:4]
    assert 5 == len(sent.raw_path.split(b"/"))
    assert news_id == unquote(urlsplit(str(sent)).path).rpartition("/")[2]


def test_a_real_news_id_is_quoted() -> None:
    assert "news/avviso%20n%C2%B0%203" == v1.news_item("avviso n° 3").path


def test_an_instant_asks_for_the_timetable_of_its_date() -> None:
    assert "orari/015-00/2026-03-29" == v1.timetable("015-00", datetime(2026, 3, 29, 8, tzinfo=UTC)).path


def test_a_text_is_no_date() -> None:
    with pytest.raises(InvalidIdentifierError, match="not a date: '2026-03-29'"):
        v1.timetable("015-00", "2026-03-29")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("day", "month", "year"), [(31, 2, 2026), (29, 2, 2025), (0, 1, 2026), (None, 13, None)]
)
def test_parts_of_no_real_date_are_refused(day: int | None, month: int | None, year: int | None) -> None:
    with pytest.raises(InvalidIdentifierError, match="not a date"):
        v0.timetable("15", day=day, month=month, year=year)


def test_a_29_february_without_a_year_may_be_asked_for() -> None:
    assert (("gg", "29"), ("mm", "02")) == v0.timetable("15", day=29, month=2).query


def test_a_limit_of_no_news_is_refused() -> None:
    with pytest.raises(InvalidIdentifierError, match="limit of news: 0"):
        v0.news(limit=0)
