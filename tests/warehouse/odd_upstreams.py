"""Draws odd but possible upstream histories, one operator each, and lands them as raw windows."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from tests.stage.landing import utc_text
from transit_etl.collect.raw.rawfile import write_finished
from transit_etl.paths import raw_file

Row = dict[str, Any]
ROME = ZoneInfo("Europe/Rome")
TUESDAY = date(2026, 11, 10)
CLOCKS_BACK, CLOCKS_FORWARD = date(2026, 10, 25), date(2026, 3, 29)

HOSTILE_TEXTS = [
    "", " ", "0", "-1", "null", "NaN", "1e308", "'", '"', "';drop table core.trips;--", "{{ 1 }}",
    "<script>alert(1)</script>", "[/red]", "@", "~", "~2", "|", "%", "\\", "\u0000", "\ud83d", "\U0001f68c",
    "\u202eabc", "e\u0301", "&apos;", "&#55357;&#56832;", "a" * 3000, "a\nb\tc", "*ERR*", "..", "9" * 40,
]  # fmt: skip
CLOCKS = [
    "24:10", "23:59", "00:00", "00:10", "04:00", "03:59", "27:59", "28:00", "2:5", "02:30", "02:30:00",
    "08:00:60", "99:99", "-1:00", "8.15", "", "ora", "12:00:00.5",
]  # fmt: skip
LABELS = ["1", "01", "001", "1/", "01/", "N1", "n1 ", "/", "0", "00", " 1", "189/", "A" * 50]
CODES = ["001-00", "001-01", "N1-00", "FGC-10", "T374-00", "MM-00", "001", "1/2", "ab cd", "è-00"]
STOPS = ["0001", "1|1", "0002", "0003", "0004", "12345", "MM01", "IS16", "9999"]
TRIPS = ["7", "7~2", "@1@x", '"7"', "7|1", "8", "9", "10", "", " 7", "7 ", "0", "A~B", "11"]
PLACES = ["HARBOUR", "P.ZA", "PRA&apos;  PALMARO", "AIRPORT", "HARBOUR", "", "ÀÈ", "VIA X"]
EVENTS = ["DEV", "GEV", "FERS", "XXX", "dev", "D|E"]
CATEGORIES = ["SG", "ASC", "MM", "ZZ", "sg"]
FAILED = ["empty_body", "server_error", "timeout", "rate_limited", "error_row", "not_sent", "client_error"]


class Answer(NamedTuple):
    """What upstream answered to a request sent at an instant; the body is any JSON value."""

    endpoint: str
    key: str
    at: datetime
    body: Any


@dataclass
class History:
    """What one operator's upstream answered, in order of time, drawn from a seed."""

    operator: str
    random: Random
    day: date
    answers: list[Answer] = field(default_factory=list)

    def chance(self, share: float) -> bool:
        """Draw true for a share of the calls."""
        return self.random.random() < share

    def one_of(self, values: Sequence[Any]) -> Any:  # noqa: ANN401 - as the values are
        """Draw one of some values."""
        return self.random.choice(values)

    def text(self, usual: Sequence[str], oddity: float = 0.06) -> Any:  # noqa: ANN401 - any JSON value
        """Draw one of the usual texts; now and then a hostile one, or another type."""
        if not self.chance(oddity):
            return self.one_of(usual)
        odd: list[Any] = [None, 0, -7, 1.5, True, [], {}, ["x"], {"a": 1}]
        return self.one_of(odd) if self.chance(0.25) else self.one_of(HOSTILE_TEXTS)

    def flag(self) -> object:
        """Draw a flag, mostly a boolean."""
        return (
            self.one_of([True, False]) if self.chance(0.95) else self.one_of([None, "true", "no", 1, 0, "x"])
        )

    def clock(self, at: datetime, spread_minutes: float = 90) -> Any:  # noqa: ANN401 - any JSON value
        """Draw a local clock time around an instant, now and then an odd one."""
        if self.chance(0.06):
            return self.text(CLOCKS, 0.2)
        near = at + timedelta(minutes=self.random.uniform(-10, spread_minutes))
        return f"{near.astimezone(ROME):%H:%M:%S}"


