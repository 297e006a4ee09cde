"""Generates news items as functions of the seed and the date: about disruptions, timetables, or nothing much.

Few repeat what the status says: most tell it in other words, some are about two disruptions of one line, and
some name a line that nothing has happened to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from transit_emulator import noise
from transit_emulator.days.events import BUSES, DAY, MINUTE, Event
from transit_emulator.local_time import ONE_DAY, at_local, local
from transit_emulator.networks.network import Network

LISTED_DAYS = 14
_WORTH_NEWS_SECONDS = 6 * 3600
_EDITED_SHARE, _ADDENDUM = 0.25, "Aggiornamento: le modifiche restano in vigore fino a nuovo avviso."
_REPEATED_SHARE = 0.3  # of the items about one event: those that repeat its message
_SHARED_SHARE = 0.6  # of the items about an event on a line with another event: those about both
_TOPIC_SHARE, _UNRELATED_SHARE = 0.5, 0.4  # of the days: with an item about a topic; about a line and nothing
_TOPICS = (
    ("Sciopero del personale", "Possibili modifiche al servizio nella giornata indicata."),
    ("Nuovi orari", "Entrano in vigore i nuovi orari. Le tabelle alle fermate sono aggiornate."),
    ("Biglietterie chiuse", "Le biglietterie osservano un orario ridotto."),
    ("Lavori alle fermate", "Alcune fermate sono spostate di pochi metri durante i lavori."),
)
_UNRELATED = (
    ("Nuovi mezzi per la linea {line}", "Da oggi sulla linea {line} viaggiano mezzi più silenziosi."),
    ("Linea {line}: nuove pensiline", "Sono state rinnovate le pensiline lungo il percorso della {line}."),
    ("Questionario sui bus {line}", "Racconta la tua esperienza a bordo: il sondaggio dura tre minuti."),
)
_WEEKDAYS = ("lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica")
_PARTS_OF_THE_DAY = ((12, "In mattinata"), (18, "Nel pomeriggio"), (24, "In serata"))  # until an hour
_CAUSE_WORDS = {
    "lavori stradali": "un cantiere in carreggiata",
    "manifestazione": "un corteo nelle vie del centro",
    "incidente": "uno scontro tra veicoli",
    "veicolo in sosta irregolare": "un'auto che ostruisce il passaggio",
    "allerta meteo": "il maltempo",
}
_EFFECT_WORDS = {
    "DEV": "seguono un itinerario diverso da quello abituale",
    "GEV": "possono far attendere più del solito",
    "FERS": "non effettuano alcune delle fermate",
}


class Announcement(NamedTuple):
    """A timetable that is announced at an instant (Unix seconds), and the first date it is valid for."""

    published_at: int
    first_date: date


class _Text(NamedTuple):
    """What a news item says; items of a date are numbered in the order of these fields."""

    published_at: int
    title: str
    text: str
    about: str
    event_ids: tuple[str, ...] = ()
    edited_at: int | None = None
    edited_text: str = ""


@dataclass(frozen=True, slots=True)
class NewsItem:
    """A news item. `about` is event, events, season, topic or unrelated; `event_ids` names the disruptions.

    From `edited_at` on, unless that is None, it has another text under the same id, title and date.
    """

    id: str
    title: str
    text: str
    published_at: int
    about: str
    event_ids: tuple[str, ...] = ()
    edited_at: int | None = None
    edited_text: str = ""

    def text_at(self, instant: float) -> str:
        """Return the text as it reads at an instant."""
        return self.text if self.edited_at is None or instant < self.edited_at else self.edited_text


def news_of(
    network: Network, seed: int, day: date, events: Sequence[Event], announced: Sequence[Announcement] = ()
) -> tuple[NewsItem, ...]:
    """Return the items published on a local date, oldest first.

    `events` are those that the status has at any time of the date; `announced` are the timetables announced.
    """
    found = list(_about_events(network, day, events))
    found += [_about_timetable(announcement) for announcement in announced]
    name = f"{seed}/{day.isoformat()}/news"
    if noise.unit(name) < _TOPIC_SHARE:
        title, text = _TOPICS[noise.pick(len(_TOPICS), name, "topic")]
        found.append(_Text(_hour(network, day, name), f"{title} ({day:%d/%m})", text, "topic"))
    if noise.unit(name, "unrelated") < _UNRELATED_SHARE:
        title, text = _UNRELATED[noise.pick(len(_UNRELATED), name, "which")]
        line = network.lines[noise.pick(len(network.lines), name, "line")].number
        at = _hour(network, day, name + "/unrelated")
        found.append(_Text(at, title.format(line=line), text.format(line=line), "unrelated"))
    items = [NewsItem(f"{day:%y%m%d}{number:02d}", item.title, item.text, item.published_at, item.about,
                      item.event_ids, item.edited_at, item.edited_text)
             for number, item in enumerate(sorted(found), start=1)]  # fmt: skip
    return tuple(_perhaps_edited(item, seed) for item in items)


def _hour(network: Network, day: date, name: str) -> int:
    return at_local(day, (9 + noise.pick(9, name, "hour")) * 3600, network.zone)


def _about_events(network: Network, day: date, events: Sequence[Event]) -> Iterator[_Text]:
    """Yield an item for each event worth it that is first listed on a date, or one for two of one line."""
    first, until = at_local(day, 0, network.zone), at_local(day + ONE_DAY, 0, network.zone)
    of_lines = [event for event in events if event.category == BUSES and not event.plant_id]
    for event in of_lines:
        if not (_is_worth_news(event) and first <= event.listed_at < until):
            continue
        other = next((one for one in of_lines if one is not event and _share_a_line(event, one)), None)
        if other is not None and noise.unit(event.id, "with another") < _SHARED_SHARE:
            yield _about_both(network, event, other)
        elif noise.unit(event.id, "repeated") < _REPEATED_SHARE:
            yield _repeated(event)
        else:
            yield _paraphrased(network, event)


def _is_worth_news(event: Event) -> bool:
    return event.ended_at - event.started_at >= _WORTH_NEWS_SECONDS


def _share_a_line(event: Event, other: Event) -> bool:
    """Tell whether another event of a line of an event is listed when that is published."""
    is_on = other.listed_at <= event.listed_at < other.unlisted_at
    return is_on and not set(event.line_positions).isdisjoint(other.line_positions)


def _perhaps_edited(item: NewsItem, seed: int) -> NewsItem:
    name = f"{seed}/{item.id}/edit"
    if item.edited_at is not None or noise.unit(name) >= _EDITED_SHARE:
        return item
    edited_at = item.published_at + (20 + noise.pick(36 * 60, name, "after")) * 60
    return replace(item, edited_at=edited_at, edited_text=f"{item.text} {_ADDENDUM}")


def _about_timetable(announcement: Announcement) -> _Text:
    first = announcement.first_date
    title = f"Cambio orario di stagione dal {first:%d/%m}"
    text = f"Dal {first:%d/%m/%Y} sono in vigore i nuovi orari su tutte le linee."
    return _Text(announcement.published_at, title, text, "season")


def _repeated(event: Event) -> _Text:
    """Return an item that repeats the message."""
    version = event.versions[0]
    numbers = ", ".join(version.lines)
    title = f"Linee {numbers}: modifiche" if numbers else "Modifiche al servizio"
    text = f"{version.message} Il servizio torna regolare appena possibile."
    return _Text(event.listed_at, title, text, "event", (event.id,))


def _paraphrased(network: Network, event: Event) -> _Text:
    """Return an item that tells of an event in other words; some say later that it is over."""
    version = event.versions[0]
    buses = _buses(version.lines)
    published_at = event.listed_at + noise.pick(90, event.id, "news after") * MINUTE
    published_at = min(published_at, at_local(_date(network, event.listed_at) + ONE_DAY, 0, network.zone) - 1)
    title = ("Cambia il percorso" if event.event == "DEV" else "Disagi alla circolazione") + f": {buses}"
    because = _CAUSE_WORDS.get(version.cause or "", "motivi tecnici")
    text = (
        f"{_when(network, event, published_at)} {buses} {_EFFECT_WORDS[event.event]} per {because}. "
        "Ci scusiamo per il disagio."
    )
    item = _Text(published_at, title, text, "event", (event.id,))
    is_closed = (
        event.unlisted_at - published_at > MINUTE and noise.unit(event.id, "news at end") < _EDITED_SHARE
    )
    if not is_closed or event.is_withdrawn:
        return item
    ended = local(event.ended_at, network.zone)
    over = f"Il servizio è tornato regolare alle {ended.hour}.{ended.minute:02d}."
    return item._replace(edited_at=event.unlisted_at, edited_text=f"{text} {over}")


def _about_both(network: Network, event: Event, other: Event) -> _Text:
    """Return one item about two events that have a line in common."""
    shared = sorted(set(event.line_positions) & set(other.line_positions))
    line = network.lines[shared[0]].number
    reasons = [_CAUSE_WORDS.get(one.versions[0].cause or "", "motivi tecnici") for one in (event, other)]
    title = f"Linea {line}: due modifiche in corso"
    text = (
        f"I mezzi della {line} risentono di {reasons[0]} e di {reasons[1]}: nel primo caso "
        f"{_EFFECT_WORDS[event.event]}, nel secondo {_EFFECT_WORDS[other.event]}."
    )
    return _Text(event.listed_at, title, text, "events", (event.id, other.id))


def _buses(labels: Sequence[str]) -> str:
    """Return lines as a journalist names them."""
    if not labels:
        return "i mezzi della rete"
    if len(labels) == 1:
        return f"i bus {labels[0]}"
    return f"i bus {', '.join(labels[:-1])} e {labels[-1]}"


def _when(network: Network, event: Event, published_at: int) -> str:
    """Return a start as a journalist tells it: not to the minute, or by the day."""
    start = local(event.versions[0].starts_at, network.zone)
    if abs(event.started_at - published_at) > DAY:
        return f"Da {_WEEKDAYS[start.weekday()]} {start.day}"
    if noise.unit(event.id, "roughly") < 0.5:  # noqa: PLR2004 - half of them
        return next(text for until, text in _PARTS_OF_THE_DAY if start.hour < until)
    return f"Dalle {start.hour}.{start.minute // 15 * 15:02d} circa"


def _date(network: Network, instant: int) -> date:
    return local(instant, network.zone).date()
