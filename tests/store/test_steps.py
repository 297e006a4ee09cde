"""Every step takes in what others published, and publishes what it changed; without a store it goes on."""

import json
import logging
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from tests.collect.upstream import START, Upstream, collect_from
from tests.operations.check.installation import healthy
from tests.store.hosts import Host, host
from tests.store.server import Fault, Proxy
from transit_etl.cli.output import PlainConsole
from transit_etl.operations import read_status, show_status
from transit_etl.operations.check import check, examine
from transit_etl.operations.metrics import metrics_text
from transit_etl.paths import last_sync_file, raw_files
from transit_etl.settings import Settings
from transit_etl.stage import compact, restage, stage
from transit_etl.store.machine import machine_id
from transit_etl.store.sync import sync

DAY: date = START.date()
CLI = [sys.executable, "-m", "transit_etl.cli"]


def away(proxy: Proxy) -> None:
    """Let the store be away from now on."""
    proxy.choose = lambda _method, _path: Fault.REFUSE


def collected(each: Host) -> Host:
    collect_from(Upstream(), each.settings, "lines")
    return each


def test_what_one_host_collects_another_one_stages_compacts_and_stages_again(
    tmp_path: Path, url: str
) -> None:
    a, b = collected(host(tmp_path / "a", url)), host(tmp_path / "b", url)
    [window] = raw_files(a.root)
    assert f"-{machine_id(a.root)}-" in window.name
    staged_by_b = stage(b.settings)
    compact(b.settings, DAY)
    staged_by_a = stage(a.settings)
    again = restage(a.settings, DAY, DAY)

    assert (1, 0, 1) == (staged_by_b.windows, staged_by_a.windows, again.windows)
    assert [window.name.partition(".")[0]] == b.merged(DAY)
    assert a.files() == b.files()


def test_a_day_of_which_raw_files_are_elsewhere_is_not_staged_again(
    tmp_path: Path, url: str, proxy: Proxy
) -> None:
    a, b = host(tmp_path / "a", url), host(tmp_path / "b", url)
    a.land("w1", DAY)
    a.stage()
    a.sync()
    b.land("w2", DAY)
    b.stage()
    b.sync()
    before = b.files()
    away(proxy)
    report = restage(b.settings, DAY, DAY)

    assert before == b.files()
    assert "stays as it is" in report.errors[0]


def test_a_host_collects_what_is_known_from_what_another_one_staged(tmp_path: Path, url: str) -> None:
    a, b = collected(host(tmp_path / "a", url)), host(tmp_path / "b", url)
    stage(a.settings)
    report = collect_from(Upstream(), b.settings, "stops")

    assert report.received
    assert a.files() == b.files()


def test_a_collection_without_the_store_warns_and_keeps_everything(
    tmp_path: Path, url: str, proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    away(proxy)
    a = host(tmp_path / "a", url)
    report = collect_from(Upstream(), a.settings, "lines")
    warnings = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]

    assert 1 == report.received
    assert 1 == len([text for text in warnings if "1 raw files and 0 days of the lake wait" in text])


def test_a_step_asks_an_absent_store_once(tmp_path: Path, url: str, proxy: Proxy) -> None:
    a = host(tmp_path / "a", url)
    a.land("w1")
    a.stage()
    away(proxy)
    compact(a.settings, DAY)
    n_refused = proxy.n_faults[Fault.REFUSE]
    proxy.n_faults.clear()
    with pytest.raises(Exception, match="cannot be used"):
        a.sync()

    assert 2 * proxy.n_faults[Fault.REFUSE] > n_refused


def test_status_and_check_say_what_waits(tmp_path: Path, url: str, proxy: Proxy) -> None:
    settings = healthy(Settings(data_dir=tmp_path, lake_url=url))
    before = [each for each in check(settings) if each.name == "store"]
    sync(settings)
    after = [each for each in check(settings) if each.name == "store"]
    away(proxy)
    last = json.loads(last_sync_file(tmp_path).read_text())
    last_sync_file(tmp_path).write_text(
        json.dumps(last | {"at": "2026-01-01T00:00:00Z", "error": "it is away"})
    )
    [problem] = [each for each in check(settings) if each.name == "store"]
    console = PlainConsole(width=200)
    with console.capture() as shown:
        show_status(read_status(settings), console)
    metrics = metrics_text(settings, examine(settings, sends_alerts=False)).splitlines()

    assert "last compared never" in before[0].text
    assert [] == after
    assert "it is away" in problem.text
    for figure in ("store_raw_files_waiting", "store_days_waiting", "store_timestamp_seconds"):
        assert [line for line in metrics if line.startswith(f"transit_etl_{figure}{{")]
    assert "for the object store; last compared" in shown.get()
    assert "it is away" in shown.get()


def test_a_host_that_has_the_lake_of_another_one_is_not_called_empty(tmp_path: Path, url: str) -> None:
    a, b = host(tmp_path / "a", url), host(tmp_path / "b", url)
    a.land("w1")
    a.stage()
    before = {each.name for each in examine(b.settings, asks=False).problems}
    a.sync()
    b.sync()
    after = {each.name for each in examine(b.settings, asks=False).problems}

    assert set() == b.raw()
    assert (True, False) == ("empty" in before, "empty" in after)
    assert "answers_status" in after - before  # what is too old is looked for


def test_the_command_says_what_it_did_and_fails_without_the_store(
    tmp_path: Path, url: str, proxy: Proxy
) -> None:
    a = host(tmp_path / "a", url)
    a.land("w1")
    a.stage()

    def run() -> subprocess.CompletedProcess[str]:
        ours = {"TRANSIT_DATA_DIR": str(a.root), "TRANSIT_OPERATOR": "x", "TRANSIT_LAKE_URL": url}
        return subprocess.run(
            [*CLI, "sync", "--json"], env={**os.environ, **ours}, capture_output=True, text=True, check=False
        )

    done = run()
    away(proxy)
    failed = run()

    assert (0, 1) == (done.returncode, failed.returncode), done.stderr
    assert (1, 1, 0) == tuple(
        json.loads(done.stdout)[name] for name in ("n_raw_sent", "n_days_published", "n_days_waiting")
    )
    assert [f"transit-etl: the object store {url} cannot be used"] == [
        line[: line.index(" used") + 5] for line in failed.stderr.splitlines()
    ]
