"""Builds the service dates the lake has news of, in order, and remembers what it has built."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date

import duckdb

from transit_etl.settings import Settings
from transit_etl.warehouse import dbt, touched
from transit_etl.warehouse.database import WarehouseError, drop_models, last_build, only_one, opened
from transit_etl.warehouse.touched import DAY, LakeFile, News

DAYS_AT_ONCE = 7  # bounds the memory of a build
_NO_DATE = date(1970, 1, 1)  # what an empty lake is built for, so that its tables exist


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did; all counts are 0 when the lake held nothing new."""

    n_files: int
    n_dates: int
    n_models: int
    n_checks: int
    first_date: date | None
    last_date: date | None
    seconds: float

    @property
    def is_up_to_date(self) -> bool:
        """True when there was nothing to do."""
        return self.n_dates == 0


@dataclass(frozen=True, slots=True)
class _Plan:
    number: int
    dates: list[date]
    fingerprint: str
    is_full: bool
    news: News


def build(
    settings: Settings,
    *,
    first_date: date | None = None,
    last_date: date | None = None,
    on_progress: dbt.OnProgress | None = None,
) -> BuildReport:
    """Rebuild whole service dates from the lake and check them: those given, or those the lake has news of.

    A changed model, macro or seed rebuilds everything. BuildFailedError, BuildRunningError or EmptyLakeError
    say in one line what stood in the way; the published warehouse is never touched here.
    """
    started = time.monotonic()
    with only_one(settings) as lock:
        plan = _plan(settings, first_date, last_date)
        outcomes = _run(settings, plan, lock, on_progress)
        if plan.dates:
            _remember(settings, plan)
    return BuildReport(
        n_files=len(plan.news.dates_of),
        n_dates=len(plan.dates),
        n_models=sum(outcome.n_models for outcome in outcomes),
        n_checks=sum(outcome.n_checks for outcome in outcomes),
        first_date=min(plan.dates, default=None),
        last_date=max(plan.dates, default=None),
        seconds=time.monotonic() - started,
    )


def _plan(settings: Settings, first_date: date | None, last_date: date | None) -> _Plan:
    """Decide which dates to build; when there are any, mark the database as being built."""
    files = touched.lake_files(settings)
    with opened(settings) as connection:
        number, _ = last_build(connection)
        found = touched.news(connection, settings, files)
        now = dbt.fingerprint()
        is_full = now != _built_fingerprint(connection)
        dates = (_asked(first_date, last_date) or found.dates) | _unfinished(connection)
        if is_full:
            dates = dates | touched.all_dates(connection, settings, files) or {_NO_DATE}
        plan = _Plan(number + 1, sorted(dates), now, is_full, found)
        if dates and is_full:
            drop_models(connection)
        if dates:
            connection.execute(
                "insert into quality.builds values (?, 'running', ?, ?, ?, ?)",
                [plan.number, now, plan.dates[0], plan.dates[-1], is_full],
            )
    return plan


def _run(settings: Settings, plan: _Plan, lock: int, on_progress: dbt.OnProgress | None) -> list[dbt.Outcome]:
    """Run the stretches one after another; the first of a full build drops what the tables held."""
    parts = list(stretches(plan.dates))
    outcomes: list[dbt.Outcome] = []

    def on_step(step: dbt.BuildProgress) -> None:
        if on_progress is not None:
            n_before, n_total = len(outcomes) * step.n_total, len(parts) * step.n_total
            on_progress(replace(step, n_done=n_before + step.n_done, n_total=n_total))

    try:
        for first, last in parts:
            is_full = plan.is_full and not outcomes
            outcomes.append(dbt.run(settings, first, last, is_full=is_full, lock=lock, on_progress=on_step))
    except dbt.BuildFailedError:
        with opened(settings) as connection:
            connection.execute(
                "update quality.builds set outcome = 'failed' where build_number = ?", [plan.number]
            )
        raise
    return outcomes


def _built_fingerprint(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Return the models the tables are made of; None unless a full build of them came to its end."""
    rows = connection.execute(
        """
        select fingerprint from quality.builds
        where outcome = 'passed' and build_number >= (
            select coalesce(max(build_number), 0) from quality.builds where is_full
        )
        order by build_number desc limit 1
        """
    ).fetchall()
    return str(rows[0][0]) if rows else None


def _unfinished(connection: duckdb.DuckDBPyConnection) -> set[date]:
    """Return the dates of builds that failed or were killed and that no later one has made good."""
    rows = connection.execute(
        """
        select first_date, last_date from quality.builds
        where build_number > (
            select coalesce(max(build_number), 0) from quality.builds where outcome = 'passed'
        )
        """
    ).fetchall()
    return set[date]().union(*(_asked(first, last) for first, last in rows))


def _asked(first_date: date | None, last_date: date | None) -> set[date]:
    first, last = first_date or last_date, last_date or first_date
    if first is None or last is None:
        return set()
    if last < first:
        raise WarehouseError(f"the first date {first} is after the last date {last}")
    return {first + DAY * number for number in range((last - first).days + 1)}


def stretches(dates: Iterable[date]) -> Iterator[tuple[date, date]]:
    """Group sorted dates into unbroken stretches of at most DAYS_AT_ONCE days."""
    stretch: list[date] = []
    for day in dates:
        if stretch and (day != stretch[-1] + DAY or len(stretch) == DAYS_AT_ONCE):
            yield stretch[0], stretch[-1]
            stretch = []
        stretch.append(day)
    if stretch:
        yield stretch[0], stretch[-1]


def _remember(settings: Settings, plan: _Plan) -> None:
    """Record, only now that all checks passed, which files are in the database whole."""
    built = set(plan.dates)
    done: list[LakeFile] = [file for file, dates in plan.news.dates_of.items() if dates <= built]
    gone = [path for path, dates in plan.news.gone.items() if dates <= built]
    with opened(settings) as connection:
        connection.begin()
        for path in gone + [file.path for file in done]:
            connection.execute("delete from quality.built_files where path = ?", [path])
        for file in done:
            row = [file.path, file.size_bytes, file.modified_ns]
            connection.execute("insert into quality.built_files values (?, ?, ?)", row)
        connection.execute(
            "update quality.builds set outcome = 'passed' where build_number = ?", [plan.number]
        )
        connection.commit()
