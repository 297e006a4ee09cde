"""Names the periods that reports are about; the name of a period is the name of its folder."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

from transit_base.errors import TransitError
from transit_exports.periods import Period
from transit_exports.source import Publication
from transit_reports.language import _, day_and_month, day_text, month_text

_WEEK = 7


class ReportError(TransitError):
    """A report cannot be made as asked; the message says why and what to ask instead."""


@dataclass(frozen=True, slots=True)
class ReportPeriod:
    """The dates of a report, and the name of its folder: `2026-03-02`, `2026-W10`, `2026-03`, or both dates.

    Of a week or a month that is not over, `dates` are those that are.
    """

    dates: Period
    name: str
    is_whole: bool = True

    @property
    def title(self) -> str:
        """The period as a heading has it, such as `2 to 8 March 2026`."""
        dates = title_of(self.dates)
        return (
            dates
            if self.is_whole
            else _("{dates} (of {name}, which is not over)", dates=dates, name=self.name)
        )

    @property
    def when(self) -> str:
        """The period as the end of a sentence, such as `in March 2026`."""
        if self.dates.n_dates == 1:
            return _("on {day}", day=title_of(self.dates))
        if _is_month(self.dates):
            return _("in {month}", month=title_of(self.dates))
        return _("from {dates}", dates=title_of(self.dates))

    @property
    def days(self) -> list[date]:
        """The dates, in their order."""
        return [self.dates.first + timedelta(days=number) for number in range(self.dates.n_dates)]

    @property
    def before(self) -> "ReportPeriod":
        """The period of the same kind before: the whole week or month, or else as many dates."""
        eve = self.dates.first - timedelta(days=1)
        if self.name == self.dates.month:
            return period_within(_month_of(eve))
        is_week = self.name == f"{self.dates.first:%G-W%V}"
        n_dates = _WEEK if is_week else self.dates.n_dates
        return period_within(Period(self.dates.first - timedelta(days=n_dates), eve))


def title_of(period: Period) -> str:
    """Return dates as a heading has them, such as `2 to 8 March 2026`."""
    first, last = period.first, period.last
    if period.n_dates == 1:
        return day_text(first)
    if _is_month(period):
        return month_text(first)
    if first.year != last.year:
        begin = day_text(first)
    elif first.month != last.month:
        begin = day_and_month(first)
    else:
        begin = f"{first.day}"
    return _("{first_day} to {last_day}", first_day=begin, last_day=day_text(last))


def period_of(publication: Publication, first: date | None, last: date | None) -> ReportPeriod:
    """Return the period asked for, within the dates that are over; without dates it has all of these.

    ReportError if no date of it is in the published file and over.
    """
    if publication.first_date is None or publication.last_date is None:
        raise ReportError("the published file has no service date that is over: build and publish later")
    if first is not None and last is not None and first > last:
        raise ReportError(f"--from {first} is after --to {last}")
    asked = Period(
        first or min(publication.first_date, last or publication.first_date),
        last or max(publication.last_date, first or publication.last_date),
    )
    if asked.last > publication.closed_date:
        raise ReportError(
            f"{asked.last} is not over: the last service date that is, is {publication.closed_date}"
        )
    if asked.last < publication.first_date or asked.first > publication.last_date:
        raise ReportError(
            f"nothing is known of {title_of(asked)}: the published file has {publication.first_date} "
            f"to {publication.last_date}"
        )
    return period_within(asked)


def period_named(publication: Publication, name: str) -> ReportPeriod:
    """Return the period of a name: `2026-03`, `2026-W10`, `2026-03-02`, or `{date}_{date}`.

    ReportError for another name, or if nothing is known of the period.
    """
    try:
        if "_" in name:
            first, last = map(date.fromisoformat, name.split("_"))
        elif "W" in name:
            first = date.fromisoformat(f"{name}-1")
            last = first + timedelta(days=_WEEK - 1)
        elif len(name) == len("2026-03"):
            month = _month_of(date.fromisoformat(f"{name}-01"))
            first, last = month.first, month.last
        else:
            first = last = date.fromisoformat(name)
    except ValueError:
        message = f"{name} is no period: write 2026-03, 2026-W10, 2026-03-02 or 2026-03-02_2026-03-08"
        raise ReportError(message) from None
    return period_of(publication, first, last)


def standard_periods(publication: Publication) -> list[ReportPeriod]:
    """Return the last date that is over, and its week and its month as far as they are."""
    last = publication.last_date
    if last is None:
        return []
    monday = last - timedelta(days=last.weekday())
    return [
        period_within(Period(last, last)),
        ReportPeriod(Period(monday, last), f"{last:%G-W%V}", is_whole=last.weekday() == _WEEK - 1),
        ReportPeriod(
            Period(last.replace(day=1), last), f"{last:%Y-%m}", is_whole=_month_of(last).last == last
        ),
    ]


def period_within(dates: Period) -> ReportPeriod:
    """Return the period of these dates, all of which are in it."""
    return ReportPeriod(dates, _name_of(dates))


def _name_of(dates: Period) -> str:
    if dates.n_dates == 1:
        return f"{dates.first}"
    if dates.n_dates == _WEEK and dates.first.isoweekday() == 1:
        return f"{dates.first:%G-W%V}"
    return dates.month if _is_month(dates) else f"{dates.first}_{dates.last}"


def _month_of(day: date) -> Period:
    return Period(day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1]))


def _is_month(dates: Period) -> bool:
    return dates == _month_of(dates.first)
