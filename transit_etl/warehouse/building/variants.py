"""Builds variants of the marts: under another ruleset, or from what was received up to an instant."""

import time
from dataclasses import dataclass
from datetime import UTC, date, datetime

import duckdb

from transit_base import promised
from transit_etl.clock import naive_utc
from transit_etl.identity import claim_to_build
from transit_etl.settings import BuildSettings
from transit_etl.warehouse.building import dbt
from transit_etl.warehouse.building.builder import BuildReport, build_dates
from transit_etl.warehouse.database import (
    WarehouseError,
    forget_publication,
    last_build,
    open_build_database,
    warehouse_lock,
)


@dataclass(frozen=True, slots=True)
class Variant:
    """A ruleset version, an instant (aware) after which nothing received is used, or both."""

    ruleset: int | None = None
    as_of: datetime | None = None

    @property
    def suffix(self) -> str:
        """The ending of the names of its schemas, such as `_ruleset_2`."""
        rules = "" if self.ruleset is None else f"_ruleset_{self.ruleset}"
        instant = "" if self.as_of is None else f"_as_of_{self.as_of.astimezone(UTC):%Y%m%dt%H%M%Sz}"
        return rules + instant

    @property
    def target(self) -> dbt.BuildTarget:
        """What dbt has to build; without an instant the staging views are those of the main build."""
        variables: dict[str, str | int] = {
            "schema_suffix": self.suffix,
            "ruleset_version": self.ruleset or 0,
            "as_of": "" if self.as_of is None else f"{self.as_of.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}",
        }
        staging = () if self.as_of is None else ("staging",)
        schemas = (*staging, "intermediate", "core", "marts")
        return dbt.BuildTarget(
            variables, tuple(f"resource_type:model,config.schema:{schema}" for schema in schemas)
        )


def build_variant(
    settings: BuildSettings,
    variant: Variant,
    *,
    first_date: date | None = None,
    last_date: date | None = None,
    on_progress: dbt.OnProgress | None = None,
) -> BuildReport:
    """Build and check intermediate, core and marts once more, into schemas of their own in the same database.

    Builds the service dates that the main build has, within those given, and always all of them anew. One
    that fails leaves no schema. WarehouseError where the main build is missing, failed or out of date.
    """
    started_at = time.monotonic()
    dbt.require_engine(settings)
    claim_to_build(settings)
    with warehouse_lock(settings) as lock:
        dates = _start(settings, variant, first_date, last_date)
        try:
            result = build_dates(
                settings, dates, is_full=True, lock=lock, on_progress=on_progress, target=variant.target
            )
        except dbt.BuildFailedError:
            with open_build_database(settings) as connection:
                drop_unfinished(connection, settings)
            raise
        with open_build_database(settings) as connection:
            connection.execute(
                "update quality.variants set outcome = 'passed' where suffix = ?", [variant.suffix]
            )
    return BuildReport(
        n_files=0,
        n_dates=len(dates),
        n_models=result.n_models,
        n_checks=result.n_checks,
        first_date=dates[0],
        last_date=dates[-1],
        seconds=time.monotonic() - started_at,
    )


def drop_unfinished(connection: duckdb.DuckDBPyConnection, settings: BuildSettings) -> None:
    """Remove the schemas of variants that did not pass or were built by an older version of the models."""
    rows = connection.execute(
        "select suffix from quality.variants where outcome <> 'passed' or fingerprint <> ?",
        [dbt.fingerprint(settings)],
    ).fetchall()
    for (suffix,) in rows:
        _drop(connection, str(suffix))


def _start(
    settings: BuildSettings, variant: Variant, first_date: date | None, last_date: date | None
) -> list[date]:
    """Check the request, drop an older build of the variant, record that it is running; return its dates."""
    fingerprint = dbt.fingerprint(settings)
    with open_build_database(settings) as connection:
        _require_build(connection, fingerprint)
        _require_ruleset(connection, variant.ruleset)
        dates = _dates(connection, variant, first_date, last_date)
        _drop(connection, variant.suffix)
        connection.execute(
            "insert into quality.variants values (?, 'running', ?, ?, ?, ?, ?)",
            [
                variant.suffix, fingerprint, variant.ruleset,
                None if variant.as_of is None else naive_utc(variant.as_of),
                dates[0], dates[-1],
            ],
        )  # fmt: skip
    return dates


def _require_build(connection: duckdb.DuckDBPyConnection, fingerprint: str) -> None:
    query = "select fingerprint from quality.builds order by build_number desc limit 1"
    row = connection.execute(query).fetchone()
    if last_build(connection)[1] != "passed" or row is None or row[0] != fingerprint:
        raise WarehouseError("there is no checked build by these models yet: run build first")


def _require_ruleset(connection: duckdb.DuckDBPyConnection, ruleset: int | None) -> None:
    query = "select ruleset_version from core.rulesets order by ruleset_version"
    existing = [int(version) for (version,) in connection.execute(query).fetchall()]
    if ruleset is not None and ruleset not in existing:
        raise WarehouseError(f"there is no ruleset {ruleset}: sql/seeds/rulesets.csv has {existing}")


def _dates(
    connection: duckdb.DuckDBPyConnection, variant: Variant, first_date: date | None, last_date: date | None
) -> list[date]:
    """Return the dates requested that the main build has and that had begun at the instant."""
    as_of = None if variant.as_of is None else naive_utc(variant.as_of)
    rows = connection.execute(
        """
        select distinct service_date from core.service_days
        where service_date between coalesce(?, service_date) and coalesce(?, service_date)
            and zero_at <= coalesce(?, zero_at)
        order by service_date
        """,
        [first_date, last_date, as_of],
    ).fetchall()
    if not rows:
        raise WarehouseError("none of the service dates requested is built")
    return [row[0] for row in rows]


def _drop(connection: duckdb.DuckDBPyConnection, suffix: str) -> None:
    for schema in (*reversed(promised.SCHEMAS), promised.WORKING, "staging"):
        connection.execute(f'drop schema if exists "{schema}{suffix}" cascade')
    connection.execute("delete from quality.variants where suffix = ?", [suffix])
    forget_publication(connection)
