"""Which months of an export are written again after a build."""

from datetime import date
from types import SimpleNamespace
from typing import Any, cast

import pytest

from transit_exports.changes import changed_months
from transit_exports.manifest import Manifest
from transit_exports.periods import Period
from transit_exports.source import Source

MARCH_AND_APRIL = Period(date(2026, 3, 1), date(2026, 4, 30))


@pytest.mark.parametrize(
    ("built", "months"),
    [
        (date(2026, 3, 15), {"2026-03"}),
        # a build also replaces rows by receipt of the day before and of the day after
        (date(2026, 4, 1), {"2026-03", "2026-04"}),
        (date(2026, 3, 31), {"2026-03", "2026-04"}),
    ],
)
def test_a_build_changes_the_months_of_its_dates_and_of_the_days_around(
    built: date, months: set[str]
) -> None:
    assert months == changed_months(_source([(False, [built])]), _exported(), MARCH_AND_APRIL)


def test_without_a_build_nothing_changes_and_after_a_full_one_everything() -> None:
    assert set() == changed_months(_source([]), _exported(), MARCH_AND_APRIL)
    assert changed_months(_source([(True, [])]), _exported(), MARCH_AND_APRIL) is None


def _source(builds: list[tuple[bool, list[date]]]) -> Source:
    def rows(_query: str, _values: dict[str, Any]) -> list[tuple[bool, list[date]]]:
        return builds

    return cast("Source", SimpleNamespace(rows=rows, publication=SimpleNamespace(build_number=2)))


def _exported() -> Manifest:
    dates = {"first_date": "2026-03-01", "last_date": "2026-04-30"}
    return cast("Manifest", SimpleNamespace(versions={"build": "1"}, **dates))
