"""Puts together the state of an installation: requests, coverage, windows, and the age of the warehouse."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from transit_etl.paths import build_database, open_raw_files, published_database
from transit_etl.settings import Settings
from transit_etl.stage.lake import waiting_windows
from transit_etl.status import lake
from transit_etl.status.allowance import KindRequests, Pace, read_pace, requests_by_kind
from transit_etl.status.coverage import LineCoverage, line_coverage, line_directions, longest_unseen
from transit_etl.status.lake import Rejection
from transit_etl.status.last_hour import Evidence, last_hour
from transit_etl.warehouse import NotPublishedError, published_findings, query


@dataclass(frozen=True, slots=True)
class Status:
    """The state of an installation, which `status --json` prints field by field.

    Instants are UTC; `now` is the time of the pipeline's clock, `real_now` the machine's, by which files are
    dated. `pace` is None before anything was collected, `lines` has the least covered first. `waiting` counts
    by endpoint the finished windows that are not staged, `n_open` the windows being written. `findings` says
    what is odd in the data of the published warehouse. `unseen` is the
    stop of a listed line whose last good answer is the oldest, `unseen_since` when that was, if ever.
    Answers after `now` are not counted: `future_until` is the last of them, if there are any.
    """

    now: datetime
    real_now: datetime
    clock_shift_seconds: float
    data_dir: Path
    operator: str
    base_url: str
    rate_per_minute: int
    pace: Pace | None
    usage: list[KindRequests]
    evidence: Evidence
    lines: list[LineCoverage]
    n_open: int
    waiting: dict[str, int]
    rejected: list[Rejection]
    n_stops: int
    n_stops_never_seen: int
    unseen: str | None
    unseen_since: datetime | None
    built_at: datetime | None
    published_at: datetime | None
    published_build: int | None
    published_until: datetime | None
    findings: list[str]
    future_until: datetime | None


def read_status(settings: Settings) -> Status:
    """Read raw files, lake, budget and published warehouse; nothing is written or locked."""
    clock = settings.clock
    now = clock.now()
    with last_hour(settings, now) as hour:
        requests = {**lake.last_requests(settings, now), **{each.endpoint: each for each in hour.requests()}}
        answered_at = {**lake.last_good_answers(settings, now), **hour.last_good_answers()}
        evidence = hour.evidence()
    directions = line_directions(settings)
    stops = sorted({stop for direction in directions for stop in direction.stop_codes})
    unseen = longest_unseen(stops, answered_at)
    waiting = waiting_windows(settings.data_dir, leaves_out_damaged=True)
    build, until, findings = _published(settings)
    return Status(
        now=now,
        real_now=clock.to_real(now),
        clock_shift_seconds=settings.clock_shift_seconds,
        data_dir=settings.data_dir.absolute(),
        operator=settings.operator,
        base_url=settings.base_url,
        rate_per_minute=settings.rate_per_minute,
        pace=read_pace(settings),
        usage=requests_by_kind(requests.values(), settings.rate_per_minute),
        evidence=evidence,
        lines=line_coverage(directions, answered_at, now),
        n_open=len(list(open_raw_files(settings.data_dir))),
        waiting=dict(Counter(window.endpoint for window in waiting)),
        rejected=lake.rejections(settings),
        n_stops=len(stops),
        n_stops_never_seen=sum(code not in answered_at for code in stops),
        unseen=unseen,
        unseen_since=answered_at.get(unseen) if unseen else None,
        built_at=_written_at(build_database(settings.data_dir)),
        published_at=_written_at(published_database(settings.data_dir)),
        published_build=build,
        published_until=until,
        findings=findings,
        future_until=lake.last_future_answer(settings, now),
    )


def _published(settings: Settings) -> tuple[int | None, datetime | None, list[str]]:
    """Return the number of the published build, the instant of the last answer in it, and its findings."""
    try:
        rows = query(
            settings,
            "select (select max(build_number) from quality.builds), max(received_at) from core.requests",
        ).to_pylist()
        findings = published_findings(settings)
    except NotPublishedError:
        return None, None, []
    build, until = rows[0].values()
    return build, until and until.replace(tzinfo=UTC), findings


def _written_at(path: Path) -> datetime | None:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.exists() else None
