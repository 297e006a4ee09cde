"""Builds the marts beside the first: under another ruleset, or as the data stood at another moment."""

import time
from dataclasses import dataclass
from datetime import UTC, date, datetime

import duckdb

from transit_etl.settings import Settings
from transit_etl.warehouse import dbt
from transit_etl.warehouse.builder import BuildReport, stretches
from transit_etl.warehouse.database import WarehouseError, last_build, only_one, opened

_SCHEMAS = ("marts", "core", "intermediate", "staging")


@dataclass(frozen=True, slots=True)
class Variant:
    """Another reading of the same lake. `ruleset` names a version, `as_of` (aware) hides what came later."""

    ruleset: int | None = None
    as_of: datetime | None = None

    @property
    def suffix(self) -> str:
        """What the schemas of this reading end in, such as `_ruleset_2`."""
        rules = "" if self.ruleset is None else f"_ruleset_{self.ruleset}"
        moment = "" if self.as_of is None else f"_as_of_{self.as_of.astimezone(UTC):%Y%m%dt%H%M%Sz}"
        return rules + moment

    @property
    def beside(self) -> dbt.Beside:
        """What tells dbt to build it; staging is the same unless a moment is asked for."""
        moment = "" if self.as_of is None else f"{self.as_of.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}"
        variables: dict[str, str | int] = {
            "beside": self.suffix,
            "ruleset_version": self.ruleset or 0,
            "as_of": moment,
        }
        staging = () if self.as_of is None else ("staging",)
        folders = (*staging, "intermediate", "core", "marts")
        return dbt.Beside(variables, tuple(f"path:models/{folder}" for folder in folders))


def build_variant(
    settings: Settings,
    variant: Variant,
    *,
    first_date: date | None = None,
    last_date: date | None = None,
    on_progress: dbt.OnProgress | None = None,
) -> BuildReport:
    """Build and check intermediate, core and marts once more, into schemas of their own in the same database.

    Takes the service dates that are built already, within those given, and starts from nothing each time.
    A failed one leaves no schema; WarehouseError where there is no checked build to stand beside.
    """
    started = time.monotonic()
    with only_one(settings) as lock:
        dates = _begin(settings, variant, first_date, last_date)
        parts = list(stretches(dates))
        outcomes: list[dbt.Outcome] = []
        try:
            for first, last in parts:
                is_full = not outcomes
                outcomes.append(
                    dbt.run(
                        settings, first, last,
                        is_full=is_full, lock=lock, on_progress=on_progress, beside=variant.beside,
                    )
                )  # fmt: skip
        except dbt.BuildFailedError:
            with opened(settings) as connection:
                drop_unfinished(connection)
            raise
        with opened(settings) as connection:
            connection.execute(
                "update quality.variants set outcome = 'passed' where suffix = ?", [variant.suffix]
            )
    return BuildReport(
        n_files=0,
        n_dates=len(dates),
        n_models=sum(outcome.n_models for outcome in outcomes),
        n_checks=sum(outcome.n_checks for outcome in outcomes),
        first_date=dates[0],
        last_date=dates[-1],
        seconds=time.monotonic() - started,
    )


def drop_unfinished(connection: duckdb.DuckDBPyConnection) -> None:
    """Remove the schemas of builds beside the first that did not pass, or that other models made."""
    rows = connection.execute(
        "select suffix from quality.variants where outcome <> 'passed' or fingerprint <> ?",
        [dbt.fingerprint()],
    ).fetchall()
    for (suffix,) in rows:
        _drop(connection, str(suffix))


def _begin(
    settings: Settings, variant: Variant, first_date: date | None, last_date: date | None
) -> list[date]:
    """Check what was asked for, make room, and mark the variant as being built; return its dates."""
    now = dbt.fingerprint()
    with opened(settings) as connection:
        _require_build(connection, now)
        _require_ruleset(connection, variant.ruleset)
        dates = _dates(connection, variant, first_date, last_date)
        _drop(connection, variant.suffix)
        connection.execute(
            "insert into quality.variants values (?, 'running', ?, ?, ?, ?, ?)",
            [
                variant.suffix, now, variant.ruleset,
                None if variant.as_of is None else variant.as_of.astimezone(UTC).replace(tzinfo=None),
                dates[0], dates[-1],
            ],
        )  # fmt: skip
    return dates


def _require_build(connection: duckdb.DuckDBPyConnection, fingerprint: str) -> None:
    query = "select fingerprint from quality.builds order by build_number desc limit 1"
    row = connection.execute(query).fetchone()
    if last_build(connection)[1] != "passed" or row is None or row[0] != fingerprint:
        raise WarehouseError("there is no checked build by these models to stand beside: run build first")


def _require_ruleset(connection: duckdb.DuckDBPyConnection, ruleset: int | None) -> None:
    query = "select ruleset_version from core.rulesets order by ruleset_version"
    known = [int(version) for (version,) in connection.execute(query).fetchall()]
    if ruleset is not None and ruleset not in known:
        raise WarehouseError(f"there is no ruleset {ruleset}: sql/seeds/rulesets.csv has {known}")


def _dates(
    connection: duckdb.DuckDBPyConnection, variant: Variant, first_date: date | None, last_date: date | None
) -> list[date]:
    """Return the dates built already, of those asked for, that had begun by the moment asked about."""
    moment = None if variant.as_of is None else variant.as_of.astimezone(UTC).replace(tzinfo=None)
    rows = connection.execute(
        """
        select distinct service_date from core.service_days
        where service_date between coalesce(?, service_date) and coalesce(?, service_date)
            and zero_at <= coalesce(?, zero_at)
        order by service_date
        """,
        [first_date, last_date, moment],
    ).fetchall()
    if not rows:
        raise WarehouseError("none of the service dates asked for is built")
    return [row[0] for row in rows]


def _drop(connection: duckdb.DuckDBPyConnection, suffix: str) -> None:
    for schema in _SCHEMAS:
        connection.execute(f'drop schema if exists "{schema}{suffix}" cascade')
    connection.execute("delete from quality.variants where suffix = ?", [suffix])
