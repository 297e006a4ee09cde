"""Runs of dbt are told to a receiver of OpenLineage events where one is named, and to nobody else."""

import logging
import os
import shutil
import subprocess
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.lineage_receiver import Event, receiving
from transit_emulator.process import free_port
from transit_etl import paths
from transit_etl.settings import Settings
from transit_etl.warehouse.building import dbt, lineage
from transit_etl.warehouse.building.lineage import is_switched_on, send_lineage


@pytest.fixture
def artifacts(built: Settings) -> Path:
    """Return what dbt left of the build of the stories."""
    return paths.dbt_manifest(built.data_dir).parent


def _send(settings: Settings, artifacts: Path, **variables: str) -> None:
    send_lineage(artifacts, "build", paths.build_database(settings.data_dir), {**os.environ, **variables})


def _names(event: Event, side: str) -> set[str]:
    return {each["name"].partition(".")[2] for each in event[side]}


def test_every_model_is_told_with_what_it_reads_and_writes(built: Settings, artifacts: Path) -> None:
    with receiving() as (url, events):
        _send(built, artifacts, OPENLINEAGE_URL=url, OPENLINEAGE_NAMESPACE="testville")
    done = [event for event in events if event["eventType"] == "COMPLETE"]
    [punctuality] = [event for event in done if event["job"]["name"].endswith(".punctuality.build.run")]
    namespaces = {each["namespace"] for event in done for each in (*event["inputs"], *event["outputs"])}

    assert {"core.stop_visits", "core.trip_trajectories"} == _names(punctuality, "inputs")
    assert {"marts.punctuality"} == _names(punctuality, "outputs")
    assert {"testville"} == {event["job"]["namespace"] for event in events}
    assert {f"duckdb://{paths.build_database(built.data_dir).resolve()}"} == namespaces
    assert len(done) > 100


@pytest.mark.long
def test_a_model_that_failed_is_told_as_failed(built: Settings, artifacts: Path, tmp_path: Path) -> None:
    for name in ("manifest.json", "run_results.json"):
        shutil.copy(artifacts / name, tmp_path)
    results = tmp_path / "run_results.json"
    results.write_text(results.read_text().replace('"status": "success"', '"status": "error"', 1))
    with receiving() as (url, events):
        _send(built, tmp_path, OPENLINEAGE_URL=url)

    assert 1 == sum(event["eventType"] == "FAIL" for event in events)


@pytest.mark.parametrize(
    ("variables", "is_on"),
    [
        ({}, False),
        ({"OPENLINEAGE_URL": ""}, False),
        ({"OPENLINEAGE_NAMESPACE": "testville"}, False),
        ({"OPENLINEAGE_URL": "http://localhost"}, True),
        ({"OPENLINEAGE_CONFIG": "/etc/openlineage.yml"}, True),
        ({"OPENLINEAGE__TRANSPORT__TYPE": "console"}, True),
        ({"OPENLINEAGE_URL": "http://localhost", "OPENLINEAGE_DISABLED": "true"}, False),
    ],
)
def test_variables_of_openlineage_switch_it_on(variables: Mapping[str, str], *, is_on: bool) -> None:
    assert is_on is is_switched_on(variables)


def test_without_them_nothing_is_started(
    built: Settings, artifacts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_options: pytest.fail("a program was started"))

    _send(built, artifacts)


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}", "http://[", "nonsense", "http://127.0.0.1:70000"])
def test_a_receiver_that_is_not_there_is_one_line_in_the_log(
    built: Settings, artifacts: Path, caplog: pytest.LogCaptureFixture, url: str
) -> None:
    with caplog.at_level(logging.WARNING):
        _send(built, artifacts, OPENLINEAGE_URL=url.format(port=free_port()))

    [message] = caplog.messages
    assert message.startswith("no lineage events were sent: ")
    assert "\n" not in message


@pytest.mark.long
def test_a_receiver_that_refuses_is_given_up_after_a_time(
    built: Settings, artifacts: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lineage, "_SECONDS", 4)
    with receiving(status=500) as (url, _), caplog.at_level(logging.WARNING):
        _send(built, artifacts, OPENLINEAGE_URL=url)

    [message] = caplog.messages
    assert message.startswith("not all lineage events were sent: ")


def test_a_missing_package_is_named(
    built: Settings, artifacts: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lineage, "find_spec", lambda _name: None)
    with caplog.at_level(logging.WARNING):
        _send(built, artifacts, OPENLINEAGE_URL="http://localhost:1")

    assert ["pip install 'transit-etl[lineage]'" in message for message in caplog.messages] == [True]


@pytest.mark.parametrize("fails", [False, True])
def test_each_run_of_dbt_is_told_whether_it_passes_or_fails(
    built: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    told: list[tuple[Any, ...]] = []

    def run(*_args: object, **_options: object) -> list[dict[str, Any]]:
        if fails:
            raise dbt.BuildFailedError("a check failed")
        return []

    monkeypatch.setattr(dbt, "_run", run)
    monkeypatch.setattr(dbt, "send_lineage", lambda *args: told.append(args[:2]))
    place = dbt.Workplace(tmp_path, tmp_path / "build.duckdb", 1, 1, 10)
    day = date(2026, 3, 2)
    try:
        dbt.run(built, day, day, is_full=False, lock=0, place=place)
    except dbt.BuildFailedError:
        assert fails

    assert [(tmp_path / "target", "build")] == told
