"""A rehearsal is the real pipeline on a virtual clock: it repeats itself, and survives its own death."""

import hashlib
from collections.abc import Collection
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import httpx2
import pytest
from pydantic import SecretStr

from transit_emulator.app import create_app
from transit_emulator.world import build_world
from transit_etl.rehearsal import RehearsalError, RehearsalProgress, RehearsalReport, rehearse
from transit_etl.service_day import service_date
from transit_etl.settings import Settings

START = datetime(2026, 11, 18, 7, 0, tzinfo=UTC)
HOURS = 0.25
WINDOW_SECONDS, PERIOD_SECONDS = 300, 600


def _rehearse(
    data_dir: Path, start: datetime = START, hours: float = HOURS, die_at: datetime | None = None
) -> RehearsalReport:
    settings = Settings(data_dir=data_dir, window_seconds=WINDOW_SECONDS)
    transport = httpx2.ASGITransport(create_app(build_world("small", None, 1)))

    def die(progress: RehearsalProgress) -> None:
        if die_at and progress.now >= die_at:
            raise KeyboardInterrupt

    return rehearse(
        settings, start, hours, transport=transport, period_seconds=PERIOD_SECONDS, on_progress=die
    )


def _rehearse_lists(
    data_dir: Path, only: Collection[str], hours: float = 13.0, die_at: datetime | None = None
) -> RehearsalReport:
    """Rehearse some collections without passages, in periods of six hours."""
    settings = Settings(data_dir=data_dir, status_interval_seconds=600)
    transport = httpx2.ASGITransport(create_app(build_world("small", None, 1)))

    def die(progress: RehearsalProgress) -> None:
        if die_at and progress.now >= die_at:
            raise KeyboardInterrupt

    return rehearse(
        settings, START, hours, transport=transport, only=only, period_seconds=21_600, on_progress=die
    )


def _rows(data_dir: Path, query: str) -> list[tuple[Any, ...]]:
    """Run a query over the ledger, `requests`."""
    with duckdb.connect() as connection:
        files = f"{data_dir}/lake/operator=emulated/dataset=requests/*/*.parquet"
        connection.read_parquet(files).create_view("requests")
        return connection.sql(query).fetchall()


