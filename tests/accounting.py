"""Compares what a rehearsal kept with the emulator's log of its answers, request by request, row by row."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import httpx2
import zstandard

from transit_emulator.app import create_app
from transit_emulator.faults.definitions import Fault, FaultKind
from transit_emulator.world import World
from transit_etl.rehearsal import RehearsalReport, rehearse
from transit_etl.settings import Settings

Row = dict[str, Any]
Json = Any
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
# The outcome of a request whose answer a fault replaced, and of one whose answer a fault damaged.
_OUTCOMES = {
    FaultKind.RATE_LIMITED: "rate_limited",
    FaultKind.SERVER_ERROR: "server_error",
    FaultKind.NO_CONTENT: "no_content",
    FaultKind.EMPTY_BODY: "empty_body",
    FaultKind.HTML: "not_json",
    FaultKind.NOT_JSON: "not_json",
}
_DAMAGED = {FaultKind.TRUNCATED: "not_json", FaultKind.WRONG_CHARSET: "not_json"}
_STATUS_OK = 200


class Key(NamedTuple):
    """What identifies a row within its answer, and the rule that a repeated one breaks."""

    field: str
    rule: str


class Attempt(NamedTuple):
    """A request as the emulator received it: its path, and the instant as its log writes it."""

    path: str
    received_at: str


class Listed(NamedTuple):
    """A row of the answer to a request, as text."""

    request_id: str
    values: tuple[str, ...]


_KEYS = {
    "lines": Key("codice", "lines.code_listed_once"),
    "stops": Key("ordine", "line_stops.sequence_ascends"),
    "news": Key("id", "news.id_listed_once"),
}


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
        """Return the answers in the log that a kind of fault changed."""
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
        """Return the quarantined rows of a dataset, one for each rule that a row broke."""
        return self._rows("quarantine", dataset, "*")

    def quarantined_by_rule(self) -> Counter[str]:
        """Count quarantined rows by dataset and rule."""
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
    report = rehearse(given, start, minutes / 60, transport=httpx2.ASGITransport(app))
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    return Rehearsed(folder / "data", report, rows)


def check_every_request_is_explained(rehearsed: Rehearsed) -> None:
    """Check that ledger and log hold the same attempts, and that each outcome fits the answer."""
    answered = _answered(rehearsed)
    attempts = Counter(key for row in rehearsed.ledger for key in _attempts(row))

    assert len(answered) == len(rehearsed.log)
    assert attempts == Counter(dict.fromkeys(answered, 1))
    assert len({row["request_id"] for row in rehearsed.ledger}) == len(rehearsed.ledger)
    assert {row["request_id"] for row in rehearsed.ledger} == set(rehearsed.raw)
    for row in rehearsed.ledger:
        made = list(_attempts(row))
        if row["outcome"] == "interrupted":  # it failed once, and its window ended before the second attempt
            assert not answered[made[0]]["is_complete"]
        elif made:
            assert row["outcome"] in _outcomes(row, answered[made[-1]])
            assert not any(answered[attempt]["is_complete"] for attempt in made[:-1])
        else:
            assert row["outcome"] == "not_sent"
            assert row["error"]


def check_lake_holds_the_good_answers(rehearsed: Rehearsed) -> None:
    """Check that each row of each good answer is in the lake or in quarantine, once, and nothing else is."""
    answered = _answered(rehearsed)
    good = [row for row in rehearsed.ledger if row["outcome"] == "ok"]
    expected: dict[str, Counter[Listed]] = {dataset: Counter() for dataset in DATASETS.values()}
    for row in good:
        body = rehearsed.raw[row["request_id"]]["body"]
        assert sha256(body.encode()).hexdigest() == answered[list(_attempts(row))[-1]]["sha256"]
        dataset = DATASETS[row["endpoint"]]
        for values, n in _listed(dataset, json.loads(body), row["key"]).items():
            expected[dataset][Listed(row["request_id"], values)] = n
    for dataset, rows in expected.items():
        kept = _kept(rehearsed, dataset)
        assert (dataset, list(rows - kept), list(kept - rows)) == (dataset, [], [])


def check_quarantine_holds_only_what_must_be_there(rehearsed: Rehearsed) -> None:
    """Check that only rows of a repeated key and answers without a list are in quarantine.

    A batch of lines without any line, and no other one, is rejected whole.
    """
    expected: Counter[str] = Counter()
    has_empty_lines = False
    for row in rehearsed.ledger:
        if row["outcome"] != "ok":
            continue
        body = json.loads(rehearsed.raw[row["request_id"]]["body"])
        if row["endpoint"] in _KEYS:
            expected.update(_repeated(row["endpoint"], body))
        if row["endpoint"] == "status" and "stato" not in body:
            expected["status.unreadable_answer"] += 1
        has_empty_lines |= row["endpoint"] == "lines" and not body

    rejected = [text for text in rehearsed.report.rejected if ": lines rejected by" not in text]
    assert rehearsed.quarantined_by_rule() == expected
    assert rejected == []
    assert has_empty_lines or rehearsed.report.rejected == []
    assert rehearsed.report.errors == []


def _repeated(endpoint: str, body: Json) -> Iterator[str]:
    """Yield, for each row of an answer whose key is repeated, the rule that it breaks."""
    field, rule = _KEYS[endpoint]
    lists = [body] if isinstance(body, list) else [body.get(name, []) for name in ("andata", "ritorno")]
    for rows in lists:
        counts = Counter(row[field] for row in rows)
        yield from (rule for row in rows if counts[row[field]] > 1)


def _answered(rehearsed: Rehearsed) -> dict[Attempt, Row]:
    return {Attempt(entry["path"], entry["now"]): entry for entry in rehearsed.log}


def _attempts(row: Row) -> Iterator[Attempt]:
    """Yield the attempts that a row of the ledger implies."""
    path = "/api/v1/" + PATHS[row["endpoint"]].format(row["key"])
    if row["endpoint"] == "status" and row["key"]:
        path += f"/categoria/{row['key']}"
    if row["outcome"] == "interrupted" or (row["attempts"] or 0) > 1:
        yield Attempt(path, _text(row["planned_at"]))
    if row["sent_at"] is not None and row["outcome"] != "interrupted":
        yield Attempt(path, _text(row["sent_at"]))


def _text(instant: datetime) -> str:
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000, tzinfo=UTC).isoformat()


def _outcomes(row: Row, entry: Row) -> set[str]:
    """Return the outcomes a request may have, from the faults in its answer."""
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
        if kind in _DAMAGED:
            return {_DAMAGED[kind]}
    if FaultKind.ERROR_ROW not in kinds or row["endpoint"] != "passages":
        return {"ok"}
    after = {
        FaultKind.VANISHING_ROWS, FaultKind.NO_PASSAGES, FaultKind.STUCK_ROWS, FaultKind.OLD_ANSWERS,
        FaultKind.FROZEN_ANSWERS, FaultKind.LIVE_TIMETABLE,
    }  # fmt: skip
    return {"error_row", "ok"} if after & set(kinds) else {"error_row"}


def _listed(dataset: str, body: Json, key: str) -> Counter[tuple[str, ...]]:
    """Count the rows that the lake should have of an answer, by their values as text."""
    return Counter(tuple(map(_plain, values)) for values in _ROWS[dataset](body, key))


def _fields(*names: str) -> Callable[[Json, str], Iterable[tuple[Json, ...]]]:
    return lambda rows, _key: [tuple(row.get(name) for name in names) for row in rows]


def _stops_in(body: Json, _key: str) -> Iterable[tuple[Json, ...]]:
    entries = [entry for value in body.values() if isinstance(value, list) for entry in value]
    return [(entry["codice_fermata"], entry["ordine"]) for entry in entries if "ordine" in entry]


def _departures_in(body: Json, _key: str) -> Iterable[tuple[Json, ...]]:
    legs = [(service["codice"], leg) for service in body["servizi"] for leg in service["tratte"].values()]
    return [(code, text) for code, leg in legs if leg["descrizione"] for text in leg["partenze"]]


_PASSAGE = _fields("linea", "orario", "attesa", "teorico", "id_corsa")
_EVENT = _fields("evento", "categoria", "causa", "messaggio", "data")
_ROWS: dict[str, Callable[[Json, str], Iterable[tuple[Json, ...]]]] = {
    "passages": lambda body, key: _PASSAGE(body["passaggi"], key),
    "status": lambda body, key: _EVENT(body.get("stato", []), key),
    "line_stops": _stops_in,
    "timetables": _departures_in,
    "lines": _fields("codice", "numero"),
    "news": _fields("id", "titolo"),
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


def _kept(rehearsed: Rehearsed, dataset: str) -> Counter[Listed]:
    """Count the rows in the lake and in quarantine, there once however many rules a row broke.

    An answer that could not be read is in quarantine as a whole: it has no rows.
    """
    quarantined = {row["row"] for row in rehearsed.quarantine(dataset) if row["rule"] != "unreadable_answer"}
    rows = rehearsed.lake(dataset, ", ".join(("request_id", *_COLUMNS[dataset])))
    return Counter(
        Listed(row["request_id"], tuple(_plain(row[name]) for name in _COLUMNS[dataset]))
        for row in (*rows, *map(json.loads, quarantined))
    )


def _plain(value: object) -> str:
    """Return a value as text, so that types do not matter; null is the empty text."""
    return "" if value is None else str(value).strip().lower()


def _lines(path: Path) -> list[str]:
    with path.open("rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file).read().decode().splitlines()
