import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.collect.helpers import NOON, STOP, answer, landing_at
from transit_etl.api.exchange import Answer, Outcome
from transit_etl.collect.replay import recent_answers

BODY = json.dumps({"passaggi": [{"linea": "1", "orario": "13:05:00", "teorico": False}]}).encode()


def replayed(folder: Path, now: datetime) -> list[Answer]:
    return list(recent_answers(folder, "emulated", now))


def land(folder: Path, at: datetime, body: bytes = BODY, outcome: Outcome = Outcome.OK) -> None:
    with landing_at(folder, at) as landing:
        landing.land(landing.plan(STOP), answer(at, body, outcome=outcome))


def test_the_last_hours_answers_come_oldest_first(tmp_path: Path) -> None:
    for minutes in (90, 10, 30):
        land(tmp_path, NOON - timedelta(minutes=minutes))

    expected = [NOON - timedelta(minutes=minutes) for minutes in (30, 10)]

    assert expected == [each.received_at for each in replayed(tmp_path, NOON)]
    assert [BODY, BODY] == [each.body for each in replayed(tmp_path, NOON)]


def test_answers_of_before_midnight_are_found_after_it(tmp_path: Path) -> None:
    midnight = datetime(2026, 3, 5, tzinfo=UTC)
    land(tmp_path, midnight - timedelta(minutes=5))

    assert 1 == len(replayed(tmp_path, midnight + timedelta(minutes=5)))


def test_bad_answers_are_replayed_as_bad_and_unsent_requests_not_at_all(tmp_path: Path) -> None:
    land(tmp_path, NOON, outcome=Outcome.SERVER_ERROR)
    with landing_at(tmp_path) as landing:
        landing.skip(landing.plan(STOP), "no permit")
        landing.plan(STOP)

    assert [Outcome.SERVER_ERROR] == [each.outcome for each in replayed(tmp_path, NOON)]


def test_without_raw_files_nothing_is_replayed(tmp_path: Path) -> None:
    assert [] == replayed(tmp_path, NOON)
