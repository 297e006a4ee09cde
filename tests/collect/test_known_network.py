from datetime import timedelta
from pathlib import Path

import pytest

from tests.collect.helpers import NOON, write_lake, write_network
from transit_etl.collect.known_network import (
    Catalogue,
    LastAnswer,
    Line,
    LineDirection,
    NothingKnownError,
)
from transit_etl.collect.news_items import FetchedItem, news_item

AT = NOON.replace(tzinfo=None)


def catalogue(folder: Path) -> Catalogue:
    return Catalogue(folder, "emulated")


def test_an_empty_lake_says_what_to_run_first(tmp_path: Path) -> None:
    with pytest.raises(NothingKnownError, match="transit-etl collect lines"):
        catalogue(tmp_path).lines()


def test_lines_without_stops_say_what_to_run_first(tmp_path: Path) -> None:
    write_lake(tmp_path, "lines", [{"line_code": "015-00", "row_number": 1}])

    with pytest.raises(NothingKnownError, match="transit-etl collect stops"):
        catalogue(tmp_path).stop_codes()


def test_the_newest_list_of_lines_counts(tmp_path: Path) -> None:
    write_lake(tmp_path, "lines", [{"line_code": "001-00"}, {"line_code": "002-00"}], "old")
    newer = {
        "line_code": "002-00",
        "line_number": "2",
        "is_active": False,
        "received_at": AT + timedelta(days=1),
    }
    write_lake(tmp_path, "lines", [newer], "new")

    assert [Line("002-00", "2", is_active=False)] == catalogue(tmp_path).lines()


def test_another_operator_is_not_looked_at(tmp_path: Path) -> None:
    write_network(tmp_path, {"015-00": ["0001"]})

    with pytest.raises(NothingKnownError):
        Catalogue(tmp_path, "elsewhere").lines()


def test_stops_come_in_the_order_the_line_serves_them(tmp_path: Path) -> None:
    write_network(tmp_path, {"015-00": ["0009", "0003", "0009", "0001"], "016-00": ["0003"]})

    expected = [
        LineDirection("015-00", "15", "outbound", ("0009", "0003", "0009", "0001")),
        LineDirection("016-00", "16", "outbound", ("0003",)),
    ]

    assert expected == catalogue(tmp_path).line_directions()
    assert ["0001", "0003", "0009"] == catalogue(tmp_path).stop_codes()


def test_the_newest_stops_of_each_line_count(tmp_path: Path) -> None:
    write_network(tmp_path, {"015-00": ["0001", "0002"], "016-00": ["0003"]})
    later = AT + timedelta(hours=1)
    newer = {"line_code": "015-00", "direction": "outbound", "position": 1, "stop_code": "0007"}
    write_lake(tmp_path, "line_stops", [{**newer, "request_id": "later/1", "received_at": later}], "later")

    assert ["0003", "0007"] == catalogue(tmp_path).stop_codes()


def test_stops_of_a_line_no_longer_listed_are_left_out(tmp_path: Path) -> None:
    write_network(tmp_path, {"015-00": ["0001"], "016-00": ["0002"]})
    write_lake(tmp_path, "lines", [{"line_code": "016-00", "received_at": AT + timedelta(days=1)}], "later")

    assert ["0002"] == catalogue(tmp_path).stop_codes()


def test_a_timetable_is_known_by_its_last_good_answer_and_by_a_failure_since(tmp_path: Path) -> None:
    good = {"endpoint": "timetables", "key": "015-00/2026-03-04", "outcome": "ok"}
    bad = {"endpoint": "timetables", "key": "016-00/2026-03-04", "outcome": "timeout"}
    unsent = {"endpoint": "timetables", "key": "017-00/2026-03-04", "outcome": "not_sent"}
    failed_later = {**good, "outcome": "server_error", "received_at": AT + timedelta(hours=1)}
    other = {**good, "key": "015-00/2026-03-05"}
    write_lake(tmp_path, "requests", [good, bad, unsent, failed_later, other])

    assert {
        "015-00/2026-03-04": LastAnswer(AT, is_failed=True),
        "015-00/2026-03-05": LastAnswer(AT),
        "016-00/2026-03-04": LastAnswer(None, is_failed=True),
    } == catalogue(tmp_path).asked("timetables")


def _listed(hour: int, title: str) -> dict[str, object]:
    at = AT + timedelta(hours=hour)
    listed = {"news_id": "n1", "title": title, "published_text": "x"}
    return {**listed, "request_id": f"{hour}", "row_number": 1, "received_at": at}


def test_a_fetched_item_is_what_the_list_said_when_it_was_asked_for(tmp_path: Path) -> None:
    write_lake(tmp_path, "news", [_listed(0, "Deviazione  P.ZA"), _listed(2, "Sospesa"), _listed(4, "Later")])
    texts = [(1, "A"), (3, "B"), (3.5, "B")]
    answers = [
        {"news_id": "n1", "content": text, "received_at": AT + timedelta(hours=hour)} for hour, text in texts
    ]
    write_lake(tmp_path, "news_details", answers)

    fetched = catalogue(tmp_path).fetched_news()

    item = news_item("n1", "Sospesa", "x")
    since = NOON + timedelta(hours=3)
    assert {"n1": FetchedItem(item, NOON + timedelta(hours=3.5), since)} == fetched


def test_a_text_fetched_before_its_item_was_listed_is_of_no_listed_item(tmp_path: Path) -> None:
    write_lake(tmp_path, "news", [_listed(1, "Sospesa")])
    write_lake(tmp_path, "news_details", [{"news_id": "n1", "content": "A"}])

    assert {"n1": FetchedItem(None, NOON, NOON)} == catalogue(tmp_path).fetched_news()


def test_a_list_without_the_item_does_not_change_what_is_known_of_it(tmp_path: Path) -> None:
    write_lake(tmp_path, "news", [_listed(0, "Sospesa")])
    write_lake(tmp_path, "news_details", [{"news_id": "n1", "content": "A", "received_at": AT}])
    before = catalogue(tmp_path).fetched_news()
    write_lake(tmp_path, "news", [_listed(1, "Other") | {"news_id": "n2"}], "without")

    assert before == catalogue(tmp_path).fetched_news()


def test_seen_status_categories_are_known(tmp_path: Path) -> None:
    write_lake(tmp_path, "status", [{"category": "SG"}, {"category": "XX"}, {"category": None}])

    assert {"SG", "XX"} == catalogue(tmp_path).status_categories()
