"""Decides which timetables a run asks for: those of near dates always, those of far dates now and then.

And in which order what is listed by line is asked for.
"""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta

from transit_etl.collect.known_network import LastAnswer
from transit_etl.endpoints import CADENCES, ENDPOINTS
from transit_etl.service_day import DAY

NEAR_DAYS = 2  # today and tomorrow
# How old an answer about a later date may be, by days ahead: changes are announced one or two weeks before.
OLDEST_ANSWERS = {7: timedelta(days=1), 14: timedelta(days=2)}
# The most requests about later dates in a run: so many, or so many for each line where that is more.
MOST_LATER, MOST_LATER_PER_LINE = 500, 2
# Of these, the share that may be for timetables whose last request failed: some may fail for ever.
FAILED_SHARE = 0.5
_NEVER_ASKED = LastAnswer(None)
_RUN_EVERY = CADENCES[ENDPOINTS["timetables"].dag].every or timedelta()


def timetables_to_ask(
    codes: Iterable[str],
    today: date,
    days_ahead: int,
    known: Mapping[str, LastAnswer],
    now: datetime,
) -> list[tuple[str, date]]:
    """Return line code and date of the timetables to ask for at an instant (UTC, naive), in order.

    Near dates come first: of each, lines without a good answer first, then by age. Of later dates those
    follow that are due: failed ones, those never answered, nearest first, and those whose answer is too old
    for their distance, the most overdue first. An answer counts as too old half a run early, so that the
    runs of one hour of the day keep asking for the same dates.
    """
    codes = list(codes)
    near: list[tuple[str, date]] = []
    for ahead in range(min(NEAR_DAYS, days_ahead + 1)):
        of_day = {timetable_key(code, today + DAY * ahead): (code, today + DAY * ahead) for code in codes}
        near += [of_day[key] for key in never_or_longest_ago(of_day, known)]
    failed: list[tuple[str, date]] = []
    overdue: list[tuple[float, date, int, str]] = []
    for ahead in range(NEAR_DAYS, days_ahead + 1):
        day = today + DAY * ahead
        oldest = next(age for most_ahead, age in OLDEST_ANSWERS.items() if ahead <= most_ahead)
        for number, code in enumerate(codes):
            answered_at = _last_answer(known, code, day)
            age = now - answered_at if answered_at else timedelta.max
            if known.get(timetable_key(code, day), _NEVER_ASKED).is_failed:
                failed.append((code, day))
            elif age >= oldest - _RUN_EVERY / 2:
                overdue.append((-(age / oldest), day, number, code))
    most = max(MOST_LATER, MOST_LATER_PER_LINE * len(codes))
    later = failed[: int(most * FAILED_SHARE)] + [(code, day) for _, day, _, code in sorted(overdue)]
    return near + later[:most]


def never_or_longest_ago(keys: Iterable[str], known: Mapping[str, LastAnswer]) -> list[str]:
    """Order keys: first those that never had a good answer, then those that had it longest ago."""
    return sorted(keys, key=lambda key: known.get(key, _NEVER_ASKED).received_at or datetime.min)  # noqa: DTZ901


def timetable_key(code: str, day: date) -> str:
    """Return the key of a timetable's requests in the ledger: `<line>/<YYYY-MM-DD>`."""
    return f"{code}/{day.isoformat()}"


def _last_answer(known: Mapping[str, LastAnswer], code: str, day: date) -> datetime | None:
    return known.get(timetable_key(code, day), _NEVER_ASKED).received_at
