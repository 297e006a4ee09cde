"""What answers to the list of news and to the items prove: each story is an operator of one lake."""

from collections.abc import Callable
from typing import NamedTuple

import duckdb
import pytest

from tests.warehouse.lakes import Lake, NewsItem
from transit_etl import paths, warehouse
from transit_etl.settings import Settings

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

A, B, C = NewsItem("a", "Works"), NewsItem("b", "Strike"), NewsItem("c", "Fares")
RETITLED = NewsItem("a", "Works, ended")


class Version(NamedTuple):
    """What the tests expect of a version; clock times are UTC, an hour before those of the stories."""

    item: str
    title: str
    content: str | None
    edited_after: str | None
    valid_from: str
    valid_to: str | None


class Listing(NamedTuple):
    """The intervals in which the listing of an item began and ended."""

    item: str
    from_after: str | None
    from_before: str
    to_after: str
    to_before: str | None


def _empty_once(lake: Lake) -> None:
    lake.news("09:00", A, B)
    lake.news("10:00")
    lake.news("11:00", A, B)


def _empty_last(lake: Lake) -> None:
    lake.news("09:00", A, B)
    lake.news("10:00")


def _empty_twice(lake: Lake) -> None:
    lake.news("08:00", B)
    lake.news("09:00", A, B)
    lake.news("10:00")
    lake.news("11:00", outcome="timeout")
    lake.news("12:00")


def _shrunk_once(lake: Lake) -> None:
    lake.news("09:00", A, B, C)
    lake.news("10:00", C)
    lake.news("11:00", A, B, C)


def _shrunk_for_good(lake: Lake) -> None:
    lake.news("09:00", A, B, C)
    lake.news("10:00", C)
    lake.news("11:00", B, C)


def _partly_in_quarantine(lake: Lake) -> None:
    lake.news("09:00", A, B)
    lake.news("10:00", RETITLED, n_lost=1)
    lake.news("11:00", RETITLED, B)


def _failed(lake: Lake) -> None:
    lake.news("09:00", A, B)
    lake.news("10:00", outcome="server_error")
    lake.news("11:00", B)


def _listed_again(lake: Lake) -> None:
    lake.news("09:00", A, B)
    lake.news("10:00", B)
    lake.news("11:00", B)
    lake.news("12:00", A, B)


def _text_edited(lake: Lake) -> None:
    for clock, text in (("09:00", "One."), ("10:00", "One."), ("11:00", None), ("13:00", "Two.")):
        lake.news(clock, A)
        lake.news_text(f"{clock[:3]}01", "a", text)


def _title_and_text_edited(lake: Lake) -> None:
    lake.news("09:00", A)
    lake.news_text("09:01", "a", "One.")
    lake.news("10:00", A)
    lake.news("11:00", RETITLED)
    lake.news_text("11:01", "a", "Two.")


def _over_midnight(lake: Lake) -> None:
    for clock in ("22:00", "25:30", "26:00", "27:00"):
        lake.news(clock, A)
        lake.news_text(clock.replace(":00", ":01"), "a", "One." if clock < "27" else "Two.")


