import json
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import httpx2
import pytest

from tests.emulator.fixture_types import Send
from transit_emulator.app import create_app
from transit_emulator.process import first_answer, free_port, server_process
from transit_emulator.world import World

PROGRAM = """
from transit_emulator.app import create_app
from transit_emulator.server import serve
from transit_emulator.world import build_world
serve(create_app(build_world()), port={port})
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Serve the small network from a process of its own."""
    port = free_port()
    command = [sys.executable, "-c", PROGRAM.format(port=port)]
    with server_process(command, port, stderr=subprocess.PIPE) as server:
        yield f"http://127.0.0.1:{port}"
    assert server.process.stderr is not None
    assert server.process.stderr.read() == b"", "the server printed no errors"


def test_the_command_says_into_a_file_where_it_listens_once_it_does(tmp_path: Path) -> None:
    port, printed = free_port(), tmp_path / "printed"
    command = [str(Path(sys.executable).with_name("transit-etl")), "emulator", "--port", str(port)]
    with printed.open("wb") as file, subprocess.Popen(command, stdout=file) as process:
        try:
            first_answer(f"http://127.0.0.1:{port}/", lambda: process.poll() is None)
            text = printed.read_text()
        finally:
            process.terminate()

    assert f"TRANSIT_BASE_URL=http://127.0.0.1:{port}/api/v1/\n" in text
    assert "serving small, " in text


def test_the_emulator_answers_over_http(server: str) -> None:
    about = httpx2.get(f"{server}/").json()
    answer = httpx2.get(f"{server}/api/v1/passaggi/0100")

    assert about["network"] == "small"
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.json()["passaggi"]


def test_a_connection_may_be_reset(server: str) -> None:
    with pytest.raises((httpx2.ReadError, httpx2.RemoteProtocolError)):
        httpx2.get(f"{server}/api/v1/linee", headers={"X-Emulated-Fault": "connection_reset"})


def test_a_body_may_be_cut_off_before_its_content_length(server: str) -> None:
    whole = len(httpx2.get(f"{server}/api/v1/linee").content)
    headers = {"X-Emulated-Fault": "cut_off"}
    got = bytearray()

    def read() -> None:
        with httpx2.stream("GET", f"{server}/api/v1/linee", headers=headers) as answer:
            for piece in answer.iter_bytes():
                got.extend(piece)

    with pytest.raises(httpx2.RemoteProtocolError, match=f"received {whole // 2} bytes, expected {whole}"):
        read()
    assert len(got) == whole // 2


def test_the_request_log_has_one_line_per_answer_with_the_hash_of_its_body(
    world: World, send: Send, tmp_path: Path
) -> None:
    log = tmp_path / "requests.jsonl"
    app = create_app(world, log=log, limit_with_token=2)
    headers = {"Authorization": "Bearer demo-token", "X_Emulated_Now": "2026-03-04T07:00:00Z"}
    paths = ["/api/v1/passaggi/0100", "/api/v1/fermate/nope", "/api/v1/fermate/nope", "/api/v1/linee"]
    answers = [send(app, path, **headers) for path in paths[:3]] + [send(app, paths[3])]
    rows = [json.loads(line) for line in log.read_text().splitlines()]

    assert [row["path"] for row in rows] == paths
    assert [row["status"] for row in rows] == [200, 404, 429, 200]
    assert [row["caller"] for row in rows] == ["token", "token", "token", "address"]
    assert [row["sha256"] for row in rows] == [sha256(answer.content).hexdigest() for answer in answers]
    assert [row["n_bytes"] for row in rows] == [len(answer.content) for answer in answers]
    assert rows[0]["now"] == "2026-03-04T07:00:00+00:00"
    assert "demo-token" not in log.read_text()
