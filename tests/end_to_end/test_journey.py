"""From an upstream over HTTP to figures, compared with what really happened there."""

import hashlib
import json
import signal
import time
from collections import Counter, defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.collect.helpers import body_of, rows
from tests.journey import Journey
from transit_etl.paths import build_database, intents_files, open_raw_files

pytestmark = [pytest.mark.timeout(600)]
LIMIT, WINDOW_SECONDS = 300, 60


@pytest.fixture(scope="module")
def truth(journey: Journey) -> Path:
    """Return the folder of what really happened on the polled service date."""
    folder = journey.folder / "truth"
    day = journey.day.isoformat()
    process = journey.start("emulator", "truth", "--from", day, "--to", day, "--out", str(folder))
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return folder


def query_truth(query: str) -> list[dict[str, Any]]:
    """Query the files of the truth."""
    answer = duckdb.sql(query)
    assert answer is not None
    found: list[dict[str, Any]] = answer.to_arrow_table().to_pylist()
    return found


def checksums(journey: Journey) -> dict[str, str]:
    """Return a checksum of every lake file and of the rows of every table that models make."""
    lake = sorted(journey.data.glob("lake/**/*.parquet"))
    sums = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in lake}
    with duckdb.connect(build_database(journey.data), read_only=True) as warehouse:
        tables = warehouse.execute(
            "select table_schema || '.' || table_name from information_schema.tables "
            "where table_schema in ('intermediate', 'core', 'marts') and table_name != 'built_files'"
        ).fetchall()
        for (table,) in tables:
            content = warehouse.execute(f"select * from {table} order by all").fetchall()
            sums[table] = hashlib.sha256(repr(content).encode()).hexdigest()
    assert len(tables) > 10
    return sums


def test_every_answer_is_in_the_raw_files_once_byte_for_byte(journey: Journey) -> None:
    answered = Counter(answer["sha256"] for answer in journey.answers())
    landed = Counter(
        hashlib.sha256(body_of(row)).hexdigest() for row in rows(journey.data) if row["received_at"]
    )

    assert answered == landed
    assert answered.total() > 200


def test_no_minute_has_more_requests_than_allowed_and_none_was_refused(journey: Journey) -> None:
    answers = journey.answers()
    times = sorted(datetime.fromisoformat(answer["at"]).timestamp() for answer in answers)
    busiest = max(sum(start <= at < start + WINDOW_SECONDS for at in times) for start in times)

    assert {200} == {answer["status"] for answer in answers}
    assert LIMIT * 0.8 < busiest <= LIMIT


def test_the_warehouse_has_every_line_of_the_upstream(journey: Journey) -> None:
    lines = journey.sql("select count(distinct line_code) as n from core.lines where is_current")

    assert [{"n": journey.about["n_lines"]}] == lines


def test_the_warehouse_has_every_departure_of_the_day(journey: Journey, truth: Path) -> None:
    listed = query_truth(
        f"select line_code, direction, departure_at from '{truth}/timetable_departures.parquet' order by all"
    )
    known = journey.sql(
        "select line_code, direction, departure_at from core.scheduled_departures "
        f"where service_date = '{journey.day}' order by all"
    )
    expected = [{**row, "departure_at": row["departure_at"].isoformat()} for row in listed]

    assert expected
    assert expected == known


def test_an_evidenced_visit_happened_between_its_bounds(journey: Journey, truth: Path) -> None:
    passed_at = defaultdict(list)  # a circular line passes its first stop twice
    for row in query_truth(f"select trip_id, stop_code, passed_at from '{truth}/actual_passages.parquet'"):
        passed_at[row["trip_id"], row["stop_code"]].append(row["passed_at"])
    lost_trips = query_truth(
        f"select trip_id, lost_at from '{truth}/trips.parquet' "
        f"where service_date = '{journey.day}' and lost_at is not null"
    )
    # a bus whose tracking is lost between two polls looks like one that passed
    lost_at = {row["trip_id"]: row["lost_at"] for row in lost_trips}
    visits = journey.sql(
        "select trip_id, stop_code, passed_after, passed_before from core.stop_visits "
        f"where arrival_quality = 'evidenced' and service_date = '{journey.day}'"
    )

    assert len(visits) >= 3
    for visit in visits:
        after, before = (datetime.fromisoformat(visit[side]) for side in ("passed_after", "passed_before"))

        lost = lost_at.get(visit["trip_id"])
        assert (lost is not None and after <= lost <= before) or any(
            after <= at <= before for at in passed_at[visit["trip_id"], visit["stop_code"]]
        ), visit


def test_open_disruptions_are_those_the_upstream_lists(journey: Journey, truth: Path) -> None:
    ended = journey.sql("select max(received_at) as at from core.requests where endpoint = 'status'")[0]["at"]
    listed = query_truth(
        f"select message from '{truth}/event_versions.parquet' semi join "
        f"(from '{truth}/event_listings.parquet' where listed_from <= '{ended}' and listed_to > '{ended}') "
        f"using (event_id) where valid_from <= '{ended}' and valid_to > '{ended}' order by 1"
    )

    assert listed == journey.sql("select message from core.status_episodes where is_open order by message")


def test_every_listed_news_item_has_its_text(journey: Journey) -> None:
    counts = journey.sql("select count(*) as n, count(content) as n_texts from core.news where is_current")[0]

    assert counts["n"] > 0
    assert counts["n"] == counts["n_texts"]


def test_the_status_counts_every_request_and_has_nothing_left_to_stage(journey: Journey) -> None:
    status = journey.run("status")
    sent = {usage["kind"]: usage["n_sent"] for usage in status["usage"]}

    assert sum(row["sent_at"] is not None for row in rows(journey.data)) == sum(sent.values())
    assert {} == status["waiting"]
    assert [] == status["rejected"]
    assert status["published_build"] is not None


@pytest.mark.long
def test_staging_building_and_publishing_again_changes_nothing(journey: Journey) -> None:
    before = checksums(journey)
    again = journey.run("stage"), journey.run("build"), journey.run("publish")

    assert 0 == again[0]["windows"]
    assert 0 == again[1]["n_dates"]
    assert before == checksums(journey)


@pytest.mark.long
def test_reprocessing_the_day_from_raw_gives_the_same_tables(journey: Journey) -> None:
    before = checksums(journey)
    journey.run("reprocess", "--from", journey.day.isoformat(), "--to", journey.day.isoformat())
    journey.run("publish")

    assert before == checksums(journey)


def test_a_terminated_collection_keeps_what_it_received(journey: Journey) -> None:
    n_before, n_answers = len(rows(journey.data)), len(journey.answers())
    process = journey.start("collect", "passages", "--for", "10m", "--json")
    deadline = time.monotonic() + 60
    while len(journey.answers()) < n_answers + 3:
        assert time.monotonic() < deadline, "the collection sends no requests"
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=30)
    report = json.loads(output)

    assert process.returncode == 130
    assert "" == errors
    assert report["is_stopped"]
    assert report["planned"] > 0
    assert n_before + report["planned"] == len(rows(journey.data))
    assert [] == [*open_raw_files(journey.data), *intents_files(journey.data)]
