"""Says what is promised of the values of single columns, and checks it in each build.

The data contract has these rules from here: none stands in it that a build does not check.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import duckdb

from transit_base import promised
from transit_base.quoting import quoted_name
from transit_etl.service_day import DAY
from transit_etl.warehouse.describing.contents import Place, quoted_place
from transit_etl.warehouse.describing.dbt_manifest import Manifest
from transit_etl.warehouse.describing.dictionary import ColumnEntry, found_columns, read_dictionary
from transit_etl.warehouse.describing.models import DatedBy, tables_by_date
from transit_etl.warehouse.ranges import date_ranges

# Columns of these sources hold what others answered or set: whatever stands there, no build may stop for it.
_GIVEN = frozenset({"upstream", "reference", "recorded"})
_NUMBERS = ("bigint", "integer", "double", "decimal")
_RANGE = re.compile(r"(?P<low>-?[0-9.]+) (?:to (?P<high>-?[0-9.]+)|or more)(?:, null)?")
_VIEWS_BY_DATE = """
select duckdb_views.schema_name, view_name from duckdb_views()
inner join duckdb_columns() on view_oid = table_oid and column_name = 'service_date'
where duckdb_views.database_name = current_database() and not duckdb_views.internal
"""


@dataclass(frozen=True, slots=True)
class ColumnRules:
    """What holds of each value of a column: that it is none, and the bounds of a number."""

    is_never_null: bool = False
    minimum: str | None = None
    maximum: str | None = None

    def conditions(self, column: str) -> Iterator[tuple[str, str]]:
        """Yield each rule in words, and as SQL that is false where a value breaks it."""
        name = quoted_name(column)
        if self.is_never_null:
            yield "is never null", f"{name} is not null"
        if self.minimum is not None:
            yield f"is {self.minimum} or more", f"coalesce({name} >= {self.minimum}, true)"
        if self.maximum is not None:
            yield f"is {self.maximum} at most", f"coalesce({name} <= {self.maximum}, true)"


def column_rules(column: ColumnEntry) -> ColumnRules:
    """Return the rules of a promised column of a model, from the values that the dictionary allows there."""
    if column.source in _GIVEN:
        return ColumnRules()
    found = _RANGE.fullmatch(column.allowed_values) if column.type.startswith(_NUMBERS) else None
    return ColumnRules(
        is_never_null=column.schema_name != "quality" and "null" not in column.allowed_values,
        minimum=found["low"] if found else None,
        maximum=found["high"] if found else None,
    )


def broken_rules(
    connection: duckdb.DuckDBPyConnection, manifest: Manifest, dates: Sequence[date]
) -> Iterator[str]:
    """Yield each rule that rows of the sorted service dates of a build break, with their number."""
    by_date = {**_views_by_date(connection), **tables_by_date(manifest)}
    dictionary = read_dictionary(found_columns(connection, promised.SCHEMAS), manifest)
    for table in dictionary.tables:
        place = table.schema_name, table.table_name
        rules = [
            (f"{column.column_name} {words}", condition)
            for column in dictionary.columns_of(table)
            for words, condition in column_rules(column).conditions(column.column_name)
        ]
        if rules:
            counts = ", ".join(f"count(*) filter (not {condition})" for _, condition in rules)
            rows = connection.execute(
                f"select {counts} from {quoted_place(place)} where {_built(by_date.get(place), dates)}"
            ).fetchall()
            yield from (
                f"{'.'.join(place)}: {words}, but not in {n} rows"
                for (words, _), n in zip(rules, rows[0], strict=True)
                if n
            )


def _views_by_date(connection: duckdb.DuckDBPyConnection) -> dict[Place, DatedBy]:
    """Return the views of which rows of other dates are what they were."""
    rows = connection.execute(_VIEWS_BY_DATE).fetchall()
    return {(schema, name): DatedBy("service_date", 0) for schema, name in rows}


def _built(dated_by: DatedBy | None, dates: Iterable[date]) -> str:
    """Return the condition of the rows that a build of service dates wrote, and of those without a date."""
    if dated_by is None:
        return "true"
    column, around = quoted_name(dated_by.column), dated_by.days_around * DAY
    ranges = (
        f"{column} between date '{first - around}' and date '{last + around}'"
        for first, last in date_ranges(dates)
    )
    return " or ".join((f"{column} is null", *ranges))
