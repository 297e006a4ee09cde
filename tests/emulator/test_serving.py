import json
import socket
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import httpx

from tests.emulator.asking import Send
from transit_etl.emulator.app import create_app
from transit_etl.emulator.world import World

PROGRAM = """
from transit_etl.emulator.app import create_app
from transit_etl.emulator.server import serve
from transit_etl.emulator.world import build_world
serve(create_app(build_world()), port={port})
"""


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def wait_for(url: str, process: subprocess.Popen[bytes]) -> httpx.Response:
    """Ask until the server answers."""
    for _ in range(300):
        assert process.poll() is None, "the server ended"
        try:
            return httpx.get(url)
        except httpx.ConnectError:
            time.sleep(0.1)
    raise TimeoutError(url)


def test_it_is_served_over_http() -> None:
    port = free_port()
    with subprocess.Popen([sys.executable, "-c", PROGRAM.format(port=port)]) as process:
        try:
            about = wait_for(f"http://127.0.0.1:{port}/", process).json()
            answer = httpx.get(f"http://127.0.0.1:{port}/api/v1/passaggi/0100")
        finally:
            process.terminate()

    assert about["network"] == "small"
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.json()["passaggi"]


def test_the_log_has_a_line_per_answer_with_the_hash_of_its_body(
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
