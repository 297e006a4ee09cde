"""Sums up the findings about data: odd but possible answers, which stop no build."""

from collections.abc import Collection
from datetime import date

import duckdb

from transit_etl.queries import query
from transit_etl.settings import Settings

# A warehouse that an older version built has no such table.
_TABLE = "select 1 from duckdb_tables() where schema_name = 'quality' and table_name = 'findings'"
_SENTENCES = """
select
    concat(
        if((select count(distinct operator) > 1 from quality.findings), concat(operator, ': '), ''),
        found_in, ': ', finding, ' ', cast(sum(n_rows) as bigint), if(sum(n_rows) = 1, ' row, ', ' rows, '),
        min(found_date), if(min(found_date) < max(found_date), concat(' to ', max(found_date)), '')
    ) as sentence
from quality.findings
{where}
group by operator, found_in, finding
order by max(found_date) desc, operator, found_in, finding
"""


def built_findings(connection: duckdb.DuckDBPyConnection, dates: Collection[date]) -> list[str]:
    """Return a sentence for each finding of the dates just built: table, finding, rows and dates."""
    sql = _SENTENCES.format(where="where list_contains($dates, found_date)")
    return [str(row[0]) for row in connection.execute(sql, {"dates": list(dates)}).fetchall()]


def published_findings(settings: Settings) -> list[str]:
    """Return the same of all dates of the published warehouse; NotPublishedError if there is none."""
    if query(settings, _TABLE).num_rows == 0:
        return []
    return [
        str(sentence) for sentence in query(settings, _SENTENCES.format(where=""))["sentence"].to_pylist()
    ]
