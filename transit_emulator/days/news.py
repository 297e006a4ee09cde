"""Generates news items, some about disruptions, as functions of the seed and the date."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from transit_emulator import noise
from transit_emulator.days.events import BUSES, Event
from transit_emulator.local_time import at_local
from transit_emulator.networks.network import Network

LISTED_DAYS = 14
_WORTH_NEWS_SECONDS = 6 * 3600
_EDITED_SHARE, _ADDENDUM = 0.25, "Aggiornamento: le modifiche restano in vigore fino a nuovo avviso."
_TOPICS = (
    ("Sciopero del personale", "Possibili modifiche al servizio nella giornata indicata."),
    ("Nuovi orari", "Entrano in vigore i nuovi orari. Le tabelle alle fermate sono aggiornate."),
    ("Biglietterie chiuse", "Le biglietterie osservano un orario ridotto."),
    ("Lavori alle fermate", "Alcune fermate sono spostate di pochi metri durante i lavori."),
)


class Announcement(NamedTuple):
    """A timetable that is announced at an instant (Unix seconds), and the first date it is valid for."""

    published_at: int
    first_date: date


class _Text(NamedTuple):
    """What a news item says; items of a date are numbered in the order of these fields."""

    published_at: int
    title: str
    text: str
    event_id: str = ""


@dataclass(frozen=True, slots=True)
class NewsItem:
    """A news item; `event_id` names the disruption it is about, or is empty.

    From `edited_at` on, unless that is None, it has another text under the same id and date.
    """

    id: str
    title: str
    text: str
    published_at: int
    event_id: str = ""
    edited_at: int | None = None
    edited_text: str = ""

    def text_at(self, instant: float) -> str:
        """Return the text as it reads at an instant."""
        return self.text if self.edited_at is None or instant < self.edited_at else self.edited_text


def news_of(
    network: Network, seed: int, day: date, events: Iterable[Event], announced: Iterable[Announcement] = ()
) -> tuple[NewsItem, ...]:
    """Return the items published on a local date, oldest first.

    `events` are those that start on it; `announced` are the timetables announced on it.
    """
    found = [_about(event) for event in events if _is_worth_news(event)]
    found += [_about_timetable(announcement) for announcement in announced]
    name = f"{seed}/{day.isoformat()}/news"
    if noise.unit(name) < 0.5:  # noqa: PLR2004 - on every second day, an item about another topic
        title, text = _TOPICS[noise.pick(len(_TOPICS), name, "topic")]
        published_at = at_local(day, (9 + noise.pick(9, name, "hour")) * 3600, network.zone)
        found.append(_Text(published_at, f"{title} ({day:%d/%m})", text))
    items = [
        NewsItem(f"{day:%y%m%d}{number:02d}", item.title, item.text, item.published_at, item.event_id)
        for number, item in enumerate(sorted(found), start=1)
    ]
    return tuple(_perhaps_edited(item, seed) for item in items)


def _perhaps_edited(item: NewsItem, seed: int) -> NewsItem:
    name = f"{seed}/{item.id}/edit"
    if noise.unit(name) >= _EDITED_SHARE:
        return item
    edited_at = item.published_at + (20 + noise.pick(36 * 60, name, "after")) * 60
    return replace(item, edited_at=edited_at, edited_text=f"{item.text} {_ADDENDUM}")


def _is_worth_news(event: Event) -> bool:
    return event.category == BUSES and event.ended_at - event.started_at >= _WORTH_NEWS_SECONDS


def _about_timetable(announcement: Announcement) -> _Text:
    first = announcement.first_date
    title = f"Cambio orario di stagione dal {first:%d/%m}"
    text = f"Dal {first:%d/%m/%Y} sono in vigore i nuovi orari su tutte le linee."
    return _Text(announcement.published_at, title, text)


def _about(event: Event) -> _Text:
    numbers = ", ".join(event.line_numbers)
    title = f"Linee {numbers}: modifiche" if numbers else "Modifiche al servizio"
    text = f"{event.message} Il servizio torna regolare appena possibile."
    return _Text(event.listed_at, title, text, event.id)
