"""Near dates are asked for at every run, later ones sparsely, with a small part of the allowance."""

import re
from collections import Counter
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from transit_etl.collect.known_network import LastAnswer
from transit_etl.collect.timetable_dates import (
    MOST_LATER,
    NEAR_DAYS,
    OLDEST_ANSWERS,
    timetable_key,
    timetables_to_ask,
)
from transit_etl.service_day import DAY

FIRST_RUN = datetime(2026, 3, 2, 5, 10)  # noqa: DTZ001 - of the lake
RUN_EVERY = timedelta(hours=4)
LINES = [f"{number:03}-00" for number in range(234)]
DAYS_AHEAD = 14
ALLOWANCE = 60 * 24 * 60  # requests a day without a token
Run = list[tuple[str, date]]


def _runs(n_days: int, jitter: timedelta = timedelta()) -> list[tuple[datetime, Run]]:
    """Ask for everything at runs of four hours, each answered at once; every second run is late."""
    known: dict[str, LastAnswer] = {}
    runs = []
    for number in range(6 * n_days):
        now = FIRST_RUN + number * RUN_EVERY + number % 2 * jitter
        asked = timetables_to_ask(LINES, now.date(), DAYS_AHEAD, known, now)
        runs.append((now, asked))
        known |= {timetable_key(*pair): LastAnswer(now) for pair in asked}
    return runs


@pytest.mark.parametrize("jitter", [timedelta(), timedelta(minutes=20)])
def test_near_dates_are_asked_at_every_run_and_no_answer_gets_older_than_its_distance_allows(
    jitter: timedelta,
) -> None:
    last: dict[tuple[str, date], datetime] = {}
    for number, (now, asked) in enumerate(_runs(12, jitter)):
        last |= dict.fromkeys(asked, now)
        assert len(asked) == len(set(asked))
        assert len(asked) <= NEAR_DAYS * len(LINES) + MOST_LATER
        for ahead in range(DAYS_AHEAD + 1):
            day = now.date() + ahead * DAY
            oldest = next(age for most, age in OLDEST_ANSWERS.items() if ahead <= most)
            allowed = timedelta() if ahead < NEAR_DAYS else oldest + RUN_EVERY / 2
            if number >= 12:  # two days after the start, when all have been asked once
                assert all(now - last[code, day] <= allowed for code in LINES)


@pytest.mark.long
def test_the_documents_tell_what_share_of_the_allowance_timetables_take() -> None:
    days = Counter(now.date() for now, asked in _runs(28) for _ in asked)
    settled = [n for day, n in days.items() if day >= FIRST_RUN.date() + 14 * DAY]
    share = sum(settled) / len(settled) / ALLOWANCE
    most = max(len(asked) for _, asked in _runs(28))
    text = Path("docs/settings.md").read_text(encoding="utf-8")
    found = re.search(
        r"for 234 lines ([\d,]+) requests a day, ([\d.]+) % of 60 a minute, at most ([\d,]+) in a run", text
    )

    assert found is not None
    assert (f"{round(sum(settled) / len(settled)):,}", f"{100 * share:.1f}", f"{most:,}") == found.groups()
    assert 0.25 > 15 * 234 * 6 / ALLOWANCE > 3 * share  # of asking for every date at every run


def test_a_day_is_asked_for_line_by_line_the_oldest_answer_first() -> None:
    now = FIRST_RUN
    today = now.date()
    known = {
        timetable_key("001-00", today): LastAnswer(now - timedelta(hours=4)),
        timetable_key("002-00", today): LastAnswer(now - timedelta(hours=8)),
    }

    asked = timetables_to_ask(["001-00", "002-00", "003-00"], today, 0, known, now)

    assert [("003-00", today), ("002-00", today), ("001-00", today)] == asked


def test_of_later_dates_failed_ones_come_first_then_those_never_answered_then_the_most_overdue() -> None:
    now = FIRST_RUN
    today = now.date()
    ages = {2: timedelta(hours=30), 3: timedelta(hours=21), 4: timedelta(hours=23), 8: timedelta(hours=60)}
    known = {timetable_key("l", today + n * DAY): LastAnswer(now - age) for n, age in ages.items()}
    known[timetable_key("l", today + 7 * DAY)] = LastAnswer(now, is_failed=True)

    asked = timetables_to_ask(["l"], today, 8, known, now)

    assert [0, 1, 7, 5, 6, 2, 8, 4] == [(day - today).days for _, day in asked]


def test_timetables_that_always_fail_leave_room_for_the_others() -> None:
    now = FIRST_RUN
    bad = LINES[:200]
    known = {
        timetable_key(code, now.date() + n * DAY): LastAnswer(None, is_failed=True)
        for code in bad
        for n in range(15)
    }

    asked = timetables_to_ask(LINES, now.date(), DAYS_AHEAD, known, now)[NEAR_DAYS * len(LINES) :]

    assert MOST_LATER == len(asked)
    assert MOST_LATER / 2 == sum(code in bad for code, _ in asked)
