"""Builds the service dates that changed in the lake, in order, and records which lake files are built."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from typing import NamedTuple

import duckdb

from transit_base.files import in_words
from transit_etl.identity import claim_to_build
from transit_etl.service_day import DAY, FIRST_DATE, LAST_DATE, is_possible
from transit_etl.settings import BuildSettings, Engine, FolderSettings
from transit_etl.stage import ensure_schemas
from transit_etl.warehouse.building import dbt, lake_changes
from transit_etl.warehouse.building.built_dates import (
    BuiltFrom,
    read_inputs,
    record_built_dates,
    unchanged_dates,
)
from transit_etl.warehouse.building.judged_stops import (
    JudgedStop,
    are_others_built,
    judged_stops,
    load_judged_stops,
)
from transit_etl.warehouse.building.lake_changes import EmptyLakeError, LakeChanges
from transit_etl.warehouse.building.operators import are_other_rules_built, record_operators
from transit_etl.warehouse.building.parallel import build_in_parallel
from transit_etl.warehouse.building.plant_file import PlantName, load_plant_names, plant_names
from transit_etl.warehouse.building.stop_names import (
    RouteType,
    StopName,
    load_route_types,
    load_stop_names,
    route_types,
    stop_names,
)
from transit_etl.warehouse.database import (
    WarehouseError,
    drop_models,
    last_build,
    open_build_database,
    warehouse_lock,
)
from transit_etl.warehouse.describing.column_rules import broken_rules
from transit_etl.warehouse.describing.dbt_manifest import last_manifest, parsed_manifest
from transit_etl.warehouse.describing.model_pages import write_model_page
from transit_etl.warehouse.durations import remember_duration
from transit_etl.warehouse.findings import built_findings
from transit_etl.warehouse.ranges import answered_until, date_ranges, days_at_once

_DAYS_OF_SPARK = 31  # which moves to disk what does not fit, and takes minutes for a run of any length
_POSSIBLE = f"dates from {FIRST_DATE} to {LAST_DATE} can be built"


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did; all counts are 0 when nothing in the lake had changed.

    `findings` says what is odd in the data of the dates built; it stops no build.
    """

    n_files: int
    n_dates: int
    n_models: int
    n_checks: int
    first_date: date | None
    last_date: date | None
    seconds: float
    warnings: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _StartedBuild:
    """A build and what it is of; `unchanged` are dates that files affect without changing what they say."""

    number: int
    dates: list[date]
    is_full: bool
    changes: LakeChanges
    unchanged: set[date]
    built_from: BuiltFrom


class _Told(NamedTuple):
    """What the reference files of an operator say."""

    operator: str
    stops: list[StopName]
    routes: list[RouteType]
    judged: list[JudgedStop]
    plant: list[PlantName]


def _read_files(settings: BuildSettings) -> _Told:
    return _Told(
        settings.operator,
        stop_names(settings),
        route_types(settings),
        judged_stops(settings),
        plant_names(settings),
    )


def build(
    settings: BuildSettings,
    *,
    first_date: date | None = None,
    last_date: date | None = None,
    on_progress: dbt.OnProgress | None = None,
) -> BuildReport:
    """Rebuild whole service dates from the lake and check them: those given, or those that changed.

    A changed model, macro or seed rebuilds everything. BuildFailedError, BuildRunningError, EmptyLakeError,
    OtherFolderError or OutdatedFolderError say why it failed; the published warehouse is not changed here.
    """
    started_at = time.monotonic()
    dbt.require_engine(settings)
    claim_to_build(settings)
    with warehouse_lock(settings) as lock:
        started = _start(settings, first_date, last_date)
        try:
            result = build_dates(
                settings, started.dates, is_full=started.is_full, lock=lock, on_progress=on_progress
            )
            _require_column_rules(settings, started.dates)
        except dbt.BuildFailedError:
            _record_failure(settings, started)
            raise
        findings = _record_success(settings, started) if started.dates or started.unchanged else []
        undocumented = _document(settings)
        seconds = time.monotonic() - started_at
        if started.dates:
            remember_duration(settings.data_dir, "build", seconds)
    return BuildReport(
        n_files=len(started.changes.dates_of),
        n_dates=len(started.dates),
        n_models=result.n_models,
        n_checks=result.n_checks,
        first_date=min(started.dates, default=None),
        last_date=max(started.dates, default=None),
        seconds=seconds,
        warnings=[*_warnings(started.changes), *undocumented],
        findings=findings,
    )


