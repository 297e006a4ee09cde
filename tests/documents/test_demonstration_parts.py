"""What a reader of the demonstration sees first, while it works, and at its end."""

import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb

from scripts.demo_findings import ANSWERS, DISRUPTIONS
from scripts.demo_runs import task_under_way
from tests.documents.documents import README
from tests.documents.sessions import ROOT

SETUP = (ROOT / "scripts" / "setup.sh").read_text(encoding="utf-8")


def test_the_disruptions_of_the_demonstration_say_what_is_to_come_and_what_names_no_line() -> None:
    with duckdb.connect() as connection:
        connection.execute("create schema marts; create macro local_time(instant) as instant")
        connection.execute("""
            create table marts.disruptions as
            from (values
                (true, 'ASC', 'x', 'GEV', 'out_of_use', null, null, ['A lift'], timestamp '2026-11-16 09:00'),
                (true, 'SG', 'A diversion', 'DEV', 'diversion', 'x', 'works', ['1', '2'], '2026-11-27 06:00'),
                (true, 'SG', null, 'GEV', 'delay', 'event', null, null, '2026-12-01 07:30'),
                (false, 'SG', 'gone', 'DEV', 'diversion', 'works', 'works', ['1'], '2026-11-20 07:30')
            ) as rows (
                is_open, category, event_meaning, event, effect_class, cause_class, cause, lines, started_at
            ),
            (select timestamp '2026-11-27 07:00' as last_seen_at, null::timestamp as first_seen_at)
        """)
        found = connection.sql(DISRUPTIONS).fetchall()

    assert [
        ("Lift: out of use", "A lift", "not told", "since 16 November, 09:00"),
        ("A diversion", "1, 2", "works", "since 27 November, 06:00"),
        ("GEV", "none is named", "event (by the message)", "from 01 December, 07:30"),
    ] == found


def test_hours_after_midnight_are_told_as_a_clock_shows_them() -> None:
    query = ANSWERS["In which hours was too little polled to know?"]
    with duckdb.connect() as connection:
        connection.execute("create schema marts")
        connection.execute("""
            create table marts.punctuality_shares as
            from (values (date '2026-11-24', 28), ('2026-11-24', 28), ('2026-11-24', 23))
                as rows (service_date, service_hour),
            (select 'interval too wide' as estimate_null_reason)
        """)
        found = [sentence for (sentence,) in connection.sql(query).fetchall()]

    assert ["4:00 of the next day", "23:00"] == [
        sentence.partition("2026-11-24 from ")[2].partition(" too little")[0] for sentence in found
    ]


def test_the_first_query_of_the_readme_gives_its_dates_in_order() -> None:
    query = re.findall(r'transit-etl sql "(.*?)"', README.read_text(encoding="utf-8"))[0]
    with duckdb.connect() as connection:
        connection.execute("create schema headline")
        connection.execute("""
            create table headline.on_time_network as
            from (values ('2026-11-24'), ('2026-11-26'), ('2026-11-25')) as dates (period)
        """)
        found = [period for (period,) in connection.sql(query).fetchall()]

    assert ["2026-11-24", "2026-11-25", "2026-11-26"] == found


def test_while_dags_run_the_demonstration_says_which_task_does_and_how_long(tmp_path: Path) -> None:
    log, begun = tmp_path / "staging_nightly.log", datetime.now(UTC) - timedelta(seconds=90)
    log.write_text("2026-11-27T18:20:20.1Z [info     ] Filling up the DagBag\n")
    before = task_under_way(log)
    with log.open("a") as file:
        for task, at in (("staging.stage", begun - timedelta(seconds=20)), ("nightly.build", begun)):
            file.write(
                f"{at.isoformat()} [info     ] [DAG TEST] running task <TaskInstance: {task} manual__1 [x]>\n"
            )

    assert "staging, nightly" == before
    assert re.fullmatch(r"nightly\.build \(9\d s\)", task_under_way(log))


def test_what_the_programs_of_the_set_up_say_is_printed_only_when_they_fail() -> None:
    [function] = re.findall(r"^quietly\(\).*?^}$", SETUP, re.MULTILINE | re.DOTALL)

    def run(command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["/bin/sh", "-euc", f"{function}\nquietly sh -c '{command}'"],
            check=False, capture_output=True, text=True,
        )  # fmt: skip

    assert (0, "", "") == ((done := run("echo a warning >&2")).returncode, done.stdout, done.stderr)
    assert (1, "an error\n") == ((done := run("echo an error >&2; exit 1")).returncode, done.stderr)
    assert re.findall("^.*-m pip install", SETUP, re.MULTILINE) == re.findall(
        "^quietly .*-m pip install", SETUP, re.MULTILINE
    )
