"""Renders the answers of version 1 of the interface."""

from datetime import date, datetime
from typing import Any

from transit_emulator import texts
from transit_emulator.days.events import Event
from transit_emulator.days.news import NewsItem
from transit_emulator.days.timetable import Leg, Service
from transit_emulator.local_time import clock_text, local, utc_text
from transit_emulator.networks.network import DIRECTION_KEYS
from transit_emulator.world import Passage, World

Json = dict[str, Any]
ERROR_ROW: Json = {
    "linea": "*ERR*",
    "destinazione": "",
    "orario": "",
    "attesa": "",
    "teorico": False,
    "id_corsa": "",
    "pieno": False,
}


def lines(world: World, now: datetime) -> list[Json]:
    """Return the lines list."""
    return [
        {
            "codice": line.code,
            "numero": line.number,
            "capolinea_andata": line.termini[0],
            "capolinea_ritorno": line.termini[1],
            "attiva": line.is_active,
            "note": line.note,
        }
        for line in world.lines(now)
    ]


def line_stops(world: World, code: str, now: datetime) -> Json:
    """Return the stops of a line; `andata` is present even where no stop is listed."""
    line = world.published_line(code, now)
    answer: Json = {"codice_linea": line.code, "andata": []}
    for direction, stops in line.stops.items():
        answer[DIRECTION_KEYS[direction]] = [
            {
                "codice_linea": line.code,
                "direzione": str(direction + 1),
                "codice_fermata": stop.stop_code,
                "ordine": stop.order,
            }
            for stop in stops
        ]
    return answer


def news(world: World, now: datetime) -> list[Json]:
    """Return the news list."""
    return [
        {
            "id": item.id,
            "titolo": item.title,
            "data": utc_text(item.published_at),
            "data_formattata": local(item.published_at, world.network.zone).strftime("%d/%m/%Y %H:%M"),
        }
        for item in world.news(now)
    ]


def news_detail(world: World, item: NewsItem, now: datetime) -> Json:
    """Return the full text of an item."""
    published = local(item.published_at, world.network.zone)
    return {
        "titolo": item.title,
        "contenuto": item.text_at(now.timestamp()),
        "data": published.date().isoformat(),
    }


def timetable(world: World, code: str, day: date, now: datetime) -> Json:
    """Return the timetable of a line, whose code is echoed as it was asked for."""
    services = world.timetable(world.line(code), day, now)
    return {"linea": code, "data": day.isoformat(), "servizi": [_service(service) for service in services]}


def _service(service: Service) -> Json:
    first = service.legs[0]
    return {
        "codice": service.code,
        "barrato": service.is_slash,
        "targa": texts.destination(first.headsign),
        "descrizione": first.description,
        "tratte": {DIRECTION_KEYS[leg.direction]: _leg(leg) for leg in service.legs},
    }


def _leg(leg: Leg) -> Json:
    return {"descrizione": leg.description, "partenze": [departure.text for departure in leg.departures]}


def passages(world: World, stop_code: str, now: datetime) -> Json:
    """Return the next passages of a stop."""
    rows = [passage(world, item, now) for item in world.passages(stop_code, now)]
    return {"codice_fermata": stop_code, "timestamp": utc_text(now.timestamp()), "passaggi": rows}


def passage(world: World, item: Passage, now: datetime) -> Json:
    """Return a passage as a stop lists it."""
    return {
        "linea": item.line_label,
        "destinazione": item.destination,
        "orario": clock_text(item.shown_at, world.network.zone),
        "attesa": texts.wait(item.shown_at - now.timestamp()),
        "teorico": item.is_theoretical,
        "id_corsa": item.shown_id,
        "pieno": item.is_full,
    }


def unknown_stop(stop_code: str, now: datetime) -> Json:
    """Return the answer for a stop that does not exist: one row that is not a passage."""
    return {"codice_fermata": stop_code, "timestamp": utc_text(now.timestamp()), "passaggi": [ERROR_ROW]}


def status(world: World, now: datetime, category: str | None = None) -> Json:
    """Return the service status, of one category where one is given."""
    events = world.status(now)
    return {"stato": [_event(world, item, now) for item in events if category in (None, item.category)]}


def _event(world: World, item: Event, now: datetime) -> Json:
    version = item.version_at(now.timestamp())
    answer: Json = {"evento": item.event, "categoria": item.category}
    if version.name or version.lines:
        lines = ", ".join(version.lines) if version.is_one_text else list(version.lines)
        answer["linee"] = version.name or lines
    if version.cause is not None:
        answer["causa"] = version.cause
    answer["messaggio"] = version.message
    answer["data"] = texts.short_date(local(version.starts_at, world.network.zone))
    return answer