def draw_day(seed: int) -> date:
    """Draw the day on which all histories of a build begin."""
    return Random(seed).choice([TUESDAY, TUESDAY, CLOCKS_BACK, CLOCKS_FORWARD])  # noqa: S311 - repeatable


def draw_history(operator: str, day: date, seed: str) -> History:
    """Draw the history of an operator: the same for the same seed."""
    random = Random(seed)  # noqa: S311 - repeatable
    history = History(operator, random, day)
    start = datetime(day.year, day.month, day.day, random.choice([0, 1, 2, 6, 12, 21, 22]), tzinfo=UTC)
    codes = random.sample(CODES, random.randint(1, 4))
    _network(history, codes, start)
    _service(history, codes, start)
    history.answers.sort(key=lambda answer: answer.at)
    return history


def _network(history: History, codes: Sequence[str], start: datetime) -> None:
    """Draw the lines list, stop lists and timetables, some of them twice with changes."""
    at = start
    for _ in range(history.random.randint(1, 3)):
        at += timedelta(minutes=history.one_of([0, 7, 7, 60]))
        _add(history, "lines", "", at, [_line(history, code) for code in _repeated(history, codes)])
        for code in (each for each in codes if not set(each) & set(" /")):  # others are not asked about
            if history.chance(0.8):
                _add(history, "stops", code, at, _line_stops(history, code))
            for offset in range(-1, 2):
                if history.chance(0.6):
                    asked = history.day + timedelta(days=offset)
                    _add(
                        history, "timetables", f"{code}/{asked}", at, _timetable(history, code, asked, start)
                    )


def _service(history: History, codes: Sequence[str], start: datetime) -> None:
    """Draw polls of stops, of the status and of the news over hours."""
    stops = history.random.sample(STOPS, history.random.randint(1, 4))
    trips = history.random.sample(TRIPS, history.random.randint(1, 6))
    labels = [_number_of(code) for code in codes] + history.random.sample(LABELS, 2)
    due = {trip: start + timedelta(minutes=history.random.uniform(0, 200)) for trip in trips}
    events = [_event(history, start, labels) for _ in range(history.random.randint(0, 5))]
    news = [_news(history, str(number), start) for number in range(history.random.randint(0, 4))]
    at = start + timedelta(minutes=30)
    for _ in range(history.random.randint(4, 40)):
        at += timedelta(seconds=history.one_of([0, 20, 30, 60, 60, 300, 900, 7200]))
        stop = history.one_of(stops)
        listed = [_passage(history, at, trip, due[trip], labels) for trip in trips if history.chance(0.7)]
        _add(history, "passages", stop, at, _answer(history, stop, at, _repeated(history, listed)))
        if history.chance(0.3):
            shown = [event for event in events if history.chance(0.7)]
            category = history.one_of(["", "", "SG", "ASC", "ZZ"])
            body = {"stato": _repeated(history, [_edited(history, event) for event in shown])}
            _add(history, "status", category, at, body if history.chance(0.95) else {})
        if history.chance(0.2):
            _add(history, "news", "", at, _repeated(history, [_edited(history, item) for item in news]))
        if history.chance(0.2):
            _add(history, "news_details", history.one_of(["0", "1", "2", "x"]), at, _news_text(history))


def _add(history: History, endpoint: str, key: str, at: datetime, body: object) -> None:
    history.answers.append(Answer(endpoint, key, at, body))


def _repeated(history: History, rows: Sequence[Any]) -> list[Any]:
    """Leave out, repeat and reorder rows now and then."""
    kept = [row for row in rows if history.chance(0.95)]
    more = [_twin(history, row) for row in rows if history.chance(0.1)]
    both = kept + more
    if history.chance(0.3):
        history.random.shuffle(both)
    return both


def _twin(history: History, row: Any) -> Any:  # noqa: ANN401 - a row, or a text
    """Copy a row, half of the times with one value changed."""
    if not isinstance(row, dict) or not row or history.chance(0.5):
        return row
    odd: list[Any] = [None, [], "", "x", *HOSTILE_TEXTS]
    return row | {history.one_of(sorted(row)): history.one_of(odd)}


def _odd(history: History, row: Row) -> Row:
    """Leave a member out or add unknown ones now and then."""
    row = {name: value for name, value in row.items() if not history.chance(0.01)}
    if history.chance(0.03):
        row[history.one_of(["nuovo", "a.b", "'", "\u0000", "è", ""])] = history.text(["x", "y"], 0.5)
    return row


