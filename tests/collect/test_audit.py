"""The audit takes its share of a collection, and every visit drawn is in the ledger."""

import json
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.collect.helpers import rows, write_lake, write_network
from tests.collect.test_audit_draws import departures
from tests.collect.upstream import START, Upstream, collect_from, settings_at
from transit_etl.collect import datasets
from transit_etl.collect.audit import Audit
from transit_etl.collect.audit_draws import audit_draws
from transit_etl.collect.isolation import Failures
from transit_etl.collect.passage_parser import PassageParser
from transit_etl.collect.planning.audit_sample import AuditSample
from transit_etl.collect.planning.audit_watch import Draw
from transit_etl.collect.planning.policy import Rotation
from transit_etl.collect.sources import Passages

STOPS = {"015-00": [f"{number:04}" for number in range(1, 21)]}
DEPARTURES = [START.replace(tzinfo=None) + timedelta(minutes=minute) for minute in range(-30, 90, 10)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a data folder with the timetable of a line of twenty stops."""
    write_network(tmp_path, STOPS)
    write_lake(tmp_path, "timetables", departures("015-00", DEPARTURES), at=START - timedelta(hours=1))
    return tmp_path


def collected(folder: Path, seconds: float = 600, **settings: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    collect_from(Upstream(), settings_at(folder, **settings), "passages", seconds=seconds)
    return rows(folder)


def draws_of(row: dict[str, Any]) -> list[tuple[str, int]]:
    return [(draw["departure_at"], draw["position"]) for draw in json.loads(row["draws"] or "[]")]


def test_the_audit_takes_at_most_its_share_of_the_requests(folder: Path) -> None:
    landed = collected(folder)
    sent = [row for row in landed if row["outcome"] != "not_sent"]
    n_audit = sum(row["purpose"] == "audit" for row in sent)

    assert 0 < n_audit <= 0.1 * len(sent)
    assert {"audit", None} == {row["purpose"] for row in sent}


def test_every_request_names_the_visits_that_its_answer_is_about(folder: Path) -> None:
    landed = collected(folder)
    stops = STOPS["015-00"]

    assert all(draws_of(row) for row in landed if row["purpose"] == "audit")
    assert any(draws_of(row) for row in landed if row["purpose"] is None)
    assert all(stops[position - 1] == row["key"] for row in landed for _, position in draws_of(row))


def test_a_visit_that_got_no_request_is_in_the_ledger_as_not_sent(folder: Path) -> None:
    landed = collected(folder, seconds=8)  # too short to ask about all that is due
    unsent = [row for row in landed if row["outcome"] == "not_sent"]
    asked = {draw for row in landed if row["outcome"] != "not_sent" for draw in draws_of(row)}

    assert unsent
    assert {("audit", 1)} == {(row["purpose"], len(draws_of(row))) for row in unsent}
    assert {"the audit did not get to it"} == {row["error"][:27] for row in unsent}
    assert not asked & {draw for row in unsent for draw in draws_of(row)}
    assert all(row["planned_at"] <= "2026-03-04T07:00:08" for row in unsent)


def test_without_a_share_the_requests_are_those_of_the_planner_alone(folder: Path) -> None:
    plain = folder / "plain"
    write_network(plain, STOPS)  # without a timetable there is nothing to draw from
    with_timetable = [(row["planned_at"], row["key"]) for row in collected(folder, audit_share=0)]

    assert with_timetable == [(row["planned_at"], row["key"]) for row in collected(plain)]
    assert {(None, None)} == {(row["purpose"], row["draws"]) for row in rows(plain)}


def test_a_failure_of_the_audit_costs_the_audit_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_more: object) -> list[Draw]:
        raise ZeroDivisionError("nobody thought of this")

    monkeypatch.setattr(datasets, "audit_draws", fail)
    report = collect_from(Upstream(), settings_at(folder), "passages", seconds=60)

    assert {"ok": report.planned} == report.outcomes
    assert any("drawing the audit sample failed" in warning for warning in report.warnings)


def test_a_stop_that_cannot_be_asked_is_not_drawn(tmp_path: Path) -> None:
    write_network(tmp_path, {"015-00": ["0001", "../2", "0003"]})
    write_lake(tmp_path, "timetables", departures("015-00", DEPARTURES), at=START - timedelta(hours=1))
    report = collect_from(Upstream(), settings_at(tmp_path), "passages", seconds=600)

    assert {"0001", "0003"} == {row["key"] for row in rows(tmp_path) if row["purpose"] == "audit"}
    assert not any("audit" in warning for warning in report.warnings)


def worker(draws: list[Draw]) -> Passages:
    """Return the source of one of several workers, which all watch the same draws with all their requests."""
    policy, failures = Rotation(["9999"]), Failures()
    sample = AuditSample(1.0, policy.running_seconds)
    audit = Audit(sample, lambda *_: draws, policy, failures, timedelta(hours=1))
    return Passages(policy, PassageParser(settings_at(Path()).zone), audit=audit)


def test_two_workers_watch_a_visit_once(folder: Path) -> None:
    draws = audit_draws(settings_at(folder), START, START + timedelta(minutes=30), 1.0)
    workers = [worker(draws), worker(draws)]
    leased: set[str] = set()
    chosen: Counter[str] = Counter()
    for number in range(20):
        request = workers[number % 2].choose(START, leased)
        if request.purpose is not None:
            chosen[request.key] += 1
            leased.add(request.key)

    assert chosen
    assert {1} == set(chosen.values())