def _checksums(data_dir: Path) -> dict[str, str]:
    files = sorted((data_dir / "lake").rglob("*.parquet"))
    return {str(path.relative_to(data_dir)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RehearsalReport]:
    data_dir = tmp_path_factory.mktemp("rehearsed")
    return data_dir, _rehearse(data_dir)


def test_it_uses_the_allowance_and_is_never_refused(
    finished: tuple[Path, RehearsalReport],
) -> None:
    _, report = finished

    assert report.n_rate_limited == 0
    assert 0.95 <= report.allowance_share <= 1
    assert report.virtual_seconds == 900


@pytest.mark.long
def test_secrets_of_the_settings_do_not_keep_it_from_staging(tmp_path: Path) -> None:
    settings = Settings(
        data_dir=tmp_path / "data", window_seconds=WINDOW_SECONDS, token=SecretStr("s3cr3t"),
        limiter_url=SecretStr(f"sqlite:///{tmp_path / 'limiter.db'}"), alert_urls=SecretStr("json://localhost/"),
    )  # fmt: skip
    transport = httpx2.ASGITransport(create_app(build_world("small", None, 1)))
    rehearse(settings, START, 0.02, transport=transport, period_seconds=PERIOD_SECONDS, in_two_processes=True)

    assert _checksums(settings.data_dir)


def test_every_dataset_is_collected_in_the_same_virtual_time(
    finished: tuple[Path, RehearsalReport],
) -> None:
    data_dir, _ = finished
    requests = duckdb.read_parquet(str(data_dir / "lake/operator=emulated/dataset=requests/*/*.parquet"))
    endpoints = {row[0] for row in requests.project("endpoint").distinct().fetchall()}
    first, last = requests.aggregate("min(planned_at), max(received_at)").fetchall()[0]

    assert endpoints == {"lines", "stops", "timetables", "passages", "status", "news", "news_details"}
    assert START <= first.replace(tzinfo=UTC)
    assert last.replace(tzinfo=UTC) <= START + timedelta(hours=HOURS)


@pytest.mark.long
def test_the_same_rehearsal_gives_the_same_lake(
    finished: tuple[Path, RehearsalReport], tmp_path: Path
) -> None:
    _rehearse(tmp_path)

    assert _checksums(tmp_path) == _checksums(finished[0])


@pytest.fixture(scope="module")
def lists_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data_dir = tmp_path_factory.mktemp("lists")
    _rehearse_lists(data_dir, ["status", "news", "timetables", "network"])
    return data_dir


@pytest.mark.long
def test_without_passages_every_list_is_asked_for_at_its_instants_within_windows_of_hours(
    lists_alone: Path,
) -> None:
    n_runs = dict(_rows(lists_alone, """
        select endpoint, count(distinct time_bucket(interval '1 hour', planned_at)) from requests
        group by endpoint
    """))  # fmt: skip
    n_windows = dict(_rows(lists_alone, """
        select endpoint, count(distinct "window") from requests where endpoint in ('status', 'news')
        group by endpoint
    """))  # fmt: skip

    assert {"lines", "stops", "timetables", "status", "news", "news_details"} == n_runs.keys()
    assert 13 == n_runs["news"]
    assert 4 == n_runs["timetables"]
    assert 1 == n_runs["lines"]
    assert {"status": 3, "news": 13} == n_windows
    assert [(13 * 6,)] == _rows(
        lists_alone, "select count(*) from requests where endpoint = 'status' and key = ''"
    )


@pytest.mark.long
def test_without_passages_a_news_item_is_fetched_again_after_an_hour_at_the_earliest(
    lists_alone: Path,
) -> None:
    fetched = _rows(lists_alone, """
        select sent_at - lag(sent_at) over (partition by key order by sent_at) as wait
        from requests where endpoint = 'news_details' qualify wait is not null
    """)  # fmt: skip

    assert fetched
    assert timedelta(minutes=45) <= min(wait for (wait,) in fetched)


def test_what_is_rehearsed_alone_brings_the_network_that_it_asks_about(tmp_path: Path) -> None:
    _rehearse_lists(tmp_path / "timetables", ["timetables"], hours=1)
    _rehearse_lists(tmp_path / "news", ["news"], hours=1)

    assert {("lines",), ("stops",), ("timetables",)} == set(
        _rows(tmp_path / "timetables", "select distinct endpoint from requests")
    )
    assert {("news",), ("news_details",)} == set(
        _rows(tmp_path / "news", "select distinct endpoint from requests")
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "hour",
    [pytest.param(3, id="in the first period"), pytest.param(9, id="in a later one")],
)
def test_a_killed_rehearsal_without_passages_is_resumed_and_leaves_the_same_lake(
    lists_alone: Path, tmp_path: Path, hour: int
) -> None:
    everything = ["status", "news", "timetables", "network"]
    with pytest.raises(KeyboardInterrupt):
        _rehearse_lists(tmp_path, everything, die_at=START + timedelta(hours=hour))
    with pytest.raises(RehearsalError, match="another rehearsal"):
        _rehearse_lists(tmp_path, ["status"])
    _rehearse_lists(tmp_path, everything)

    assert _checksums(tmp_path) == _checksums(lists_alone)


@pytest.mark.long
@pytest.mark.parametrize(
    "minute",
    [
        pytest.param(3, id="in the first window"),
        pytest.param(8, id="in a later one"),
        pytest.param(13, id="in a later period"),
    ],
)
def test_a_killed_rehearsal_is_resumed_and_leaves_the_same_lake(
    finished: tuple[Path, RehearsalReport], tmp_path: Path, minute: int
) -> None:
    with pytest.raises(KeyboardInterrupt):
        _rehearse(tmp_path, die_at=START + timedelta(minutes=minute))

    _rehearse(tmp_path)

    assert _checksums(tmp_path) == _checksums(finished[0])


def test_a_finished_rehearsal_is_not_repeated(finished: tuple[Path, RehearsalReport]) -> None:
    report = _rehearse(finished[0])

    assert report.outcomes == {}
    assert report.virtual_seconds == 0


def test_a_folder_with_other_answers_is_refused(
    finished: tuple[Path, RehearsalReport], tmp_path: Path
) -> None:
    (tmp_path / "raw").mkdir()

    with pytest.raises(RehearsalError, match="in a folder of its own"):
        _rehearse(tmp_path)
    with pytest.raises(RehearsalError, match="another rehearsal"):
        _rehearse(finished[0], start=START + timedelta(hours=1))


@pytest.mark.parametrize(
    ("start", "seconds"),
    [
        pytest.param(
            datetime(2026, 3, 29, 0, 45, tzinfo=UTC),
            1200,
            id="the clock springs forward",
            marks=pytest.mark.long,
        ),
        pytest.param(datetime(2026, 10, 25, 0, 45, tzinfo=UTC), 1200, id="the clock falls back"),
        pytest.param(datetime(2026, 11, 18, 22, 45, tzinfo=UTC), 1200, id="midnight", marks=pytest.mark.long),
    ],
)
def test_no_row_is_lost_or_duplicated(tmp_path: Path, start: datetime, seconds: float) -> None:
    report = _rehearse(tmp_path, start=start, hours=seconds / 3600)
    requests = duckdb.read_parquet(str(tmp_path / "lake/operator=emulated/dataset=requests/*/*.parquet"))
    n_rows, n_requests = requests.aggregate("count(*), count(distinct request_id)").fetchall()[0]
    passages = duckdb.read_parquet(str(tmp_path / "lake/operator=emulated/dataset=passages/*/*.parquet"))
    far_away = (
        passages.filter("not is_wrapped and abs(epoch(predicted_at) - epoch(received_at)) > 7200")
        .aggregate("count(*)")
        .fetchall()[0][0]
    )
    dates = {row[0] for row in passages.project("service_date").distinct().fetchall()}
    ends = (start, start + timedelta(hours=2 + seconds / 3600))

    assert n_rows == n_requests == sum(report.outcomes.values())
    assert far_away == 0
    assert dates <= {service_date(end, ZoneInfo("Europe/Rome"), time(4)) for end in ends}