def _number_of(code: str) -> str:
    return code.partition("-")[0]


def _line(history: History, code: str) -> Row:
    return _odd(
        history,
        {
            "codice": code if history.chance(0.98) else history.text([code]),
            "numero": history.text([_number_of(code), history.one_of(LABELS)]),
            "capolinea_andata": history.text(PLACES),
            "capolinea_ritorno": history.text(PLACES),
            "attiva": history.flag(),
            "note": history.text(["", "only on Tuesdays"]),
        },
    )


def _line_stops(history: History, code: str) -> Row:
    body: Row = {"codice_linea": code if history.chance(0.95) else history.text([code, "999-99"], 0.5)}
    keys = history.random.sample(
        ["andata", "ritorno", "navetta", "ANDATA", "2", ""], history.random.randint(1, 3)
    )
    for key in keys if history.chance(0.3) else ["andata", "ritorno"]:
        served = [history.one_of(STOPS) for _ in range(history.random.randint(0, 6))]
        order, body[key] = 0, []
        for stop in served:
            order += history.one_of([1, 1, 1, 2, 10, 0, -1]) if history.chance(0.3) else 1
            body[key].append(
                _odd(
                    history,
                    {
                        "codice_linea": code, "direzione": history.text(["1", "2"]),
                        "codice_fermata": history.text([stop], 0.03),
                        "ordine": order if history.chance(0.97) else history.text(["1", str(order)]),
                    },
                )
            )  # fmt: skip
    return body


def _timetable(history: History, code: str, asked: date, start: datetime) -> Row:
    def leg() -> object:
        first = start + timedelta(minutes=history.random.uniform(-60, 120))
        headway = history.one_of([0, 1, 10, 10, 15, 60])
        times = [
            f"{(first + timedelta(minutes=headway * number)).astimezone(ROME):%H:%M}"
            for number in range(history.random.randint(0, 8))
        ]
        odd = [time if history.chance(0.95) else history.text(CLOCKS, 0.1) for time in times]
        return {
            "descrizione": history.text(["LEG", "LEG A", "/LEG A", "LEG@B", "LEG|B"]),
            "partenze": _repeated(history, odd),
        }

    def service() -> Row:
        directions = history.one_of([["andata"], ["andata", "ritorno"], ["andata", "x", "y"]])
        row: Row = {
            "codice": history.text(["S1", "S2"]),
            "barrato": history.flag(),
            "targa": history.text(PLACES),
            "descrizione": history.text(["weekday", ""]),
            "tratte": {key: leg() for key in directions},
        }
        return _odd(history, row)

    services = [service() for _ in range(history.random.randint(0, 3))]
    return {"linea": code, "data": str(asked) if history.chance(0.97) else "2020-01-01", "servizi": services}


def _passage(history: History, at: datetime, trip: str, due: datetime, labels: Sequence[str]) -> Row:
    shown = due + timedelta(seconds=history.one_of([0, 0, 30, -30, 120, -600, 900, 3600]))
    if history.chance(0.1):
        shown = at + timedelta(minutes=history.random.uniform(-5, 60))
    wait = round((shown - at).total_seconds() / 60)
    return _odd(
        history,
        {
            "linea": history.text([labels[hash_of(trip) % len(labels)]] * 5 + list(labels)),
            "destinazione": history.text([PLACES[hash_of(trip) % 2]] * 5 + PLACES, 0.03),
            "orario": f"{shown.astimezone(ROME):%H:%M:%S}" if history.chance(0.95) else history.clock(at),
            "attesa": history.text([f"{wait}'"] * 8 + ["1438'", "05:24", "05.24", "0'", "-3'"], 0.05),
            "teorico": history.flag() if history.chance(0.3) else hash_of(trip) % 3 == 0,
            "id_corsa": history.text([trip] * 10 + TRIPS, 0.04),
            "pieno": history.flag(),
        },
    )


def hash_of(text: str) -> int:
    """Return a number that is the same for the same text in every run."""
    return sum(text.encode("utf-8", "replace"))


