"""A period has a name that stays, a title, and a period before it."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from transit_exports.periods import Period
from transit_exports.source import Publication
from transit_reports.periods import ReportError, ReportPeriod, period_of, standard_periods

PUBLISHED = Publication(
    published_at=datetime(2026, 3, 18, 4, tzinfo=UTC),
    version="1",
    build_number=1,
    fingerprint="",
    operator="x",
    timezone="Europe/Rome",
    first_date=date(2026, 2, 20),
    last_date=date(2026, 3, 17),
    closed_date=date(2026, 3, 17),
    rulesets=[1],
)


def asked(first: str, last: str) -> ReportPeriod:
    return period_of(PUBLISHED, date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    ("first", "last", "name", "title", "when", "before"),
    [
        ("2026-03-02", "2026-03-02", "2026-03-02", "2 March 2026", "on 2 March 2026", "2026-03-01"),
        ("2026-03-02", "2026-03-08", "2026-W10", "2 to 8 March 2026", "from 2 to 8 March 2026", "2026-W09"),
        ("2026-02-01", "2026-02-28", "2026-02", "February 2026", "in February 2026", "2026-01"),
        (
            "2026-02-27", "2026-03-03", "2026-02-27_2026-03-03", "27 February to 3 March 2026",
            "from 27 February to 3 March 2026", "2026-02-22_2026-02-26",
        ),
    ],
)  # fmt: skip
def test_a_period_is_named_by_its_dates(  # noqa: PLR0917 - one after the other, as pytest gives them
    first: str, last: str, name: str, title: str, when: str, before: str
) -> None:
    period = asked(first, last)

    assert (name, title, when, before) == (period.name, period.title, period.when, period.before.name)


def test_dates_that_are_left_out_are_those_of_the_file() -> None:
    assert Period(date(2026, 2, 20), date(2026, 3, 17)) == period_of(PUBLISHED, None, None).dates


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        ("2026-03-08", "2026-03-02", "is after"),
        ("2026-03-08", "2026-03-18", "is not over"),
        ("2026-01-08", "2026-01-09", "nothing is known of 8 to 9 January 2026"),
    ],
)
def test_what_cannot_be_told_is_refused(first: str, last: str, words: str) -> None:
    with pytest.raises(ReportError, match=words):
        asked(first, last)


def test_without_a_date_that_is_over_there_is_no_period() -> None:
    empty = replace(PUBLISHED, first_date=None, last_date=None)

    assert [] == standard_periods(empty)
    with pytest.raises(ReportError, match="no service date that is over"):
        period_of(empty, None, None)


def test_the_standard_periods_keep_their_name_while_they_grow() -> None:
    periods = standard_periods(PUBLISHED)

    assert [
        ("2026-03-17", "2026-03-17", True),
        ("2026-W12", "2026-03-16", False),
        ("2026-03", "2026-03-01", False),
    ] == [(each.name, str(each.dates.first), each.is_whole) for each in periods]
    assert "1 to 17 March 2026 (of 2026-03, which is not over)" == periods[2].title
    assert ["2026-03-16", "2026-W11", "2026-02"] == [each.before.name for each in periods]
