"""Sums up the findings about data: odd but possible answers, which stop no build."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime

import duckdb

from transit_base.quoting import sql_text
from transit_etl.queries import query
from transit_etl.settings import FolderSettings

# A warehouse that an older version built has no such table, or no such columns.
_COLUMNS = (
    "select column_name from duckdb_columns() where schema_name = 'quality' and table_name = 'findings'"
)
_SENTENCES = """
select
    concat(
        {of_whom}, found_in, ': ', finding,
        ' ', cast(sum(n_rows) as bigint), if(sum(n_rows) = 1, ' row, ', ' rows, '),
        min(found_date), if(min(found_date) < max(found_date), concat(' to ', max(found_date)), '')
    ) as sentence
from quality.findings
where {condition}
group by operator, found_in, finding
order by max(found_date) desc, operator, found_in, finding
"""

_LASTING = """
select kind, finding, began_at, n_stops, answer_share, example
from quality.findings
where operator = {operator} and kind is not null and ended_at >= {since}
order by answer_share desc, kind
"""


@dataclass(frozen=True, slots=True)
class Misleading:
    """What misleads in the last published answers about passages.

    `began_at` is in UTC, without a zone; `answer_share` is the share of the answers since then.
    """

    kind: str
    finding: str
    began_at: datetime
    n_stops: int
    answer_share: float
    example: str


def built_findings(connection: duckdb.DuckDBPyConnection, dates: Collection[date]) -> list[str]:
    """Return a sentence for each finding of the dates just built: table, finding, rows and dates.

    It begins with the operator where the build has several, whether or not each has findings.
    """
    sql = _SENTENCES.format(
        of_whom="if((select count(*) > 1 from quality.operators), concat(operator, ': '), '')",
        condition="list_contains($dates, found_date)",
    )
    return [str(row[0]) for row in connection.execute(sql, {"dates": list(dates)}).fetchall()]


def published_findings(settings: FolderSettings) -> list[str]:
    """Return the same of all dates of an operator in the published warehouse, without its name.

    NotPublishedError if nothing is published.
    """
    if query(settings, _COLUMNS).num_rows == 0:
        return []
    sql = _SENTENCES.format(of_whom="''", condition=f"operator = {sql_text(settings.operator)}")
    return [str(sentence) for sentence in query(settings, sql)["sentence"].to_pylist()]


def lasting_findings(settings: FolderSettings, since: datetime) -> list[Misleading]:
    """Return what of an operator's published answers about passages misleads and was seen after an instant.

    `since` is in UTC, without a zone. NotPublishedError if nothing is published.
    """
    if "kind" not in query(settings, _COLUMNS)["column_name"].to_pylist():
        return []
    sql = _LASTING.format(operator=sql_text(settings.operator), since=f"timestamp '{since}'")
    return [Misleading(**row) for row in query(settings, sql).to_pylist()]