STORIES: dict[Callable[[Lake], None], tuple[list[Version], list[Listing]]] = {
    _empty_once: (
        [
            Version("a", "Works", None, None, "08:00", None),
            Version("b", "Strike", None, None, "08:00", None),
        ],
        [Listing("a", None, "08:00", "10:00", None), Listing("b", None, "08:00", "10:00", None)],
    ),
    _empty_last: (
        [
            Version("a", "Works", None, None, "08:00", None),
            Version("b", "Strike", None, None, "08:00", None),
        ],
        [Listing("a", None, "08:00", "08:00", None), Listing("b", None, "08:00", "08:00", None)],
    ),
    _empty_twice: (
        [
            Version("a", "Works", None, None, "08:00", "09:00"),
            Version("b", "Strike", None, None, "07:00", "09:00"),
        ],
        [Listing("a", "07:00", "08:00", "08:00", "09:00"), Listing("b", None, "07:00", "08:00", "09:00")],
    ),
    _shrunk_once: (
        [
            Version("a", "Works", None, None, "08:00", None),
            Version("b", "Strike", None, None, "08:00", None),
            Version("c", "Fares", None, None, "08:00", None),
        ],
        [Listing(item, None, "08:00", "10:00", None) for item in ("a", "b", "c")],
    ),
    _shrunk_for_good: (
        [
            Version("a", "Works", None, None, "08:00", "10:00"),
            Version("b", "Strike", None, None, "08:00", None),
            Version("c", "Fares", None, None, "08:00", None),
        ],
        [
            Listing("a", None, "08:00", "08:00", "10:00"),
            Listing("b", None, "08:00", "10:00", None),
            Listing("c", None, "08:00", "10:00", None),
        ],
    ),
    _partly_in_quarantine: (
        [
            Version("a", "Works", None, None, "08:00", "09:00"),
            Version("a", "Works, ended", None, "08:00", "09:00", None),
            Version("b", "Strike", None, None, "08:00", None),
        ],
        [Listing("a", None, "08:00", "10:00", None), Listing("b", None, "08:00", "10:00", None)],
    ),
    _failed: (
        [
            Version("a", "Works", None, None, "08:00", "10:00"),
            Version("b", "Strike", None, None, "08:00", None),
        ],
        [Listing("a", None, "08:00", "08:00", "10:00"), Listing("b", None, "08:00", "10:00", None)],
    ),
    _listed_again: (
        [
            Version("a", "Works", None, None, "08:00", "09:00"),
            Version("a", "Works", None, None, "11:00", None),
            Version("b", "Strike", None, None, "08:00", None),
        ],
        [
            Listing("a", None, "08:00", "08:00", "09:00"),
            Listing("a", "10:00", "11:00", "11:00", None),
            Listing("b", None, "08:00", "11:00", None),
        ],
    ),
    _text_edited: (
        [
            Version("a", "Works", "One.", None, "08:00", "12:01"),
            Version("a", "Works", "Two.", "09:01", "12:01", None),
        ],
        [Listing("a", None, "08:00", "12:00", None)],
    ),
    _title_and_text_edited: (
        [
            Version("a", "Works", "One.", None, "08:00", "10:00"),
            Version("a", "Works, ended", "Two.", "09:00", "10:00", None),
        ],
        [Listing("a", None, "08:00", "10:00", None)],
    ),
    _over_midnight: (
        [
            Version("a", "Works", "One.", None, "21:00", "02:01"),
            Version("a", "Works", "Two.", "01:01", "02:01", None),
        ],
        [Listing("a", None, "21:00", "02:00", None)],
    ),
}


def _operator(story: Callable[[Lake], None]) -> str:
    return story.__name__.strip("_")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build the stories once."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("news") / "data", operator=_operator(_empty_once))
    for story in STORIES:
        lake = Lake(settings.data_dir, _operator(story))
        story(lake)
        lake.write()
    warehouse.build(settings)
    return str(paths.build_database(settings.data_dir))


def _clock(column: str) -> str:
    return f"strftime({column}, '%H:%M')"


@pytest.mark.parametrize("story", STORIES, ids=_operator)
def test_an_item_has_the_versions_that_answers_prove(folder: str, story: Callable[[Lake], None]) -> None:
    with duckdb.connect(folder, read_only=True) as connection:
        found = connection.execute(
            f"select news_id, title, content, {_clock('edited_after')}, {_clock('valid_from')}, "
            f"{_clock('valid_to')} from core.news where operator = ? order by news_id, version_number",
            [_operator(story)],
        ).fetchall()

    assert STORIES[story][0] == found


@pytest.mark.parametrize("story", STORIES, ids=_operator)
def test_a_listing_begins_and_ends_between_two_answers(folder: str, story: Callable[[Lake], None]) -> None:
    columns = ("listed_from_after", "listed_from_before", "listed_to_after", "listed_to_before")
    with duckdb.connect(folder, read_only=True) as connection:
        found = connection.execute(
            f"select distinct news_id, {', '.join(map(_clock, columns))} from core.news "
            f"where operator = ? order by news_id, {_clock('listed_from_before')}",
            [_operator(story)],
        ).fetchall()

    assert STORIES[story][1] == found
