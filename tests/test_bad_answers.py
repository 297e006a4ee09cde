"""All kinds of bad answers: the outcome of each in the ledger, and that the collection goes on."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import hostile
from tests.collect.helpers import NOON, body_of, rows, write_lake, write_network
from tests.hostile import Reply, http, json_reply, serving
from transit_emulator.process import free_port
from transit_etl.clock import VirtualClock
from transit_etl.collect import CollectReport, collect
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.collect.known_network import NothingKnownError
from transit_etl.collect.raw.rawfile import DataFolderError
from transit_etl.settings import Settings

BAD_LINE, GOOD_LINE, BAD_STOP, GOOD_STOP = "666-00", "015-00", "0666", "0001"
HEALTHY = {
    "linee": [{"codice": GOOD_LINE, "numero": "15", "attiva": True}],
    "fermate": {"codice_linea": GOOD_LINE, "andata": []},
    "passaggi": {"codice_fermata": GOOD_STOP, "timestamp": "2026-03-04T07:00:00.000Z", "passaggi": []},
    "stato_servizio": {"stato": []},
    "news": [],
}
ERROR_PAGE = b"<!DOCTYPE html><html><body>Servizio non disponibile</body></html>"
SHORT_BODY = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"
ERR_ROW = {"codice_fermata": BAD_STOP, "timestamp": "x", "passaggi": [{"linea": "*ERR*", "orario": ""}]}


@dataclass(frozen=True)
class Bad:
    """Something bad, the dataset it comes in and the outcome it has; `body` is what raw keeps of it."""

    name: str
    reply: Reply
    outcome: str
    dataset: str = "stops"
    body: bytes | None = None


def text(name: str, body: bytes, outcome: str, dataset: str = "stops", status: str = "200 OK") -> Bad:
    return Bad(name, http(body, status), outcome, dataset, body)


TABLE = [
    text("an empty 200", b"", "empty_body"),
    text("an empty 200 for a stop", b"", "empty_body", "passages"),
    text("only blanks", b" \r\n ", "empty_body"),
    Bad("a 204", hostile.raw(b"HTTP/1.1 204 No Content\r\n\r\n"), "no_content", body=b""),
    text("truncated JSON", b'{"codice_linea": "666-00", "andata": [{"ordine"', "not_json"),
    text("no JSON", b"ciao", "not_json"),
    text("an HTML error page with 200", ERROR_PAGE, "not_json"),
    text("an HTML error page with 502", ERROR_PAGE, "server_error", status="502 Bad Gateway"),
    text("bytes that are no text", b"\xff\xfe{\x00}\x00", "not_json"),
    text("not a number", b'{"codice_linea": NaN}', "not_json"),
    text("too deep", b"[" * 200_000, "not_json"),
    text("null", b"null", "wrong_shape"),
    text("a bare string", b'"andata"', "wrong_shape"),
    text("a message instead of stops", b'{"message": "Too busy"}', "wrong_shape"),
    text("an object instead of lines", b'{"linee": []}', "wrong_shape", "lines"),
    text("numbers instead of lines", b"[1, 2, 3]", "wrong_shape", "lines"),
    text("no list of passages", b'{"codice_fermata": "0666"}', "wrong_shape", "passages"),
    text("passages of the wrong type", b'{"passaggi": "none"}', "wrong_shape", "passages"),
    text("passages that are numbers", b'{"passaggi": [1, 2]}', "wrong_shape", "passages"),
    text("a status that is a message", b'{"errore": "x"}', "wrong_shape", "status"),
    text("news that are an object", b'{"id": 1}', "wrong_shape", "news"),
    Bad("an *ERR* row", json_reply(ERR_ROW), "error_row", "passages", json.dumps(ERR_ROW).encode()),
    text("an unknown line", b'{"error": "unknown"}', "client_error", status="404 Not Found"),
    text("an unknown stop", b'{"error": "unknown"}', "client_error", "passages", "404 Not Found"),
    text("a 400", b"", "client_error", status="400 Bad Request"),
    text("a 401", b"", "client_error", status="401 Unauthorized"),
    text("a redirection", b"", "client_error", status="302 Found"),
    text("a 500", b"", "server_error", status="500 Internal Server Error"),
    Bad("a connection that is reset", hostile.reset, "connection_error"),
    Bad("a reset inside the body", hostile.reset_in_the_body, "connection_error", body=b'{"codice_linea'),
    Bad("a body that is cut off", hostile.raw(SHORT_BODY), "connection_error", body=b"{}"),
    Bad("something that is not HTTP", hostile.raw(b"SSH-2.0-OpenSSH\r\n\r\n"), "connection_error"),
    Bad("no answer at all", hostile.never_answer, "timeout"),
    Bad("a body that drips", hostile.drip, "timeout"),
    Bad("a huge body", hostile.huge, "too_large"),
]  # fmt: skip


@pytest.mark.parametrize("bad", TABLE, ids=lambda bad: bad.name)
def test_a_bad_answer_has_its_outcome_and_the_collection_goes_on(tmp_path: Path, bad: Bad) -> None:
    write_network(tmp_path, {BAD_LINE: [BAD_STOP], GOOD_LINE: [GOOD_STOP]})
    n_bad = 0

    def choose(path: str) -> Reply:
        nonlocal n_bad
        group, _, key = path.removeprefix("/api/v1/").partition("/")
        if key in (BAD_LINE, BAD_STOP) or (
            not key and bad.dataset in ("lines", "news", "status") and n_bad == 0
        ):
            n_bad += 1
            return bad.reply
        return json_reply(HEALTHY[group])

    with serving(choose) as base_url:
        report = collect_here(
            tmp_path, base_url, bad.dataset, seconds=2 if bad.dataset == "passages" else 1.3
        )

    landed = rows(tmp_path)
    found = [row for row in landed if row["outcome"] == bad.outcome]
    assert found, report
    assert {"ok", bad.outcome} >= {row["outcome"] for row in landed} - {"not_sent", "interrupted"}
    assert any(row["outcome"] == "ok" for row in landed)
    if bad.body is not None:
        assert bad.body == body_of(found[0])
    assert len(landed) == report.planned == len({row["request_id"] for row in landed})


def test_a_storm_of_429_slows_the_run_and_is_all_in_the_ledger(tmp_path: Path) -> None:
    write_network(tmp_path, {GOOD_LINE: [GOOD_STOP]})
    for headers in ((), ("Retry-After: 1",), ("Retry-After: soon",), ("Retry-After: -5",)):
        folder = tmp_path / (headers[0][13:] if headers else "none")
        write_network(folder, {GOOD_LINE: [GOOD_STOP]})
        with serving(lambda _, h=headers: http(b"", "429 Too Many Requests", *h)) as base_url:  # type: ignore[misc]
            report = collect_here(folder, base_url, "passages", seconds=2)

        assert {"rate_limited"} == set(report.outcomes), headers
        assert report.planned == len(rows(folder)) <= 5
        assert report.is_failure


def test_a_base_address_that_does_not_answer_is_a_failure_and_in_the_ledger(
    tmp_path: Path,
) -> None:
    write_network(tmp_path, {GOOD_LINE: [GOOD_STOP]})

    report = collect_here(tmp_path, f"http://127.0.0.1:{free_port()}/api/v1/", "passages", seconds=2)

    assert report.is_failure
    assert {"connection_error"} == set(report.outcomes)
    assert report.planned == len(rows(tmp_path)) <= 5
    assert any("connection_error" in warning for warning in report.warnings)


def test_a_host_that_does_not_exist_is_a_failure_too(tmp_path: Path) -> None:
    report = collect_here(tmp_path, "http://nowhere.invalid/api/v1/", "lines", seconds=1)

    assert report.is_failure
    assert {"connection_error"} == {row["outcome"] for row in rows(tmp_path)} - {"not_sent"}


def test_a_data_folder_that_cannot_be_written_is_named_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file, in which no folder can be made")
    folder = tmp_path / "file" / "data"
    asked: list[str] = []

    def choose(path: str) -> Reply:
        asked.append(path)
        return json_reply([])

    with serving(choose) as base_url, pytest.raises(DataFolderError, match=f"data folder {folder}"):
        collect_here(folder, base_url, "lines")
    assert [] == asked


def test_a_line_code_that_cannot_be_asked_for_is_not_asked_and_in_the_ledger(tmp_path: Path) -> None:
    write_lake(tmp_path, "lines", [{"line_code": code} for code in ("../../etc", "", "015 00", GOOD_LINE)])
    asked: list[str] = []

    def choose(path: str) -> Reply:
        asked.append(path)
        return json_reply(HEALTHY["fermate"])

    with serving(choose) as base_url:
        collect_here(tmp_path, base_url, "stops")

    assert [f"/api/v1/fermate/{GOOD_LINE}"] == asked
    outcomes = {row["key"]: row["outcome"] for row in rows(tmp_path)}
    bad = dict.fromkeys(["../../etc", "", "015 00"], "bad_identifier")
    assert {GOOD_LINE: "ok", **bad} == outcomes


def test_a_network_without_one_usable_stop_says_so(tmp_path: Path) -> None:
    write_network(tmp_path, {GOOD_LINE: ["?", "no stop"]})

    with pytest.raises(NothingKnownError, match="no known stop"):
        collect_here(tmp_path, "http://127.0.0.1:1/api/v1/", "passages")


def collect_here(folder: Path, base_url: str, dataset: str, seconds: float | None = None) -> CollectReport:
    settings = Settings(
        data_dir=folder,
        base_url=base_url,
        rate_per_minute=600,
        connect_timeout_seconds=1.5,
        read_timeout_seconds=1.5,
        total_timeout_seconds=2.5,
        max_body_bytes=1_000_000,
        status_interval_seconds=5,
    )
    return collect(settings, dataset, seconds=seconds, clock=VirtualClock(NOON), store=MemoryStore())
