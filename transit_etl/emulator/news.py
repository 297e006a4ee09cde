"""Publishes news items, some about disruptions, as functions of the seed and the date."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from transit_etl.emulator import noise
from transit_etl.emulator.disruptions import BUSES, Event
from transit_etl.emulator.local_time import at_local
from transit_etl.emulator.network import Network

LISTED_DAYS = 14
_WORTH_NEWS_SECONDS = 6 * 3600
_TOPICS = (
    ("Sciopero del personale", "Possibili modifiche al servizio nella giornata indicata."),
    ("Nuovi orari", "Entrano in vigore i nuovi orari. Le tabelle alle fermate sono aggiornate."),
    ("Biglietterie chiuse", "Le biglietterie osservano un orario ridotto."),
    ("Lavori alle fermate", "Alcune fermate sono spostate di pochi metri durante i lavori."),
)


@dataclass(frozen=True, slots=True)
class NewsItem:
    """A news item; `event_id` names the disruption it is about, or is empty."""

    id: str
    title: str
    text: str
    published_at: int
    event_id: str = ""


def news_of(network: Network, seed: int, day: date, events: Iterable[Event]) -> tuple[NewsItem, ...]:
    """Return the items published on a local date, oldest first; `events` are those that start on it."""
    found = [_about(event) for event in events if _is_worth_news(event)]
    name = f"{seed}/{day.isoformat()}/news"
    if noise.unit(name) < 0.5:  # noqa: PLR2004 - an item about something else every other day
        title, text = _TOPICS[noise.pick(len(_TOPICS), name, "topic")]
        published = at_local(day, (9 + noise.pick(9, name, "hour")) * 3600, network.zone)
        found.append((published, f"{title} ({day:%d/%m})", text, ""))
    return tuple(
        NewsItem(f"{day:%y%m%d}{number:02d}", title, text, published, event_id)
        for number, (published, title, text, event_id) in enumerate(sorted(found), start=1)
    )


def _is_worth_news(event: Event) -> bool:
    return event.category == BUSES and event.ended_at - event.started_at >= _WORTH_NEWS_SECONDS


def _about(event: Event) -> tuple[int, str, str, str]:
    numbers = ", ".join(event.lines) if isinstance(event.lines, tuple) else ""
    title = f"Linee {numbers}: modifiche" if numbers else "Modifiche al servizio"
    return event.listed_at, title, f"{event.message} Il servizio torna regolare appena possibile.", event.id
