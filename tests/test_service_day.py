"""Clock times, dates and service days, around midnight, the cutoff and both clock changes."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import scalar_times
from transit_etl import service_day

ROME = ZoneInfo("Europe/Rome")
CUTOFF = time(4)
HALF_A_DAY = timedelta(hours=12)
SPRING, AUTUMN = date(2026, 3, 29), date(2026, 10, 25)  # 02:00 becomes 03:00; 03:00 becomes 02:00
CHANGES = [datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)]
INSTANTS = st.one_of(
    st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    st.builds(
        lambda change, seconds: change + timedelta(seconds=seconds),
        st.sampled_from(CHANGES),
        st.integers(-90_000, 90_000),
    ),
)
ZONES = st.sampled_from(
    [
        ROME,
        ZoneInfo("America/New_York"),
        ZoneInfo("Asia/Kolkata"),
        ZoneInfo("Australia/Lord_Howe"),
        ZoneInfo("UTC"),
    ]
)


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _rome(text: str, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ROME, fold=fold)


@pytest.mark.parametrize(
    ("local", "expected"),
    [
        ("2026-03-02T04:00:00", date(2026, 3, 2)),
        ("2026-03-02T03:59:59.999999", date(2026, 3, 1)),
        ("2026-03-02T23:59:00", date(2026, 3, 2)),
        ("2026-03-03T00:10:00", date(2026, 3, 2)),
        ("2026-03-29T03:30:00", date(2026, 3, 28)),
        ("2026-10-25T02:30:00", date(2026, 10, 24)),
    ],
)
def test_a_service_day_runs_from_the_cutoff_to_the_next(local: str, expected: date) -> None:
    assert expected == service_day.service_date(_rome(local), ROME, CUTOFF)


@pytest.mark.parametrize(
    ("day", "start"),
    [
        (date(2026, 3, 2), "2026-03-01T23:00:00"),
        (SPRING, "2026-03-28T22:00:00"),  # noon is 10:00 UTC already
        (AUTUMN, "2026-10-24T23:00:00"),  # noon is 11:00 UTC again
    ],
)
def test_a_service_day_counts_from_noon_minus_twelve_hours(day: date, start: str) -> None:
    assert _utc(start) == scalar_times.day_start(day, ROME)


@pytest.mark.parametrize("day", [date(2026, 3, 2), SPRING, AUTUMN])
def test_noon_is_43200_seconds_also_when_clocks_change(day: date) -> None:
    noon = datetime.combine(day, time(12), ROME)

    assert 43_200 == scalar_times.service_seconds(noon, day, ROME)


def test_seconds_run_on_past_midnight() -> None:
    assert 87_000 == scalar_times.service_seconds(_rome("2026-03-03T00:10:00"), date(2026, 3, 2), ROME)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("00:00", 0), ("9:05", 32_700), ("24:10", 87_000), ("23:59:59", 86_399), (" 08:00 ", 28_800)],
)
def test_a_clock_time_is_read_as_seconds(text: str, seconds: int) -> None:
    assert seconds == service_day.parse_clock(text)


@pytest.mark.parametrize(
    "text", ["", "8", "08.00", "08:60", "08:00:60", "-1:00", "08:00:00:00", "ab:cd", "08:"]
)
def test_what_is_no_clock_time_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="not a clock time"):
        service_day.parse_clock(text)


@pytest.mark.parametrize(
    ("clock", "near", "expected"),
    [
        ("00:10", "2026-03-02T23:59:00", "2026-03-03T00:10:00"),  # past midnight
        ("00:01:18", "2026-03-02T23:52:44", "2026-03-03T00:01:18"),
        ("23:59", "2026-03-03T00:10:00", "2026-03-02T23:59:00"),  # a bus of before midnight
        ("20:00", "2026-03-02T08:00:01", "2026-03-02T20:00:00"),  # just under twelve hours ahead
        ("20:00", "2026-03-02T07:59:59", "2026-03-01T20:00:00"),  # just under twelve hours ago
        ("24:10", "2026-03-02T23:59:00", "2026-03-03T00:10:00"),
    ],
)
def test_a_clock_time_takes_the_instant_nearest_the_answer(clock: str, near: str, expected: str) -> None:
    seconds = service_day.parse_clock(clock)

    assert _rome(expected) == scalar_times.nearest_reading(seconds, _rome(near), ROME)


@pytest.mark.parametrize(
    ("clock", "near", "expected"),
    [
        # Spring: 01:00 UTC is the change; clocks go from 01:59:59 to 03:00:00.
        ("03:05", "2026-03-29T00:55:00", "2026-03-29T01:05:00"),
        ("01:58", "2026-03-29T01:02:00", "2026-03-29T00:58:00"),
        ("12:00", "2026-03-28T23:30:00", "2026-03-29T10:00:00"),
        # Autumn: 01:00 UTC is the change; clocks show 02:00 to 02:59 twice.
        ("02:30", "2026-10-25T00:20:00", "2026-10-25T00:30:00"),
        ("02:30", "2026-10-25T01:20:00", "2026-10-25T01:30:00"),
        ("02:05", "2026-10-25T00:58:00", "2026-10-25T01:05:00"),
        ("02:58", "2026-10-25T01:02:00", "2026-10-25T00:58:00"),
        ("03:10", "2026-10-25T01:55:00", "2026-10-25T02:10:00"),
    ],
)
def test_around_a_clock_change_the_reading_nearest_in_time_wins(clock: str, near: str, expected: str) -> None:
    seconds = service_day.parse_clock(clock)

    assert _utc(expected) == scalar_times.nearest_reading(seconds, _utc(near), ROME)


def test_a_clock_time_that_clocks_skip_still_has_an_instant_close_by() -> None:
    reading = scalar_times.nearest_reading(
        service_day.parse_clock("02:30"), _utc("2026-03-29T00:50:00"), ROME
    )

    assert reading in {_utc("2026-03-29T00:30:00"), _utc("2026-03-29T01:30:00")}


@given(INSTANTS, st.integers(0, 86_399), ZONES)
def test_of_all_instants_that_show_a_clock_time_the_nearest_within_half_a_day_is_taken(
    near: datetime, clock_seconds: int, zone: ZoneInfo
) -> None:
    reading = scalar_times.nearest_reading(clock_seconds, near, zone)
    distances = [abs(instant - near) for instant in _instants_showing(clock_seconds, near, zone)]

    assert abs(reading - near) <= HALF_A_DAY
    # On the two days with a change there may be none: skipped in spring, 12 to 13 hours away in autumn.
    if distances and min(distances) <= HALF_A_DAY:
        assert min(distances) == abs(reading - near)


def _instants_showing(clock_seconds: int, near: datetime, zone: ZoneInfo) -> list[datetime]:
    """Every instant of three days whose local clock time is this one, found the slow way."""
    midnight = datetime.combine(near.astimezone(zone).date(), time(0))
    locals_ = [midnight + timedelta(days=days, seconds=clock_seconds) for days in (-1, 0, 1)]
    readings = [local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for local in locals_ for fold in (0, 1)]
    return [instant for instant in readings if instant.astimezone(zone).replace(tzinfo=None) in locals_]


@pytest.mark.parametrize(
    ("day", "clock", "expected"),
    [
        (date(2026, 3, 2), "08:00", "2026-03-02T07:00:00"),
        (date(2026, 3, 2), "23:59", "2026-03-02T22:59:00"),
        (date(2026, 3, 2), "24:10", "2026-03-02T23:10:00"),
        (date(2026, 3, 2), "00:10", "2026-03-02T23:10:00"),  # the night that ends the day
        (date(2026, 3, 2), "27:30", "2026-03-03T02:30:00"),
        (date(2026, 3, 2), "04:00", "2026-03-02T03:00:00"),
        (date(2026, 3, 28), "00:10", "2026-03-28T23:10:00"),
        (date(2026, 3, 28), "03:30", "2026-03-29T01:30:00"),  # summer time by then
        (SPRING, "08:00", "2026-03-29T06:00:00"),
        (date(2026, 10, 24), "00:10", "2026-10-24T22:10:00"),
        (date(2026, 10, 24), "03:30", "2026-10-25T02:30:00"),  # winter time by then
        (AUTUMN, "08:00", "2026-10-25T07:00:00"),
        (AUTUMN, "24:10", "2026-10-25T23:10:00"),
    ],
)
def test_a_departure_belongs_to_the_service_day_that_lists_it(day: date, clock: str, expected: str) -> None:
    seconds = service_day.parse_clock(clock)

    instant = scalar_times.departure_instant(day, seconds, ROME, CUTOFF)

    assert _utc(expected) == instant
    assert day == service_day.service_date(instant, ROME, CUTOFF)


@pytest.mark.parametrize(
    ("near", "expected"),
    [("2026-10-25T00:00:00", "2026-10-25T00:30:00"), ("2026-10-25T03:00:00", "2026-10-25T01:30:00")],
)
def test_a_local_time_that_clocks_show_twice_takes_the_nearer(near: str, expected: str) -> None:
    local = datetime.fromisoformat("2026-10-25T02:30:00")

    assert _utc(expected) == scalar_times.local_instant(local, _utc(near), ROME)


def test_offsets_list_every_change_to_the_second() -> None:
    found = service_day.offsets(ROME, _utc("2026-01-01T00:00:00"), _utc("2027-01-01T00:00:00"))

    assert [
        (_utc("2026-01-01T00:00:00"), 3600),
        (_utc("2026-03-29T01:00:00"), 7200),
        (_utc("2026-10-25T01:00:00"), 3600),
    ] == found


@given(INSTANTS, ZONES)
def test_the_offsets_listed_are_those_in_force(instant: datetime, zone: ZoneInfo) -> None:
    listed = service_day.offsets(zone, instant - timedelta(days=200), instant + timedelta(days=2))
    in_force = [offset.seconds for offset in listed if offset.valid_from <= instant][-1]

    assert service_day.offset_seconds(instant, zone) == in_force


@given(
    before=st.timedeltas(timedelta(0), timedelta(days=3)),
    after=st.timedeltas(timedelta(0), timedelta(days=3)),
)
def test_a_change_is_found_to_the_second_wherever_the_period_begins_and_ends(
    before: timedelta, after: timedelta
) -> None:
    changed_at = datetime(2026, 10, 25, 1, 0, tzinfo=UTC)

    found = service_day.offsets(ROME, changed_at - before - timedelta(microseconds=1), changed_at + after)

    assert found[-1] == service_day.Offset(changed_at, 3600)
