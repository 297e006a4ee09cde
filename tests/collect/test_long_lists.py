"""A list that is too long to be credible does not use up the allowance, and the report says so."""

from pathlib import Path

import pytest

from tests.collect.helpers import NOON, write_lake
from transit_etl.api import v1
from transit_etl.clock import SteadyInstant, VirtualClock
from transit_etl.collect.datasets import source_of
from transit_etl.collect.sources import MOST_CATEGORIES, requests_for
from transit_etl.endpoints import ENDPOINTS
from transit_etl.settings import Settings


@pytest.mark.parametrize("at_most", [1, 10])
def test_no_more_is_asked_for_than_is_credible_and_a_warning_says_how_much_is_left_out(at_most: int) -> None:
    listed = requests_for("passages", v1.passages, (f"{n:04d}" for n in range(12)), at_most=at_most)

    assert at_most == len(listed.requests)
    (warning,) = listed.warnings
    assert warning.startswith(f"{12 - at_most} of 12 listed for passages are not asked for")


@pytest.mark.long
def test_a_hundred_thousand_lines_or_categories_are_not_asked_for(tmp_path: Path) -> None:
    write_lake(tmp_path, "lines", [{"line_code": f"L{n}-00", "is_active": True} for n in range(100_000)])
    write_lake(tmp_path, "status", [{"category": f"C{n}"} for n in range(100_000)])
    configured = Settings(data_dir=tmp_path)
    start = SteadyInstant(VirtualClock(NOON), NOON)
    sources = {name: source_of(name, configured, start) for name in ("stops", "timetables", "status")}

    most = ENDPOINTS["lines"].most_rows or 0
    assert 0 < most < 100_000
    assert most == sources["stops"].total
    assert most * 4 == sources["timetables"].total  # of two near dates and two later ones
    assert MOST_CATEGORIES + 1 >= len(sources["status"].unsent(start.at))
    assert all("not credible" in source.failures.messages[0] for source in sources.values())
