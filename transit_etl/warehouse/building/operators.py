"""Records of each operator how its service days are read, and which of them are over.

Only service dates that are over count in headlines, recipes and exports.
"""

from datetime import UTC, datetime

import duckdb

from transit_etl.clock import naive_utc
from transit_etl.identity import ServiceDays, service_days
from transit_etl.service_day import DAY
from transit_etl.settings import BuildSettings
from transit_etl.warehouse.building.dbt import set_rulesets

_KNOWN = "select operator, ruleset_version, timezone, service_day_cutoff from quality.operators"
_LAST_ANSWERS = "select operator, max(received_at) from core.requests group by operator"
_HAS_REQUESTS = "select count(*) from duckdb_tables() where (schema_name, table_name) = ('core', 'requests')"


def record_operators(connection: duckdb.DuckDBPyConnection, settings: BuildSettings) -> None:
    """Write how service days are read, and the last service date that is over, into `quality.operators`.

    A date is over once the clock, or an answer received, is past its end: rehearsed answers can be of days to
    come.
    """
    now = naive_utc(settings.clock.now())
    has_requests = connection.execute(_HAS_REQUESTS).fetchone() != (0,)
    answers = connection.execute(_LAST_ANSWERS).fetchall() if has_requests else []
    last_answers: dict[str, datetime] = {operator: at for operator, at in answers if at is not None}
    rulesets = set_rulesets(settings)
    connection.execute("delete from quality.operators")
    for operator, days in service_days(settings).items():
        latest = max(now, last_answers.get(operator, now))
        connection.execute(
            "insert into quality.operators values (?, ?, ?, ?, ?, ?)",
            [
                operator,
                days.timezone,
                days.service_day_cutoff,
                days.starts_seconds,
                days.date_of(latest.replace(tzinfo=UTC)) - DAY,
                rulesets.get(operator),
            ],
        )


def are_other_rules_built(connection: duckdb.DuckDBPyConnection, settings: BuildSettings) -> bool:
    """Return whether the build database was built with other service days, or by another ruleset."""
    days_now, rulesets_now = service_days(settings), set_rulesets(settings)
    return any(
        operator in days_now
        and (days_now[operator], rulesets_now.get(operator)) != (ServiceDays(*days), ruleset)
        for operator, ruleset, *days in connection.execute(_KNOWN).fetchall()
    )
