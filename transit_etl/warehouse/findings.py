"""Sums up the findings about data: odd but possible answers, which stop no build."""

from collections.abc import Collection
from datetime import date

import duckdb

from transit_etl.queries import query
from transit_etl.quoting import sql_text
from transit_etl.settings import Settings

# A warehouse that an older version built has no such table.
_TABLE = "select 1 from duckdb_tables() where schema_name = 'quality' and table_name = 'findings'"
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


def built_findings(connection: duckdb.DuckDBPyConnection, dates: Collection[date]) -> list[str]:
    """Return a sentence for each finding of the dates just built: table, finding, rows and dates.

    It begins with the operator where the build has several, whether or not each has findings.
    """
    sql = _SENTENCES.format(
        of_whom="if((select count(*) > 1 from quality.operators), concat(operator, ': '), '')",
        condition="list_contains($dates, found_date)",
    )
    return [str(row[0]) for row in connection.execute(sql, {"dates": list(dates)}).fetchall()]


def published_findings(settings: Settings) -> list[str]:
    """Return the same of all dates of an operator in the published warehouse, without its name.

    NotPublishedError if nothing is published.
    """
    if query(settings, _TABLE).num_rows == 0:
        return []
    sql = _SENTENCES.format(of_whom="''", condition=f"operator = {sql_text(settings.operator)}")
    return [str(sentence) for sentence in query(settings, sql)["sentence"].to_pylist()]
