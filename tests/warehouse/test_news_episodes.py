"""News are linked with the events that they are about, in the words of an operator, and with no others."""

from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from tests.warehouse.lakes import Event, Lake, NewsItem
from tests.warehouse.news_texts import DISRUPTIONS, ITEMS
from transit_etl import paths, warehouse
from transit_etl.settings import Settings

pytestmark = [pytest.mark.xdist_group("news"), pytest.mark.timeout(600)]

Link = tuple[str, str]


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the day once."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("linked") / "data", operator="testville")
    lake = Lake(settings.data_dir, settings.operator)
    for hour in range(5, 24):
        listed = [
            Event(each.event, each.lines, each.since, each.message, each.category)
            for each in DISRUPTIONS.values()
            if each.hours[0] <= hour <= each.hours[1]
        ]
        lake.status(f"{hour:02}:00", *listed)
    news = [
        NewsItem(str(number), item.title, datetime.fromisoformat(item.published))
        for number, item in enumerate(ITEMS)
    ]
    lake.news("22:30", *news)
    for number, item in enumerate(ITEMS):
        lake.news_text("22:31", str(number), item.text)
    lake.write()
    warehouse.build(settings)
    return paths.build_database(settings.data_dir)


@pytest.fixture(scope="module")
def links(linked: Path) -> set[Link]:
    """Return the published links: title of the item and message of the event."""
    with duckdb.connect(linked, read_only=True) as connection:
        return set(
            connection.execute(
                "select distinct title, message from core.news_episodes "
                "join core.news using (operator, news_id) "
                "join core.status_episodes using (operator, episode_id)"
            ).fetchall()
        )


TRUE_LINKS = {(item.title, DISRUPTIONS[name].message) for item in ITEMS for name in item.about}


def test_the_set_is_large_and_has_each_event(links: set[Link]) -> None:
    assert links
    assert len(ITEMS) >= 40
    assert set(DISRUPTIONS) == {name for item in ITEMS for name in item.about}


def test_nearly_every_link_is_right(links: set[Link]) -> None:
    wrong = sorted(links - TRUE_LINKS)

    assert len(wrong) <= 0.05 * len(links), wrong


def test_most_links_are_found(links: set[Link]) -> None:
    missed = sorted(TRUE_LINKS - links)

    assert len(missed) <= 0.2 * len(TRUE_LINKS), missed


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Ritardi nella mattinata", ["europa", "vettura"]),
        ("Incendio in via Rolando", ["rolando"]),
        ("Fuga di gas in via Fillak", ["fillak"]),
        ("Abbonamenti", []),
    ],
)
def test_an_item_may_be_about_several_events_one_of_a_line_or_none(
    links: set[Link], title: str, names: list[str]
) -> None:
    assert {DISRUPTIONS[name].message for name in names} == {
        message for item, message in links if item == title
    }


def test_a_link_says_why_it_is_one(linked: Path) -> None:
    with duckdb.connect(linked, read_only=True) as connection:
        [evidence] = connection.execute(
            "select lines_named, names_date, list_contains(shared_terms, 'POSALU'), score > 0.9 "
            "from core.news_episodes join core.news using (operator, news_id) "
            "where title = 'Via Posalunga chiusa al traffico da martedì 10 novembre'"
        ).fetchall()

    assert (["17", "17/"], True, True, True) == evidence
