"""A second upstream, written by hand: a server that answers every path of version 1 from a script of cases.

It shares no code with the emulator. An answer depends on the path and on the instant of `X-Emulated-Now`.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = Any


def at(text: str) -> datetime:
    """Return an instant of October 2026 written as `DD HH:MM` (UTC)."""
    return datetime.strptime(f"2026-10-{text}", "%Y-%m-%d %H:%M").replace(tzinfo=UTC)


@dataclass(frozen=True)
class Entry:
    """An entry of the service status, listed from the first instant of `listed` up to before the second.

    `since` is the start as upstream writes it, in local time.
    """

    listed: tuple[str, str]
    lines: Json
    since: str
    message: str
    event: str = "DEV"
    category: str = "SG"
    cause: str | None = None

    def document(self) -> dict[str, Json]:
        """Return the entry as the interface gives it; a member that is None is absent."""
        members = {
            "evento": self.event,
            "categoria": self.category,
            "linee": self.lines,
            "causa": self.cause,
            "messaggio": self.message,
            "data": self.since,
        }
        return {name: value for name, value in members.items() if value is not None}


@dataclass(frozen=True)
class News:
    """A news item, listed from its publication to before `listed_to`; each text has its first instant."""

    news_id: str
    title: str
    published: str
    texts: Sequence[tuple[str, str]]
    listed_to: str = "27 00:00"


@dataclass(frozen=True)
class Timetable:
    """Departures of a line and their headsign, from an instant on, on a date (`DD`) or on all (None)."""

    asked_from: str
    departures: Sequence[str]
    headsign: str = "CAPOLINEA"
    day: str | None = None


@dataclass
class Script:
    """What the upstream says: `lines` by number, and what whole answers to the status are made of instead."""

    lines: Sequence[str]
    entries: Sequence[Entry]
    news: Sequence[News]
    timetables: Mapping[str, Sequence[Timetable]]
    status_answers: Sequence[tuple[str, str, Callable[[list[Json]], Json]]]
    news_empty: Sequence[tuple[str, str]]
    outages: Sequence[tuple[str, str]]
    default_departures: Sequence[str] = field(
        default_factory=lambda: [f"{hour:02}:00" for hour in range(6, 24)]
    )

    def answer(self, path: str, now: datetime) -> tuple[int, Json]:
        """Return the status code and the document for a path below the base address."""
        endpoint, *rest = path.split("/")
        if endpoint == "passaggi":
            return 200, {"codice_fermata": rest[0], "timestamp": _written(now), "passaggi": []}
        if any(at(begin) <= now < at(end) for begin, end in self.outages):
            return 503, {"errore": "manutenzione"}
        if endpoint == "stato_servizio":
            return 200, self._status(now, *rest[1:])
        if endpoint == "news" and rest:
            return self._news_item(rest[0], now)
        documents: dict[str, Callable[..., Json]] = {
            "linee": lambda: [_line(number) for number in self.lines],
            "fermate": _stops,
            "orari": lambda code, day: self._timetable(code, day, now),
            "news": lambda: self._news(now),
        }
        return (
            (200, documents[endpoint](*rest)) if endpoint in documents else (404, {"errore": "sconosciuto"})
        )

    def _status(self, now: datetime, category: str = "") -> Json:
        rows = [
            entry.document()
            for entry in self.entries
            if at(entry.listed[0]) <= now < at(entry.listed[1]) and category in {"", entry.category}
        ]
        for begin, end, change in self.status_answers:
            if at(begin) <= now < at(end):
                return change(rows)
        return {"stato": rows}

    def _news(self, now: datetime) -> Json:
        if any(at(begin) <= now < at(end) for begin, end in self.news_empty):
            return []
        return [
            {
                "id": item.news_id,
                "titolo": item.title,
                "data": _written(at(item.published)),
                "data_formattata": f"{at(item.published):%d/%m/%Y %H:%M}",
            }
            for item in self.news
            if at(item.published) <= now < at(item.listed_to)
        ]

    def _news_item(self, news_id: str, now: datetime) -> tuple[int, Json]:
        for item in self.news:
            if item.news_id == news_id:
                text = [text for since, text in item.texts if at(since) <= now][-1]
                return 200, {
                    "titolo": item.title,
                    "contenuto": text,
                    "data": f"{at(item.published):%Y-%m-%d}",
                }
        return 404, {"errore": "sconosciuta"}

    def _timetable(self, code: str, day: str, now: datetime) -> Json:
        valid = [
            each
            for each in self.timetables.get(code, ())
            if at(each.asked_from) <= now and each.day in {None, day[-2:]}
        ]
        chosen = valid[-1] if valid else Timetable("01 00:00", self.default_departures)
        service = {
            "codice": "S1",
            "barrato": False,
            "targa": chosen.headsign,
            "descrizione": "FERIALE",
            "tratte": {
                "andata": {"descrizione": "DA A", "partenze": list(chosen.departures)},
                "ritorno": {"descrizione": "", "partenze": []},
            },
        }
        return {"linea": code, "data": day, "servizi": [service] if chosen.departures else []}


def _written(instant: datetime) -> str:
    return f"{instant:%Y-%m-%dT%H:%M:%S}.000Z"


def _line(number: str) -> Json:
    return {
        "codice": line_code(number),
        "numero": number,
        "capolinea_andata": f"CAPOLINEA {number}",
        "capolinea_ritorno": f"ORIGINE {number}",
        "attiva": True,
        "note": "",
    }


def line_code(number: str) -> str:
    """Return the code of a line with a number of up to three digits."""
    return f"{number:0>3}-00"


def _stops(code: str) -> Json:
    def entries(direction: str, stops: Sequence[str]) -> list[Json]:
        return [
            {"codice_linea": code, "direzione": direction, "codice_fermata": stop, "ordine": order}
            for order, stop in enumerate(stops, start=1)
        ]

    first, second = f"{code[:3]}1", f"{code[:3]}2"
    return {
        "codice_linea": code,
        "andata": entries("1", [first, second]),
        "ritorno": entries("2", [second, first]),
    }


@contextmanager
def serving(script: Script) -> Iterator[str]:
    """Serve a script on a free port; yield the base address of version 1."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            told = self.headers.get("X-Emulated-Now")
            now = datetime.fromisoformat(told).astimezone(UTC) if told else datetime.now(UTC)
            code, document = script.answer(self.path.removeprefix("/api/v1/"), now)
            body = json.dumps(document).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/api/v1/"
        server.shutdown()
