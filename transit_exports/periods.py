"""Says which rows of a table belong to a period of service dates, from the columns that the table has."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from transit_exports.request import ExportError, Request
from transit_exports.source import Publication, Table

# The first of these columns that a table has says which date a row is of.
_DATES = ("service_date", "received_date", "found_date")
# A row of another table counts from an instant until another, or still, if it has such a pair of columns.
_SPANS = (("valid_from", "valid_to"), ("first_seen_at", "ended_before"), ("from_at", "to_at"))


@dataclass(frozen=True, slots=True)
class Period:
    """Service dates from the first to the last."""

    first: date
    last: date

    @property
    def n_dates(self) -> int:
        """How many dates it has."""
        return (self.last - self.first).days + 1

    @property
    def month(self) -> str:
        """The month of the first date, such as 2026-03."""
        return f"{self.first:%Y-%m}"

    def days(self) -> Iterator["Period"]:
        """Yield each date of the period."""
        for number in range(self.n_dates):
            day = self.first + timedelta(days=number)
            yield Period(day, day)

    def months(self) -> Iterator["Period"]:
        """Yield the part of each month in the period."""
        first = self.first
        while first <= self.last:
            following = (first.replace(day=1) + timedelta(days=32)).replace(day=1)
            yield Period(first, min(self.last, following - timedelta(days=1)))
            first = following

    def holds(self, column: str) -> str:
        """Return the SQL that tells whether a date lies in the period."""
        return f"{column} between date '{self.first}' and date '{self.last}'"

    def meets(self, start: str, end: str) -> str:
        """Return the SQL that tells whether the time between two instants, or since one, meets the period."""
        is_begun = f"service_date({start}) <= date '{self.last}'"
        return f"{is_begun} and coalesce(service_date({end}) >= date '{self.first}', true)"


def date_column(table: Table) -> str | None:
    """Return the column with the date of a row; None if rows have none."""
    return next((name for name in _DATES if table.has(name)), None)


def in_months(table: Table, period: Period) -> list[tuple[str, str]]:
    """Return each month of a table with the condition of its rows; one without a name if they are undated."""
    column = date_column(table)
    if column is None:
        span = next((pair for pair in _SPANS if table.has(*pair)), None)
        return [("", period.meets(*span) if span else "true")]
    return [(month.month, month.holds(column)) for month in period.months()]


def period_of(request: Request, publication: Publication) -> Period:
    """Return the period that is asked for: by default all dates that are over."""
    first, last = request.first or publication.first_date, request.last or publication.last_date
    if first is None or last is None:
        raise ExportError("the published warehouse has no service date yet")
    if last < first and request.last is None:
        raise ExportError(f"no service date from {first} on is over yet: name the last one with --to")
    if last < first:
        raise ExportError(f"the first date {first} is after the last date {last}")
    return Period(first, last)
