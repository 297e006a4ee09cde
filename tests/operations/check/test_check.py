"""What `transit-etl check` finds wrong: each of an operator's mistakes in one line."""

import errno
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import duckdb
import pytest

from tests.collect.helpers import write_lake
from tests.hostile import http, json_reply, serving
from tests.operations.check.installation import healthy
from tests.operations.status.installations import NOW, Exchange, land, minutes, put_requests, stop
from transit_emulator.process import free_port
from transit_etl.api.exchange import Outcome
from transit_etl.collect.raw.rawfile import DataFolderError
from transit_etl.operations.backup.record import LastBackup, remember
from transit_etl.operations.check import Problem, check, examine, failed_runs, machine, upstream
from transit_etl.paths import build_database, published_database
from transit_etl.settings import Settings


def names(problems: list[Problem]) -> list[str]:
    return [problem.name for problem in problems]


def text(problems: list[Problem], name: str) -> str:
    """Return the sentence of the only problem of a name; it is one line."""
    (found,) = [problem.text for problem in problems if problem.name == name]
    assert "\n" not in found
    return found


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return the settings of an installation that is well."""
    shift = (NOW - datetime.now(UTC)).total_seconds()
    return healthy(Settings(data_dir=tmp_path / "data", clock_shift_seconds=shift))


def test_nothing_is_wrong_with_a_healthy_installation(settings: Settings) -> None:
    assert [] == check(settings)


def test_what_is_wrong_with_another_operator_has_its_name(settings: Settings) -> None:
    other = settings.model_copy(update={"operator": "other", "stops_file": Path("away.csv")})
    found = examine(settings.knowing({"emulated": settings, "other": other}), asks=False).all_problems

    assert ["stops_file_other", "empty_other"] == names(found)
    assert all(problem.text.startswith("other: ") for problem in found)


def test_an_outage_is_found(settings: Settings) -> None:
    failures = [Exchange(stop(1), minutes(age), {}, Outcome.CONNECTION_ERROR) for age in (0.06, 0.05, 0.04)]
    land(settings, *failures, worker="w2").close()
    found = check(settings.model_copy(update={"down_after_seconds": 1, "base_url": nowhere()}))

    assert text(found, "upstream").startswith("UPSTREAM DOWN since ")
    assert "look at TRANSIT_BASE_URL" in text(found, "address")


@pytest.mark.parametrize(
    ("reply", "name", "words"),
    [
        (http(b"{}", "401 Unauthorized"), "token", "look at TRANSIT_TOKEN"),
        (http(b"{}", "403 Forbidden"), "token", "look at TRANSIT_TOKEN"),
        (http(b"<html>", "404 Not Found"), "address", "look at TRANSIT_BASE_URL"),
        (http(b"<html>"), "address", "look at TRANSIT_BASE_URL"),
        (http(b"", "429 Too Many Requests", "Retry-After: 30"), "allowance", "refuses a request"),
    ],
)
def test_what_the_upstream_refuses_is_found_where_nothing_collects(
    tmp_path: Path, reply: Callable[..., None], name: str, words: str
) -> None:
    with serving(lambda _: reply) as base_url:
        found = check(Settings(data_dir=tmp_path, base_url=base_url))

    assert [name, "empty"] == names(found)
    assert words in text(found, name)


def test_an_upstream_that_answers_is_no_problem(tmp_path: Path) -> None:
    with serving(lambda _: json_reply([])) as base_url:
        assert ["empty"] == names(check(Settings(data_dir=tmp_path, base_url=base_url)))


@pytest.mark.parametrize(
    ("name", "value"), [("HTTP_PROXY", "ftp://proxy.invalid:3128"), ("SSL_CERT_FILE", "/nonexistent/ca.pem")]
)
def test_a_variable_by_which_no_connection_can_be_made_is_a_problem_and_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    found = check(Settings(data_dir=tmp_path, base_url=nowhere()))

    assert ["environment", "empty"] == names(found)
    assert name in text(found, "environment")


def nowhere() -> str:
    """Return a base address that no server listens at."""
    return f"http://127.0.0.1:{free_port()}/api/v1/"


def test_a_wrong_clock_is_found(settings: Settings) -> None:
    wrong = settings.model_copy(update={"clock_shift_seconds": settings.clock_shift_seconds})
    stamp = f"{NOW - minutes(5):%Y-%m-%dT%H:%M:%S.000Z}"
    answers = [Exchange(stop(n), minutes(0.1), {"timestamp": stamp, "passaggi": []}) for n in range(40)]
    land(settings, *answers, worker="w2").close()

    assert "294 seconds ahead" in text(check(wrong), "clock")


def test_refused_requests_are_found(settings: Settings) -> None:
    land(settings, Exchange(stop(1), minutes(3), {}, Outcome.RATE_LIMITED), worker="w2").close()

    assert "does somebody else use the same allowance" in text(check(settings), "refused")


def test_a_folder_that_cannot_be_written_is_found(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = check(Settings(data_dir=tmp_path / "file" / "data", base_url=nowhere()))

    assert str(tmp_path / "file") in text(found, "folder")


@pytest.mark.parametrize(
    ("text", "mode", "is_found"),
    [("token = 'x'", 0o644, True), ("token = 'x'", 0o640, False), ("operator = 'x'", 0o644, False)],
)
def test_a_secret_that_everybody_can_read_is_found(
    settings: Settings,
    tmp_path: Path,
    text: str,
    mode: int,
    is_found: bool,  # noqa: FBT001
) -> None:
    file = tmp_path / "transit-etl.toml"
    file.write_text(text)
    file.chmod(mode)
    found = check(settings.model_copy(update={"project_dir": tmp_path}))

    assert is_found == ("settings_file" in names(found))


def test_a_disk_of_another_machine_is_found(settings: Settings) -> None:
    with patch.object(machine, "file_system", return_value="nfs4"):
        assert "nfs4" in text(check(settings), "local_disk")


def test_the_file_system_of_a_folder_is_that_of_the_nearest_mount() -> None:
    assert "proc" == machine.file_system(Path("/proc/self"))


def test_a_disk_that_will_be_full_is_found(settings: Settings) -> None:
    with patch("shutil.disk_usage") as usage:
        usage.return_value.free = 1024 * 1024

        assert "1 MiB are free" in text(check(settings), "space")


@pytest.mark.parametrize(
    ("days", "needs"),
    [(30.0, "512 MiB are needed to build and to publish"), (0.5, "MiB are needed for 0.5 days at ")],
)
def test_the_space_that_is_needed_is_told_with_what_it_is_needed_for(
    settings: Settings, days: float, needs: str
) -> None:
    per_day = machine.MIB if days > 1 else 4096 * machine.MIB
    limits = settings.model_copy(update={"check_disk_days": days})
    with (
        patch("shutil.disk_usage") as usage,
        patch.object(machine, "_bytes_per_day", return_value=per_day),
    ):
        usage.return_value.free = machine.MIB

        assert needs in text(check(limits), "space")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (294.0, "is 294 seconds ahead of"),
        (-86_400.0, "is 86,400 seconds behind"),
        (-251_600_000_000.0, "are of 9999-"),
        (1.8e9, "are of 1969-"),
        (9e10, "are of no year from 1 to 9999"),
    ],
)
def test_a_clock_is_not_blamed_for_timestamps_that_are_of_another_time(error: float, said: str) -> None:
    told = upstream._clock(datetime(2026, 11, 27, 8, tzinfo=UTC), error)  # noqa: SLF001

    assert said in told
    assert ("one of them is wrong" in told) == (abs(error) > 86_400)


def test_a_disk_that_is_full_also_has_too_little_space(settings: Settings) -> None:
    full = DataFolderError(settings.data_dir, OSError(errno.ENOSPC, "No space left on device"))
    with patch("shutil.disk_usage") as usage, patch.object(machine, "check_writable", side_effect=full):
        usage.return_value.free = 0
        found = check(settings)

    assert {"folder", "space"} <= set(names(found))


def test_an_old_answer_is_found(settings: Settings) -> None:
    put_requests(settings, "passages", [minutes(0)])
    put_requests(settings, "lines", [minutes(0)])
    late = settings.model_copy(
        update={"clock_shift_seconds": settings.clock_shift_seconds + 7 * 3600, "base_url": nowhere()}
    )
    found = check(late)

    assert "last good answer 7 h ago" in text(found, "answers_passages")
    assert "answers_timetables" in names(found)
    assert "answers_lines" not in names(found)


def test_a_rejected_batch_is_found_once_with_what_may_be_the_reason(settings: Settings) -> None:
    failed = {
        "window": "w9",
        "suite": "passages",
        "rule": "waits_mostly_agree",
        "reason": "because",
        "scope": "batch",
        "is_success": False,
        "last_received_at": (NOW - minutes(60)).replace(tzinfo=None),
    }
    write_lake(settings.data_dir, "validation_results", [failed], "w9", at=NOW)

    assert "is TRANSIT_TIMEZONE right?" in text(check(settings), "rejected_passages_waits_mostly_agree")


def break_rows(settings: Settings, rule: str) -> None:
    """Set ten rows of passages aside, and leave one."""
    broken = {
        "window": "w9",
        "suite": "passages",
        "rule": rule,
        "scope": "row",
        "is_success": False,
        "n_unexpected": 10,
        "last_received_at": (NOW - minutes(60)).replace(tzinfo=None),
    }
    write_lake(settings.data_dir, "validation_results", [broken], "w9", at=NOW)


def test_a_large_quarantine_is_found(settings: Settings) -> None:
    break_rows(settings, "clock_read")
    found = text(check(settings), "quarantine_passages")

    assert "10 of 11 rows of passages" in found
    assert "TRANSIT_TIMEZONE" not in found


def test_a_quarantine_of_waits_that_contradict_their_clock_times_is_found_with_its_reason(
    settings: Settings,
) -> None:
    break_rows(settings, "wait_agrees_with_clock")

    assert "is TRANSIT_TIMEZONE right?" in text(check(settings), "quarantine_passages")


def test_answers_that_mislead_are_found_while_they_do(settings: Settings) -> None:
    """The published file ends at 08:00; two windows before that are 20 minutes."""
    change_published(
        settings,
        """
        create table quality.findings as
        select
            'emulated' as operator, date '2026-11-10' as found_date, 'staging.passages' as found_in, *,
            1 as n_rows, timestamp '2026-11-10 07:00' as began_at, 9 as n_stops, 's1, 6' as example
        from (values
            ('silence', 'Too many stops list no bus.', timestamp '2026-11-10 07:45', 0.98),
            ('freeze', 'It is over.', timestamp '2026-11-10 07:30', 0.98),
            ('age', 'It is of few answers.', timestamp '2026-11-10 07:45', 0.01),
            (null, 'It is no answer about passages.', null, null)
        ) as findings(kind, finding, ended_at, answer_share)
        """,
    )

    [found] = [each for each in check(settings) if each.name.startswith("misleading")]
    assert (found.name, found.since) == ("misleading_silence", datetime(2026, 11, 10, 7, tzinfo=UTC))
    assert found.text.startswith(
        "98% of the answers about passages since 2026-11-10 07:00 UTC, at 9 stops, mislead. "
        "Too many stops list no bus. For example: s1, 6."
    )


def test_windows_that_nobody_stages_are_found(settings: Settings) -> None:
    (path,) = settings.data_dir.glob("raw/operator=*/endpoint=passages/date=*/*.zst")
    old = path.with_name(f"{NOW - timedelta(hours=1):%Y%m%dT%H%M%SZ}-passages-w9.jsonl.zst")
    old.write_bytes(path.read_bytes())

    assert "are not staged" in text(check(settings), "staging")


def test_a_damaged_publication_is_found_and_hides_nothing_else(settings: Settings) -> None:
    with published_database(settings.data_dir).open("r+b") as file:
        file.truncate(5000)
    strict = settings.model_copy(update={"check_clock_seconds": -1.0})
    found = check(strict)

    assert "cannot be read" in text(found, "published")
    assert "clock" in names(found)


def test_an_old_publication_is_found(settings: Settings) -> None:
    strict = settings.model_copy(update={"check_published_hours": -1.0})

    assert "the published warehouse was made" in text(check(strict), "published")


def test_a_backup_that_is_made_no_longer_is_found(settings: Settings) -> None:
    remember(settings.data_dir, LastBackup("/mnt/backup", settings.clock.now() - timedelta(hours=47), 3))
    before = check(settings)
    remember(settings.data_dir, LastBackup("/mnt/backup", settings.clock.now() - timedelta(hours=49), 3))

    assert ([], ["backup"]) == (names(before), names(check(settings)))


def change_published(settings: Settings, sql: str) -> None:
    with duckdb.connect(published_database(settings.data_dir)) as connection:
        connection.execute(sql)


def test_a_file_that_another_version_published_is_found(settings: Settings) -> None:
    change_published(settings, "update quality.publication set version = '0.0.1'")

    assert "made by version 0.0.1" in text(check(settings), "version")


@pytest.mark.parametrize(
    "change",
    ["update quality.publication set fingerprint = 'f'", "alter table quality.publication drop fingerprint"],
)
def test_a_file_of_other_models_of_the_same_version_is_found(settings: Settings, change: str) -> None:
    change_published(settings, change)

    assert "run `transit-etl build` and `transit-etl publish`" in text(check(settings), "version")


def test_a_key_that_is_listed_for_the_first_time_is_found(settings: Settings) -> None:
    change_published(
        settings,
        "create table quality.drift as "
        "select 'emulated' as operator, 'key' as kind, 'nuovo' as name, 'passages' as dataset, "
        f"timestamp '{NOW - timedelta(hours=1):%Y-%m-%d %H:%M:%S}' as first_seen_at",
    )

    assert "key nuovo of passages" in text(check(settings), "drift")


def test_a_build_that_was_never_published_is_found(settings: Settings) -> None:
    build_database(settings.data_dir).touch()
    old = (datetime.now(UTC) - timedelta(hours=7)).timestamp()
    os.utime(published_database(settings.data_dir), (old, old))

    assert {"published", "build"} == set(names(check(settings)))


def test_requests_that_get_no_permit_are_found(settings: Settings) -> None:
    landing = land(settings, Exchange(stop(1), minutes(0.1), {}), worker="w2")
    for number in range(20):
        landing.skip(landing.plan(stop(number), NOW - minutes(1)), "no permit in time")
    landing.close()

    assert "20 requests for passages" in text(check(settings), "starved_passages")


def test_answers_of_which_no_row_was_staged_are_found(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", base_url=nowhere())
    land(settings, Exchange(stop(1), minutes(0.1), {})).close()
    put_requests(settings, "passages", [minutes(0.1)])

    later = settings.model_copy(update={"clock_shift_seconds": timedelta(minutes=26).total_seconds()})
    assert "rows_passages" in names(check(later))


def test_a_task_that_failed_in_airflow_is_found(settings: Settings) -> None:
    failed_runs.remember_failure(
        settings.data_dir, Problem("failed_warehouse_build", "the task build failed"), NOW
    )

    assert ["failed_warehouse_build"] == names(check(settings))


def test_every_problem_is_json(settings: Settings) -> None:
    assert json.loads(json.dumps([vars_of(each) for each in check(settings)])) == []


def vars_of(problem: Problem) -> dict[str, str]:
    return {"name": problem.name, "text": problem.text}
