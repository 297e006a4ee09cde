"""The notebook in a browser: as an app that shows the line that is chosen, and in the editor of marimo."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.documents.sessions import ROOT
from tests.warehouse.rehearsed import Rehearsed
from transit_etl.paths import published_database

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(600)]
PATIENCE = 120_000  # milliseconds, on a busy machine


NOTEBOOK = ROOT / "docs" / "notebooks" / "punctuality.py"


@contextmanager
def _served(mode: str, notebook: Path, data_dir: Path, home: Path) -> Iterator[str]:
    """Serve a notebook for a data folder, to `run` or to `edit`, and give its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["-m", "marimo", mode, "--headless", "--no-token", "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(
        [sys.executable, *command, str(notebook)],
        env={**os.environ, "TRANSIT_DATA_DIR": str(data_dir), "HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert server.stdout is not None
        assert any("URL" in line for line in server.stdout)
        _wait_for(port)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait()


def _wait_for(port: int) -> None:
    """Return once a server accepts connections; marimo names the address before it does."""
    for _ in range(600):
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise AssertionError(f"nothing listens on {port}")


def test_another_line_is_shown_at_once_and_a_missing_file_until_one_is_named(
    page: Page, requests_elsewhere: list[str], rehearsed: Rehearsed, tmp_path: Path
) -> None:
    with _served("run", NOTEBOOK, tmp_path, tmp_path) as address:
        page.goto(address)
        message = page.get_by_text(f"nothing is published at {published_database(tmp_path)} yet")
        expect(message).to_be_visible(timeout=PATIENCE)

        field = page.get_by_label("Published file")
        field.fill(str(published_database(rehearsed.settings.data_dir)))
        field.press("Enter")
        expect(page.get_by_text("of the passages of all lines")).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_role("heading", name="By date: all lines")).to_be_visible()
        expect(page.locator("svg.marks, canvas.marks")).to_have_count(2, timeout=PATIENCE)
        assert not message.is_visible()

        page.get_by_label("Line").click()
        page.get_by_role("option").nth(1).click()
        expect(page.get_by_text("of the passages of line ")).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_role("heading", name="By hour: line ")).to_be_visible()

    assert [] == requests_elsewhere


def test_the_editor_runs_every_cell(page: Page, rehearsed: Rehearsed, tmp_path: Path) -> None:
    notebook = tmp_path / "notebook.py"  # the editor writes beside it
    notebook.write_bytes(NOTEBOOK.read_bytes())
    with _served("edit", notebook, rehearsed.settings.data_dir, tmp_path) as address:
        page.goto(address)
        expect(page.locator(".cm-content").first).to_be_visible(timeout=PATIENCE)
        page.keyboard.press("Control+Shift+r")
        expect(page.get_by_text("of the passages of all lines")).to_be_visible(timeout=PATIENCE)
        expect(page.locator("svg.marks, canvas.marks")).to_have_count(2, timeout=PATIENCE)
