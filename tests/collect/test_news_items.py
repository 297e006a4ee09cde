from collections.abc import Iterator
from datetime import timedelta
from random import Random

import pytest

from tests.collect.helpers import NOON
from transit_etl.collect.news_items import MOST_REFETCHED, FetchedItem, NewsItem, items_to_fetch, news_item

HOUR = timedelta(hours=1)
ITEM = NewsItem("n1", "Works", "x")


def _fetches(hours: int, text_changed_at: float | None = None) -> Iterator[float]:
    """Yield the hours, of runs that start once an hour, in which an item is fetched that is always listed."""
    fetched: dict[str, FetchedItem] = {}
    for run in range(hours + 1):
        now = NOON + run * HOUR
        if not items_to_fetch([ITEM], fetched, now):
            continue
        yield run
        at = now + timedelta(seconds=3)
        known = fetched.get("n1")
        is_new = known is None or (
            text_changed_at is not None and known.fetched_at < NOON + text_changed_at * HOUR <= at
        )
        fetched["n1"] = FetchedItem(ITEM, at, at if known is None or is_new else known.text_since)


def test_a_text_that_stays_is_fetched_ever_less_often_and_at_least_every_20_hours() -> None:
    assert [0, 1, 3, 9, 27, 47, 67] == list(_fetches(80))


def test_a_changed_text_is_young_again() -> None:
    assert [0, 1, 3, 9, 27, 28, 30, 36] == list(_fetches(40, text_changed_at=20))


def test_edits_are_fetched_within_a_day() -> None:
    draws = Random(1)  # noqa: S311 - no secret
    waits = []
    for _ in range(200):
        edited_at = draws.uniform(0.1, 14 * 24)
        waits.append(min(run for run in _fetches(15 * 24 + 24) if run >= edited_at) - edited_at)

    assert max(waits) <= 24


def test_an_item_that_changed_in_the_list_comes_first_and_one_listed_twice_counts_once() -> None:
    old, new = NewsItem("n1", "Works", "x"), NewsItem("n2", "Works", "x")
    retitled = NewsItem("n3", "Works, ended", "x")
    long_ago = NOON - 30 * HOUR
    fetched = {
        "n1": FetchedItem(old, long_ago, long_ago),
        "n3": FetchedItem(NewsItem("n3", "Works", "x"), NOON, NOON),
    }

    assert ["n2", "n3", "n1"] == items_to_fetch([old, new, retitled, new], fetched, NOON)


def test_an_item_whose_title_returns_to_an_earlier_one_is_fetched() -> None:
    fetched = {"n1": FetchedItem(NewsItem("n1", "Works, ended", "x"), NOON, NOON)}

    assert ["n1"] == items_to_fetch([ITEM], fetched, NOON)


def test_the_oldest_answers_come_first_and_no_more_than_the_most_of_a_run() -> None:
    items = [NewsItem(f"n{n}", "Works", "x") for n in range(MOST_REFETCHED + 20)]
    fetched = {
        item.news_id: FetchedItem(item, NOON - (24 + n) * HOUR, NOON - (24 + n) * HOUR)
        for n, item in enumerate(items)
    }

    due = items_to_fetch(items, fetched, NOON)

    assert [f"n{n}" for n in range(MOST_REFETCHED + 19, 19, -1)] == due


@pytest.mark.parametrize("title", ["L&apos;orario", "L'orario ", " L'orario"])
def test_escapes_and_white_space_make_no_other_version(title: str) -> None:
    assert news_item("n1", "L'orario", "x") == news_item("n1", title, "x")