def _answer(history: History, stop: str, at: datetime, listed: Sequence[Row]) -> Row:
    answered = at + timedelta(seconds=history.one_of([0, 0, 0, -5, -100, 4, 3600, -86400]))
    return {
        "codice_fermata": stop if history.chance(0.98) else history.text(STOPS),
        "timestamp": utc_text(answered)[:23] + "Z" if history.chance(0.97) else history.text(["x", ""]),
        "passaggi": list(listed),
    }


def _event(history: History, start: datetime, labels: Sequence[str]) -> Row:
    began = start + timedelta(hours=history.one_of([-900, -30, -1, 0, 1, 3, 5, 400]))
    local = began.astimezone(ROME)
    row: Row = {
        "evento": history.text(EVENTS),
        "categoria": history.text(CATEGORIES),
        "linee": history.one_of(
            [list(labels[:2]), [], "LIFT A", "", labels[0], None, [None, 1, "x"], ["1", "1"]]
        ),
        "causa": history.text(["works"]),
        "messaggio": history.text(["A diversion.", "A lift stands still."]),
        "data": f"{local.day}/{local.month}/{local:%Y %H:%M}"
        if history.chance(0.9)
        else history.text(CLOCKS),
    }
    return _odd(history, row)


def _edited(history: History, row: Row) -> Row:
    """Change a text of an entry now and then, forth and back."""
    edited = [name for name in row if name in ("messaggio", "titolo", "causa", "data")]
    if edited and history.chance(0.15):
        return row | {history.one_of(edited): history.text(["edited", "edited again"], 0.2)}
    return row


def _news(history: History, number: str, start: datetime) -> Row:
    published = start - timedelta(hours=history.one_of([0, 1, 1000, -5]))
    return _odd(
        history,
        {
            "id": history.text([number, "1"]), "titolo": history.text(["Works", "Strike"]),
            "data": utc_text(published)[:23] + "Z", "data_formattata": "x",
        },
    )  # fmt: skip


def _news_text(history: History) -> Row:
    return _odd(
        history,
        {
            "titolo": history.text(["Works"]), "contenuto": history.text(["<p>text</p>", "text", "other"]),
            "data": history.text(["2026-11-10", "2026-13-40", "10/11/2026"]),
        },
    )  # fmt: skip


def land(data_dir: Path, history: History, worker: str, answers: Sequence[Answer]) -> dict[str, Answer]:
    """Write answers as raw windows: one per endpoint and UTC day, some requests without a good answer.

    Returns the good answers by request.
    """
    windows: dict[tuple[str, date], list[Row]] = {}
    good = {}
    for answer in answers:
        window = f"{answer.at:%Y%m%d}T000000Z-{answer.endpoint}-{worker}"
        lines = windows.setdefault((answer.endpoint, answer.at.date()), [])
        lines.append(_raw_line(history, window, answer, len(lines) + 1))
        if lines[-1]["outcome"] == "ok":
            good[lines[-1]["request_id"]] = answer
    for (endpoint, day), lines in windows.items():
        path = raw_file(data_dir, history.operator, endpoint, day, lines[0]["window"])
        path.parent.mkdir(parents=True, exist_ok=True)
        write_finished(path, [json.dumps(line).encode() + b"\n" for line in lines])
    return good


def _raw_line(history: History, window: str, answer: Answer, number: int) -> Row:
    outcome = "ok" if history.chance(0.93) else history.one_of(FAILED)
    took = timedelta(seconds=history.one_of([0.1, 1, 5]))
    text = json.dumps(answer.body, separators=(",", ":")) if outcome == "ok" else None
    is_sent = outcome != "not_sent"
    return {
        "request_id": f"{window}/{number}", "window": window, "operator": history.operator,
        "endpoint": answer.endpoint, "key": answer.key, "api_version": 1, "planned_at": utc_text(answer.at),
        "sent_at": utc_text(answer.at) if is_sent else None,
        "received_at": utc_text(answer.at + took) if is_sent else None,
        "outcome": outcome, "http_status": 200 if outcome == "ok" else None,
        "elapsed_ms": 100.0 if history.chance(0.98) else 900_000.0,
        "attempts": 1 if is_sent else 0, "error": None if outcome == "ok" else outcome,
        "n_bytes": None if text is None else len(text), "body": text, "body_base64": None,
    }  # fmt: skip
