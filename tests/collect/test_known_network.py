from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.collect.helpers import NOON, write_lake, write_network
from transit_etl.collect.known_network import (
    AskedTimetable,
    Catalogue,
    Line,
    LineDirection,
    NothingKnownError,
    news_item,
)

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
        "015-00/2026-03-04": AskedTimetable(AT, is_failed=True),
        "015-00/2026-03-05": AskedTimetable(AT),
        "016-00/2026-03-04": AskedTimetable(None, is_failed=True),
    } == catalogue(tmp_path).timetables()


@pytest.mark.parametrize(
    ("fetched_at", "is_known"), [(AT + timedelta(seconds=1), True), (AT - timedelta(seconds=1), False)]
)
def test_a_news_version_is_fetched_only_if_its_text_came_after_it_was_listed(
    tmp_path: Path, *, fetched_at: datetime, is_known: bool
) -> None:
    write_lake(tmp_path, "news", [{"news_id": "n1", "title": "Deviazione  P.ZA", "published_text": "x"}])
    write_lake(tmp_path, "news_details", [{"news_id": "n1", "received_at": fetched_at}])

    assert is_known == (news_item("n1", "Deviazione P.ZA", "x") in catalogue(tmp_path).fetched_news())


def test_seen_status_categories_are_known(tmp_path: Path) -> None:
    write_lake(tmp_path, "status", [{"category": "SG"}, {"category": "XX"}, {"category": None}])

    assert {"SG", "XX"} == catalogue(tmp_path).status_categories()
