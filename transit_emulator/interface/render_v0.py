"""Renders answers of the deprecated version 0, whose field names are assumed."""

from datetime import date, datetime
from html import escape

from transit_emulator import texts
from transit_emulator.days.events import FUNICULARS, LIFTS, METRO, Event
from transit_emulator.days.news import NewsItem
from transit_emulator.interface import render_v1
from transit_emulator.interface.render_v1 import Json
from transit_emulator.local_time import local, utc_text
from transit_emulator.networks.network import DIRECTION_KEYS
from transit_emulator.world import World

_SITE = "https://transit.example"
_GROUPS = {LIFTS: "ascensori", FUNICULARS: "funicolari", METRO: "metropolitana"}


def arrivals(world: World, stop_code: str, now: datetime) -> Json:
    """Return the real-time arrivals at a stop."""
    answer = render_v1.passages(world, stop_code, now)
    kept = ("linea", "destinazione", "orario", "attesa", "teorico")
    return {
        "codiceFermata": stop_code,
        "timestamp": answer["timestamp"],
        "transiti": [{name: row[name] for name in kept} for row in answer["passaggi"]],
    }


def unknown_stop(stop_code: str, now: datetime) -> Json:
    """Return the answer for a stop that does not exist."""
    row = {name: value for name, value in render_v1.ERROR_ROW.items() if name not in ("id_corsa", "pieno")}
    return {"codiceFermata": stop_code, "timestamp": utc_text(now.timestamp()), "transiti": [row]}


def timetable(world: World, code: str, day: date, now: datetime) -> Json:
    """Return the legs of a line with their departures."""
    legs = [
        {
            "direzione": DIRECTION_KEYS[leg.direction],
            "descrizione": leg.description,
            "destinazione": texts.destination(leg.headsign),
            "barrato": service.is_slash,
            "partenze": [departure.text for departure in leg.departures],
        }
        for service in world.timetable(world.line(code), day, now)
        for leg in service.legs
    ]
    return {"linea": code, "data": day.isoformat(), "tratte": legs}


def news(world: World, now: datetime, limit: int) -> list[Json]:
    """Return the latest items, at most `limit`."""
    return [
        {"id": item.id, "titolo": item.title, "data": _published(world, item)}
        for item in world.news(now)[:limit]
    ]


def news_detail(world: World, item: NewsItem, now: datetime) -> Json:
    """Return an item in full, as HTML with an image and a link."""
    image, page = f"{_SITE}/immagini/{item.id}.jpg", f"{_SITE}/news/{item.id}"
    text = escape(item.text_at(now.timestamp()))
    content = f'<p>{text}</p><img src="{image}" alt=""><p><a href="{page}">Leggi tutto</a></p>'
    return {
        "id": item.id,
        "titolo": item.title,
        "data": _published(world, item),
        "contenuto": content,
        "immagini": [image],
        "collegamenti": [{"testo": "Leggi tutto", "url": page}],
    }


def status(world: World, now: datetime) -> Json:
    """Return the disruptions grouped by type of service."""
    groups = ("ascensori", "funicolari", "ferrovia_genova_casella", "metropolitana", "autobus")
    answer: Json = {name: [] for name in groups}
    for event in world.status(now):
        answer[_GROUPS.get(event.category, "autobus")].append(_entry(world, event, now))
    return answer


def _entry(world: World, event: Event, now: datetime) -> Json:
    version = event.version_at(now.timestamp())
    return {
        "nome": version.name or ", ".join(version.lines),
        "causa": version.cause or "",
        "messaggio": version.message,
        "data": texts.short_date(local(version.starts_at, world.network.zone)),
    }


def _published(world: World, item: NewsItem) -> str:
    return local(item.published_at, world.network.zone).date().isoformat()
