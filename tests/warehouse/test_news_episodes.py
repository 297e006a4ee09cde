"""News are linked with the events that they are about, in the words of an operator, and with no others."""

from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from tests.warehouse.lakes import Event, Lake, NewsItem
from tests.warehouse.news_texts import DAYS, DISRUPTIONS, TERSE_DISRUPTIONS
from transit_etl import paths, warehouse
from transit_etl.settings import Settings

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

Link = tuple[str, str]
TRUE_LINKS = {
    (item.title, events[name].message)
    for events, items in DAYS.values()
    for item in items
    for name in item.about
}


def _add(folder: Path, operator: str) -> None:
    """Add the answers of an operator's day: the status every hour, and the news once in the evening."""
    events, items = DAYS[operator]
    lake = Lake(folder, operator)
    for hour in range(5, 24):
        listed = [
            Event(each.event, each.lines, each.since, each.message, each.category)
            for each in events.values()
            if each.hours[0] <= hour <= each.hours[1]
        ]
        lake.status(f"{hour:02}:00", *listed)
    published = [datetime.fromisoformat(item.published) for item in items]
    lake.news("22:30", *(NewsItem(str(n), item.title, published[n]) for n, item in enumerate(items)))
    for number, item in enumerate(items):
        lake.news_text("22:31", str(number), item.text)
    lake.write()


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the days once."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("linked") / "data", operator="testville")
    for operator in DAYS:
        _add(settings.data_dir, operator)
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


def test_the_set_is_large_and_has_each_event() -> None:
    assert sum(len(items) for _, items in DAYS.values()) >= 40
    for events, items in DAYS.values():
        assert set(events) == {name for item in items for name in item.about}
        assert any(not item.about for item in items)


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
    expected = {DISRUPTIONS[name].message for name in names}

    assert expected == {message for item, message in links if item == title}


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Cambia il tragitto dei bus 41 e 42", ["works"]),
        ("Bus 61", ["march"]),
        ("Attese per chi prende la linea 63", ["crash"]),
        ("Linee 41 e 42", []),
        ("Linea 61", []),
    ],
)
def test_lines_and_times_are_enough_where_an_item_tells_of_an_event(
    links: set[Link], title: str, names: list[str]
) -> None:
    expected = {TERSE_DISRUPTIONS[name].message for name in names}

    assert expected == {message for item, message in links if item == title}


def test_a_link_says_why_it_is_one(linked: Path) -> None:
    with duckdb.connect(linked, read_only=True) as connection:
        [evidence] = connection.execute(
            "select lines_named, is_date_named, list_contains(shared_terms, 'POSALU'), score > 0.9 "
            "from core.news_episodes join core.news using (operator, news_id) "
            "where title = 'Via Posalunga chiusa al traffico da martedì 10 novembre'"
        ).fetchall()

    assert (["17", "17/"], True, True, True) == evidence
