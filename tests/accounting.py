"""Compares what a rehearsal kept with what the emulator says it answered, request by request, row by row."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import httpx
import zstandard

from transit_emulator.app import create_app
from transit_emulator.faults.definitions import Fault, FaultKind
from transit_emulator.world import World
from transit_etl.rehearsal import RehearsalReport, rehearse
from transit_etl.settings import Settings

Row = dict[str, Any]
Json = Any
_Listed = tuple[str, tuple[str, ...]]  # a request and what one row of its answer says
WINDOW_SECONDS = 600.0
PATHS = {
    "lines": "linee",
    "stops": "fermate/{}",
    "timetables": "orari/{}",
    "passages": "passaggi/{}",
    "status": "stato_servizio",
    "news": "news",
    "news_details": "news/{}",
}
DATASETS = {"stops": "line_stops"} | {name: name for name in PATHS if name != "stops"}
# What becomes of a request whose answer a fault took the place of, or spoilt.
_OUTCOMES = {
    FaultKind.RATE_LIMITED: "rate_limited",
    FaultKind.SERVER_ERROR: "server_error",
    FaultKind.NO_CONTENT: "no_content",
    FaultKind.EMPTY_BODY: "empty_body",
    FaultKind.HTML: "not_json",
    FaultKind.NOT_JSON: "not_json",
}
_SPOILING = {FaultKind.TRUNCATED: "not_json", FaultKind.WRONG_CHARSET: "not_json"}
_KEYS = {
    "lines": ("codice", "lines.code_listed_once"),
    "stops": ("ordine", "line_stops.sequence_ascends"),
    "news": ("id", "news.id_listed_once"),
}
_STATUS_OK = 200


@dataclass(frozen=True)
class Rehearsed:
    """A rehearsal's data folder, its report, and the emulator's own log of it."""

    folder: Path
    report: RehearsalReport
    log: list[Row]

    @cached_property
    def ledger(self) -> list[Row]:
        """The rows of `requests` in the lake."""
        return self.lake("requests")

    def hit_by(self, kind: FaultKind) -> list[Row]:
        """Return the answers in the log that a kind of fault had its hand in."""
        return [entry for entry in self.log if kind.value in entry["faults"]]

    @cached_property
    def raw(self) -> dict[str, Row]:
        """The landed lines by request."""
        lines = (json.loads(line) for path in (self.folder / "raw").rglob("*.zst") for line in _lines(path))
        return {line["request_id"]: line for line in lines}

    def lake(self, dataset: str, columns: str = "*") -> list[Row]:
        """Return the rows of a dataset, from all windows."""
        return self._rows("lake", dataset, columns)

    def quarantine(self, dataset: str) -> list[Row]:
        """Return the rows that left a dataset, once for each rule they broke."""
        return self._rows("quarantine", dataset, "*")

    def left_by(self) -> Counter[str]:
        """Count rows that left, by dataset and rule."""
        return Counter(
            f"{row['dataset']}.{row['rule']}"
            for dataset in ("requests", *DATASETS.values())
            for row in self.quarantine(dataset)
        )

    def _rows(self, kind: str, dataset: str, columns: str) -> list[Row]:
        files = [str(path) for path in (self.folder / kind).glob(f"*/dataset={dataset}/*/*.parquet")]
        if not files:
            return []
        with duckdb.connect() as connection:
            connection.execute("set timezone = 'UTC'")
            found = connection.sql(
                f"select {columns} from read_parquet(?, hive_partitioning = false)", params=[files]
            )
            return list(found.to_arrow_table().to_pylist())


def rehearse_world(
    folder: Path,
    world: World,
    start: datetime,
    minutes: float,
    faults: Sequence[Fault] = (),
    **settings: Any,  # noqa: ANN401 - as Settings takes them
) -> Rehearsed:
    """Rehearse in process against a world in which faults may happen."""
    log = folder / "answers.jsonl"
    app = create_app(world, log=log, faults=faults)
    given = Settings(data_dir=folder / "data", window_seconds=WINDOW_SECONDS, **settings)
    report = rehearse(given, start, minutes / 60, transport=httpx.ASGITransport(app))
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    return Rehearsed(folder / "data", report, rows)


def check_every_request_is_explained(rehearsed: Rehearsed) -> None:
    """Check that ledger and log tell of the same attempts, and that each outcome is what was answered."""
    answered = {(entry["path"], entry["now"]): entry for entry in rehearsed.log}
    attempts = Counter(key for row in rehearsed.ledger for key in _attempts(row))

    assert len(answered) == len(rehearsed.log)
    assert attempts == Counter(dict.fromkeys(answered, 1))
    assert len({row["request_id"] for row in rehearsed.ledger}) == len(rehearsed.ledger)
    assert {row["request_id"] for row in rehearsed.ledger} == set(rehearsed.raw)
    for row in rehearsed.ledger:
        keys = list(_attempts(row))
        if row["outcome"] == "interrupted":  # it had failed once, and its second chance came too late
            assert not answered[keys[0]]["is_complete"]
        elif keys:
            assert row["outcome"] in _outcomes(row, answered[keys[-1]])
            assert not any(answered[key]["is_complete"] for key in keys[:-1])
        else:
            assert row["outcome"] == "not_sent"
            assert row["error"]


def check_lake_holds_the_good_answers(rehearsed: Rehearsed) -> None:
    """Check that each row of each good answer is in the lake or in quarantine, once, and nothing else is."""
    answered = {(entry["path"], entry["now"]): entry for entry in rehearsed.log}
    good = [row for row in rehearsed.ledger if row["outcome"] == "ok"]
    expected: dict[str, Counter[_Listed]] = {dataset: Counter() for dataset in DATASETS.values()}
    for row in good:
        body = rehearsed.raw[row["request_id"]]["body"]
        assert sha256(body.encode()).hexdigest() == answered[list(_attempts(row))[-1]]["sha256"]
        dataset = DATASETS[row["endpoint"]]
        for said, n in _said(dataset, json.loads(body), row["key"]).items():
            expected[dataset][row["request_id"], said] = n
    for dataset, rows in expected.items():
        kept = _kept(rehearsed, dataset)
        assert (dataset, list(rows - kept), list(kept - rows)) == (dataset, [], [])


def check_what_left_is_what_came_twice(rehearsed: Rehearsed) -> None:
    """Check that rows left for having been said before in their answer, all of these and no others."""
    expected: Counter[str] = Counter()
    for row in rehearsed.ledger:
        if row["outcome"] == "ok" and row["endpoint"] in _KEYS:
            body = json.loads(rehearsed.raw[row["request_id"]]["body"])
            expected.update(_said_again(row["endpoint"], body))

    assert rehearsed.left_by() == expected
    assert rehearsed.report.rejected == []
    assert rehearsed.report.errors == []


def _said_again(endpoint: str, body: Json) -> Iterator[str]:
    """Yield the rule that each row of an answer breaks that is there more than once."""
    key, rule = _KEYS[endpoint]
    for rows in [body] if isinstance(body, list) else [body.get(way, []) for way in ("andata", "ritorno")]:
        counts = Counter(row[key] for row in rows)
        yield from (rule for row in rows if counts[row[key]] > 1)


def _attempts(row: Row) -> Iterator[tuple[str, str]]:
    """Yield path and instant of each attempt that the ledger tells of."""
    path = "/api/v1/" + PATHS[row["endpoint"]].format(row["key"])
    if row["endpoint"] == "status" and row["key"]:
        path += f"/categoria/{row['key']}"
    if row["outcome"] == "interrupted" or (row["attempts"] or 0) > 1:
        yield path, _text(row["planned_at"])
    if row["sent_at"] is not None and row["outcome"] != "interrupted":
        yield path, _text(row["sent_at"])


def _text(instant: datetime) -> str:
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000, tzinfo=UTC).isoformat()


def _outcomes(row: Row, entry: Row) -> set[str]:
    """Return what may have become of a request, from what the emulator did to it."""
    kinds = [FaultKind(kind) for kind in entry["faults"]]
    dropping = {FaultKind.CONNECTION_RESET, FaultKind.CUT_OFF}
    delaying = {FaultKind.SLOW, FaultKind.SLOW_BODY}
    if not entry["is_complete"]:
        return ({"connection_error"} if dropping & set(kinds) else set()) | (
            {"timeout"} if delaying & set(kinds) else set()
        )
    for kind in kinds:
        if kind in _OUTCOMES:
            return {_OUTCOMES[kind]}
    assert entry["status"] == _STATUS_OK, "nothing was asked that does not exist"
    if FaultKind.HUGE in kinds:
        return {"too_large"}
    for kind in kinds:
        if kind in _SPOILING:
            return {_SPOILING[kind]}
    if FaultKind.ERROR_ROW not in kinds or row["endpoint"] != "passages":
        return {"ok"}
    return {"error_row", "ok"} if FaultKind.VANISHING_ROWS in kinds else {"error_row"}


def _said(dataset: str, body: Json, key: str) -> Counter[tuple[str, ...]]:
    """Count what an answer says, one tuple per row the lake should have, whatever the types."""
    return Counter(tuple(map(_plain, said)) for said in _SAID[dataset](body, key))


def _said_in(*names: str) -> Callable[[Json, str], Iterable[tuple[Json, ...]]]:
    return lambda rows, _key: [tuple(row.get(name) for name in names) for row in rows]


def _said_of_stops(body: Json, _key: str) -> Iterable[tuple[Json, ...]]:
    entries = [entry for value in body.values() if isinstance(value, list) for entry in value]
    return [(entry["codice_fermata"], entry["ordine"]) for entry in entries if "ordine" in entry]


def _said_of_departures(body: Json, _key: str) -> Iterable[tuple[Json, ...]]:
    legs = [(service["codice"], leg) for service in body["servizi"] for leg in service["tratte"].values()]
    return [(code, text) for code, leg in legs if leg["descrizione"] for text in leg["partenze"]]


_PASSAGE = _said_in("linea", "orario", "attesa", "teorico", "id_corsa")
_EVENT = _said_in("evento", "categoria", "causa", "messaggio", "data")
_SAID: dict[str, Callable[[Json, str], Iterable[tuple[Json, ...]]]] = {
    "passages": lambda body, key: _PASSAGE(body["passaggi"], key),
    "status": lambda body, key: _EVENT(body.get("stato", []), key),
    "line_stops": _said_of_stops,
    "timetables": _said_of_departures,
    "lines": _said_in("codice", "numero"),
    "news": _said_in("id", "titolo"),
    "news_details": lambda body, key: [(key, body["titolo"])],
}
_COLUMNS = {
    "passages": ("line_label_raw", "clock_text", "wait_text", "is_theoretical", "trip_id"),
    "status": ("event", "category", "cause", "message", "started_text"),
    "line_stops": ("stop_code", "stop_sequence"),
    "timetables": ("service_code", "departure_text"),
    "lines": ("line_code", "line_number"),
    "news": ("news_id", "title"),
    "news_details": ("news_id", "title"),
}


def _kept(rehearsed: Rehearsed, dataset: str) -> Counter[_Listed]:
    """Count what is in the lake and, once however many rules it broke, in quarantine."""
    left = {row["row"] for row in rehearsed.quarantine(dataset)}
    rows = rehearsed.lake(dataset, ", ".join(("request_id", *_COLUMNS[dataset])))
    return Counter(
        (row["request_id"], tuple(_plain(row[name]) for name in _COLUMNS[dataset]))
        for row in (*rows, *map(json.loads, left))
    )


def _plain(value: object) -> str:
    """Return a value as text; a flag or number that came as text is what it says, nothing is empty."""
    return "" if value is None else str(value).strip().lower()


def _lines(path: Path) -> list[str]:
    with path.open("rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file).read().decode().splitlines()
