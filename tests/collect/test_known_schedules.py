"""What a collection knows of the schedule: departures from the lake, and times read in earlier windows."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.collect.helpers import write_lake, write_network
from tests.collect.upstream import settings_at
from transit_etl.collect.isolation import Failures
from transit_etl.collect.known_network import Catalogue
from transit_etl.collect.known_schedules import KnownSchedules
from transit_etl.collect.planning.parameters import DEFAULTS
from transit_etl.collect.planning.schedule_reading import LineSchedule, TimetableDeparture
from transit_etl.paths import schedules_file
from transit_etl.service_day import DAY

DATE = date(2026, 3, 4)
NOW = datetime(2026, 3, 4, 6, tzinfo=UTC)
STOPS = {"015-00": ["0001", "0002", "0003"]}
SECONDS = 25_200
MEMORY_DAYS = DEFAULTS.schedule.memory_days


def departure(at: datetime, seconds: int = SECONDS, request_id: str = "t1", **more: object) -> dict[str, Any]:
    return {
        "request_id": request_id, "line_code": "015-00", "direction": "outbound", "service_date": DATE,
        "departure_at": at.replace(tzinfo=None), "service_seconds": seconds, **more,
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a data folder that knows one line in one direction."""
    write_network(tmp_path, STOPS)
    return tmp_path


def known(folder: Path, stops: dict[str, list[str]] | None = None) -> KnownSchedules:
    catalogue = Catalogue(folder, "emulated")
    if stops is not None:
        write_network(folder, stops, at=NOW)
    return KnownSchedules(settings_at(folder), catalogue, catalogue.line_directions(), Failures())


def schedule_of(found: KnownSchedules) -> LineSchedule:
    (schedule,) = found.schedules.values()
    return schedule


def read_again(folder: Path, now: datetime = NOW, stops: dict[str, list[str]] | None = None) -> LineSchedule:
    """Return the schedule of the line as a collection that begins at an instant knows it."""
    found = known(folder, stops)
    found.renew(now)
    return schedule_of(found)


def test_departures_are_those_of_the_newest_timetable(folder: Path) -> None:
    write_lake(folder, "timetables", [departure(NOW), departure(NOW + timedelta(hours=1))], at=NOW)
    newer = departure(NOW + timedelta(minutes=5), SECONDS + 300, "t2")
    write_lake(folder, "timetables", [newer], "w2", at=NOW + timedelta(minutes=1))

    assert [TimetableDeparture(NOW.timestamp() + 300, SECONDS + 300)] == read_again(folder).departures


def test_departures_of_other_lines_and_dates_are_left_out(folder: Path) -> None:
    rows = [departure(NOW, line_code="016-00"), departure(NOW, service_date=DATE + 5 * DAY)]
    write_lake(folder, "timetables", rows, at=NOW)

    assert [] == read_again(folder).departures


def test_what_one_collection_has_read_the_next_one_knows(folder: Path) -> None:
    first = known(folder)
    schedule_of(first).read[SECONDS] = 0b101
    schedule_of(first).unlisted[SECONDS] = 0b010
    first.exchange(NOW)

    assert ({SECONDS: 0b101}, {SECONDS: 0b010}) == (read_again(folder).read, read_again(folder).unlisted)


def test_what_several_collections_read_at_the_same_time_is_kept_of_each(folder: Path) -> None:
    both = known(folder), known(folder)
    for bits, each in zip((0b001, 0b100), both, strict=True):
        schedule_of(each).read[SECONDS] = bits
        each.exchange(NOW)
    both[0].exchange(NOW)

    assert {SECONDS: 0b101} == schedule_of(both[0]).read == read_again(folder).read


@pytest.mark.parametrize("text", [None, "", "{", '{"day": 1}', '{"day": "2026-03-04", "lines": {"15": 3}}'])
def test_without_a_readable_file_everything_is_read_again(folder: Path, text: str | None) -> None:
    if text is not None:
        schedules_file(folder, "emulated").parent.mkdir(parents=True, exist_ok=True)
        schedules_file(folder, "emulated").write_text(text)

    assert {} == read_again(folder).read
    assert '"read"' in schedules_file(folder, "emulated").read_text()


def test_the_times_of_a_line_whose_stops_have_changed_are_read_again(folder: Path) -> None:
    first = known(folder)
    schedule_of(first).read[SECONDS] = 1
    first.exchange(NOW)

    assert {} == read_again(folder, stops={"015-00": ["0001", "0009", "0003"]}).read


def test_each_departure_is_forgotten_on_one_day_of_some_weeks(folder: Path) -> None:
    first = known(folder)
    seconds = [SECONDS + 60 * number for number in range(MEMORY_DAYS)]
    schedule_of(first).read |= dict.fromkeys(seconds, 1)
    first.exchange(NOW)
    n_known = [len(read_again(folder, NOW + DAY * number).read) for number in range(MEMORY_DAYS + 1)]

    assert list(range(MEMORY_DAYS, -1, -1)) == n_known


def test_after_a_long_pause_everything_is_forgotten(folder: Path) -> None:
    first = known(folder)
    schedule_of(first).read[SECONDS] = 1
    first.exchange(NOW)

    assert {} == read_again(folder, NOW + DAY * (MEMORY_DAYS + 1)).read


def test_a_failure_of_the_disk_is_said_in_a_sentence_and_the_collection_goes_on(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = schedules_file(folder, "emulated")
    file.mkdir(parents=True)
    failures, catalogue = Failures(), Catalogue(folder, "emulated")
    KnownSchedules(settings_at(folder), catalogue, catalogue.line_directions(), failures).renew(NOW)

    assert 1 == failures.count
    assert f"{file} is a folder where a file belongs" in failures.messages[0]
    assert "Traceback" not in caplog.text