def build_dates(
    settings: BuildSettings,
    dates: Sequence[date],
    *,
    is_full: bool,
    lock: int,
    on_progress: dbt.OnProgress | None,
    target: dbt.BuildTarget = dbt.MAIN_TARGET,
) -> dbt.DbtResult:
    """Build and check sorted service dates: in one run at most a week, or a month by Spark, with answers.

    The first run of a full build drops what the tables held. The dates of the main build are shared among
    workers if several are set.
    """
    if settings.build_workers > 1 and len(dates) > 1 and target == dbt.MAIN_TARGET:
        return build_in_parallel(settings, dates, lock=lock, on_progress=on_progress)
    at_once = _DAYS_OF_SPARK if settings.build_target is Engine.SPARK else days_at_once(settings)
    ranges = list(date_ranges(dates, at_once, answered=answered_until(settings)))
    results: list[dbt.DbtResult] = []

    def report(step: dbt.BuildProgress) -> None:
        if on_progress is not None:
            n_before, n_total = len(results) * step.n_total, len(ranges) * step.n_total
            on_progress(replace(step, n_done=n_before + step.n_done, n_total=n_total))

    for first, last in ranges:
        results.append(
            dbt.run(
                settings, first, last,
                is_full=is_full and not results, lock=lock, on_progress=report, target=target,
            )
        )  # fmt: skip
    return dbt.DbtResult(sum(each.n_models for each in results), sum(each.n_checks for each in results))


def _start(settings: BuildSettings, first_date: date | None, last_date: date | None) -> _StartedBuild:
    """Decide which dates to build; when there are any, record that the build is running."""
    ensure_schemas(settings.data_dir)  # files that an older version staged lack columns
    files = lake_changes.lake_files(settings)
    told = [_read_files(settings.of(operator)) for operator in settings.operators]
    # What views read at once, such as names of stops, is no input of a date.
    reference_rows = {each.operator: [*each.judged, *each.plant] for each in told}
    with open_build_database(settings) as connection:
        number, _ = last_build(connection)
        changes = lake_changes.find_changes(connection, settings, files)
        fingerprint = dbt.fingerprint(settings)
        has_other_models = fingerprint != _built_fingerprint(connection)
        is_full = has_other_models or are_other_rules_built(connection, settings)
        unchanged = set() if is_full else _unchanged(connection, settings, changes, reference_rows)
        changed = changes.dates - unchanged
        chosen = (_date_set(first_date, last_date) or changed) | _unfinished(connection)
        # what rulesets judge at named stops is counted by date: other stops change every date
        if is_full or any(are_others_built(connection, each.operator, each.judged) for each in told):
            chosen = chosen | lake_changes.all_dates(connection, settings, files)
        elif first_date is None and last_date is None:
            chosen = chosen | _ended(connection, changes.dates_by_operator, changed)
        dates = sorted(chosen)
        if is_full and not dates:
            raise EmptyLakeError(settings)
        built_from = read_inputs(connection, settings, dates, reference_rows)
        started = _StartedBuild(number + 1, dates, is_full, changes, unchanged, built_from)
        if dates and is_full:
            drop_models(connection)
        for each in told:
            load_stop_names(connection, each.operator, each.stops)
            load_route_types(connection, each.operator, each.routes)
            load_judged_stops(connection, each.operator, each.judged)
            load_plant_names(connection, each.operator, each.plant)
        if dates:
            record_operators(connection, settings)
            connection.execute(
                "insert into quality.builds values (?, 'running', ?, ?, ?, ?, ?)",
                [started.number, fingerprint, dates[0], dates[-1], is_full, dates],
            )
    return started


def _unchanged(
    connection: duckdb.DuckDBPyConnection,
    settings: FolderSettings,
    changes: LakeChanges,
    reference_rows: Mapping[str, Iterable[object]],
) -> set[date]:
    """Return the dates whose answers are in other files than before, as after compaction, and still the same.

    They are looked for only where files are gone, because it takes reading them.
    """
    if not changes.removed:
        return set()
    touched = changes.dates - changes.by_first_lists
    now = read_inputs(connection, settings, sorted(touched), reference_rows)
    return unchanged_dates(connection, now, touched)


