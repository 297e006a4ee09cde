"""Finds the months in which anything was built since an export was made."""

from datetime import date, timedelta

from transit_exports.manifest import Manifest
from transit_exports.periods import Period
from transit_exports.source import Source

# Tables dated by receipt or by finding: a build of a date also replaces their rows of the days around it.
_AROUND = [timedelta(days=days) for days in (-1, 0, 1)]
_BUILT = """
select is_full, coalesce(dates, range(first_date, last_date + 1, interval 1 day)::date[])
from quality.builds where build_number > $since
"""


def changed_months(source: Source, before: Manifest, period: Period) -> set[str] | None:
    """Return the months of a period that must be written again; None if all must, as after a full build.

    Dates that were not in the export before count as changed too, those outside the period do not.
    """
    since = int(before.versions["build"])
    builds = source.rows(_BUILT, {"since": since})
    if source.publication.build_number < since or any(is_full for is_full, _ in builds):
        return None
    dates = {day for _, days in builds for day in days if period.first <= day <= period.last}
    earlier = Period(date.fromisoformat(before.first_date), date.fromisoformat(before.last_date))
    added = {day.first for day in period.days()} - {day.first for day in earlier.days()}
    gone = {day for day in (earlier.first, earlier.last) if not period.first <= day <= period.last}
    return {f"{day + around:%Y-%m}" for day in dates | added | gone for around in _AROUND}
