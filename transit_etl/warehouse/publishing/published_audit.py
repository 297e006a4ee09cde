"""Sums up the audit of the estimates: by how much they were off, as far as the audit sample tells."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transit_base.quoting import sql_text

# A warehouse that an older version built lacks one of the tables.
_IS_AUDITED = """
select count(distinct table_name) = 2 as is_audited from duckdb_columns()
where concat(schema_name, '.', table_name) in ('quality.audit', 'core.audit_visits')
"""
# Dates are independent samples: each counts by its passages, and their variances add up.
_FIGURES = """
with drawn as (
    select service_date, count(*) as n_drawn, count(*) filter (result = 'passed') as n_seen
    from core.audit_visits
    where
        operator = {operator}
        and service_date > (select max(service_date) from core.audit_visits where operator = {operator}) - 7
    group by service_date
),
audited as (
    select service_date, n_audited, error, (error_high - error_low) / 2 as half_interval
    from quality.audit
    where part = 'all' and operator = {operator}
)
select
    strftime(min(service_date), '%Y-%m-%d') as first_date,
    strftime(max(service_date), '%Y-%m-%d') as last_date,
    sum(n_drawn)::bigint as n_drawn,
    sum(n_seen)::bigint as n_seen,
    coalesce(sum(n_audited), 0)::bigint as n_compared,
    sum(n_audited * error) / sum(n_audited) as error,
    case
        when count(half_interval) = count(n_audited)
            then sqrt(sum(power(n_audited * half_interval, 2))) / sum(n_audited)
    end as half_interval
from drawn left join audited using (service_date)
having sum(n_drawn) > 0
"""

Ask = Callable[[str], Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class AuditFigures:
    """The audit sample of the last seven service dates.

    `error` is the share of unobserved passages that the sample found on time, minus the estimated one: below
    0 where the estimates are too high. Half of its 95 % interval is None as long as too few were compared.
    """

    first_date: str
    last_date: str
    n_drawn: int
    n_seen: int
    n_compared: int
    error: float | None
    half_interval: float | None

    def __str__(self) -> str:
        """Return one line for people."""
        dates = (
            self.last_date if self.first_date == self.last_date else f"{self.first_date} to {self.last_date}"
        )
        drawn = f"{dates}: {self.n_drawn:,} visits drawn, {self.n_seen:,} seen passing"
        if self.error is None or self.half_interval is None:
            return f"{drawn}: too few to compare estimates with"
        low, high = self.error - self.half_interval, self.error + self.half_interval
        error = f"{_points(self.error)} points ({_points(low)} to {_points(high)})"
        return f"{drawn}; observed minus estimated on-time share: {error}"


def audit_figures(ask: Ask, operator: str) -> AuditFigures | None:
    """Return what the audit of an operator found in a published warehouse, which `ask` queries.

    None without a sample.
    """
    if not ask(_IS_AUDITED)[0]["is_audited"]:
        return None
    return next((AuditFigures(**row) for row in ask(_FIGURES.format(operator=sql_text(operator)))), None)


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"