def _built_fingerprint(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Return the fingerprint of the models that made the tables; None unless a full build of them passed."""
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
    """Return the dates of the builds that failed or were killed since the last one that passed."""
    rows = connection.execute(
        """
        select distinct unnest(coalesce(dates, range(first_date, last_date + 1, interval 1 day)::date[]))
        from quality.builds
        where build_number > (
            select coalesce(max(build_number), 0) from quality.builds where outcome = 'passed'
        )
        """
    ).fetchall()
    return {day for (day,) in rows if is_possible(day)}


def _ended(
    connection: duckdb.DuckDBPyConnection, dates: Mapping[str, Collection[date]], changed: Collection[date]
) -> set[date]:
    """Return an operator's date with requests before each changed one that had none.

    It was built before its end, and lacks what is due. Only answers of its last hours, or soon after, name
    it; where nobody asked then, none does.
    """
    found: set[date] = set()
    for operator, begun in dates.items():
        rows = connection.execute(
            """
            with days as (select service_date from core.service_days where operator = $operator)
            select distinct max(days.service_date) from unnest($dates::date[]) as begun(service_date)
            inner join days on days.service_date < begun.service_date
            where begun.service_date not in (from days)
            group by begun.service_date
            """,
            {"operator": operator, "dates": [day for day in begun if day in changed]},
        ).fetchall()
        found.update(day for (day,) in rows)
    return found


def _date_set(first_date: date | None, last_date: date | None) -> set[date]:
    """Return the dates from the first to the last; one alone is both, without either there are none."""
    first, last = first_date or last_date, last_date or first_date
    if first is None or last is None:
        return set()
    if last < first:
        raise WarehouseError(f"the first date {first} is after the last date {last}")
    for day in (first, last):
        if not is_possible(day):
            raise WarehouseError(f"{day} cannot be a service date: {_POSSIBLE}")
    return {first + DAY * number for number in range((last - first).days + 1)}


def _warnings(changes: LakeChanges) -> list[str]:
    """Say for which dates nothing is built because they cannot be right."""
    impossible = sorted(changes.impossible_dates)
    if not impossible:
        return []
    dates = f"{impossible[0]}" + (f" to {impossible[-1]}" if len(impossible) > 1 else "")
    return [
        f"{len(impossible)} service dates cannot be right, nothing is built for them: {dates}; {_POSSIBLE}"
    ]


def _document(settings: FolderSettings) -> list[str]:
    """Write the page of the models; say so if it cannot be written, since the build itself is done."""
    try:
        write_model_page(settings)
    except (OSError, WarehouseError) as error:
        reason = in_words(error) if isinstance(error, OSError) else error
        return [f"the page about the models stays as it was: {reason}"]
    return []


def _require_column_rules(settings: FolderSettings, dates: Sequence[date]) -> None:
    """Raise BuildFailedError if rows of the dates built break a rule of a column."""
    if not dates:
        return
    manifest = last_manifest(settings.data_dir) or parsed_manifest()
    with open_build_database(settings) as connection:
        broken = [*broken_rules(connection, manifest, dates)]
    if broken:
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        raise dbt.BuildFailedError(f"the rules of columns are broken{more}: {broken[0]}")


def _record_failure(settings: FolderSettings, started: _StartedBuild) -> None:
    """Record that a build failed; one that stays recorded as running counts as unfinished, too."""
    with suppress(WarehouseError), open_build_database(settings) as connection:
        connection.execute(
            "update quality.builds set outcome = 'failed' where build_number = ?", [started.number]
        )


def _record_success(settings: BuildSettings, started: _StartedBuild) -> list[str]:
    """Record, only now that all checks passed, which files are in the database; return the findings."""
    built = {*started.dates, *started.unchanged, *started.changes.impossible_dates}
    done = [file for file, dates in started.changes.dates_of.items() if dates <= built]
    removed = [path for path, dates in started.changes.removed.items() if dates <= built]
    with open_build_database(settings) as connection:
        connection.begin()
        for path in removed + [file.path for file in done]:
            connection.execute("delete from intermediate.built_files where path = ?", [path])
        for file in done:
            row = [file.path, file.size_bytes, file.modified_ns]
            connection.execute("insert into intermediate.built_files values (?, ?, ?)", row)
        record_built_dates(
            connection,
            started.built_from,
            started.dates,
            build_number=started.number,
            models_fingerprint=dbt.models_fingerprint(settings),
            is_full=started.is_full,
        )
        connection.execute(
            "update quality.builds set outcome = 'passed' where build_number = ?", [started.number]
        )
        connection.commit()
        return built_findings(connection, started.dates)
