"""The vectorised reading of times must agree with the scalar one, at any instant and on both change days."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import scalar_times
from transit_etl import service_day
from transit_etl.settings import Settings
from transit_etl.stage.connection import connect
from transit_etl.stage.raw import arrow

ROME = ZoneInfo("Europe/Rome")
CUTOFF = time(4)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CHANGES = [datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)]

ANYWHEN = st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
AROUND_CHANGES = st.builds(
    lambda change, seconds: change + timedelta(seconds=seconds),
    st.sampled_from(CHANGES),
    st.integers(-40 * 3600, 40 * 3600),
)
INSTANTS = st.one_of(ANYWHEN, AROUND_CHANGES)
CLOCKS = st.integers(0, 86_399)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(
        connect(Settings(timezone="Europe/Rome", service_day_cutoff=CUTOFF, data_dir=Path("unused")))
    ) as made:
        yield made


def us(instant: datetime) -> int:
    return (instant - EPOCH) // timedelta(microseconds=1)


def zone_struct(near: datetime) -> dict[str, int]:
    found = service_day.offsets(ROME, near - timedelta(days=3), near + timedelta(days=3))
    return {
        "early": found[0].seconds * 1_000_000,
        "late": found[-1].seconds * 1_000_000,
        "changed": us(found[-1].valid_from),
    }


def computed(
    connection: duckdb.DuckDBPyConnection, expression: str, rows: list[dict[str, object]]
) -> list[object]:
    connection.register("given_rows", pa.Table.from_pylist(rows))
    return arrow(connection, f"select {expression} as answer from given_rows")["answer"].to_pylist()


@settings(deadline=None, max_examples=60)
@given(cases=st.lists(st.tuples(CLOCKS, INSTANTS), min_size=1, max_size=200))
def test_a_clock_time_gets_the_same_instant_as_from_nearest_reading(
    connection: duckdb.DuckDBPyConnection, cases: list[tuple[int, datetime]]
) -> None:
    expected = [us(scalar_times.nearest_reading(clock, near, ROME)) for clock, near in cases]

    rows: list[dict[str, object]] = [
        {"clock": clock * 1_000_000, "near": us(near), "zone": zone_struct(near)} for clock, near in cases
    ]
    assert expected == computed(connection, "nearest_us(clock, near, zone)", rows)


@settings(deadline=None, max_examples=60)
@given(
    cases=st.lists(
        st.tuples(
            st.one_of(
                st.dates(date(2024, 1, 1), date(2030, 1, 1)),
                st.sampled_from([date(2026, 3, day) for day in (27, 28, 29, 30)]),
                st.sampled_from([date(2026, 10, day) for day in (23, 24, 25, 26)]),
            ),
            st.integers(0, 30 * 3600),
        ),
        min_size=1,
        max_size=200,
    )
)
def test_a_departure_gets_the_same_instant_as_from_departure_instant(
    connection: duckdb.DuckDBPyConnection, cases: list[tuple[date, int]]
) -> None:
    expected = [us(scalar_times.departure_instant(day, clock, ROME, CUTOFF)) for day, clock in cases]

    rows: list[dict[str, object]] = [
        {
            "day": day,
            "clock": clock * 1_000_000,
            "zone": zone_struct(datetime.combine(day, time(12), UTC)),
        }
        for day, clock in cases
    ]
    assert expected == computed(connection, "departure_us(day, clock, zone)", rows)


@settings(deadline=None, max_examples=60)
@given(instants=st.lists(INSTANTS, min_size=1, max_size=200))
def test_an_instant_belongs_to_the_same_service_day_and_second(
    connection: duckdb.DuckDBPyConnection, instants: list[datetime]
) -> None:
    days = [service_day.service_date(instant, ROME, CUTOFF) for instant in instants]
    seconds = [
        int(scalar_times.service_seconds(instant, day, ROME) // 1)
        for instant, day in zip(instants, days, strict=True)
    ]
    expected: list[object] = [
        {"day": day, "second": second} for day, second in zip(days, seconds, strict=True)
    ]

    rows: list[dict[str, object]] = [
        {"at": us(instant), "zone": zone_struct(instant)} for instant in instants
    ]
    expression = """{
        day: service_date_at("at", zone),
        second: seconds_into("at", day_start_us(service_date_at("at", zone), zone))}"""
    assert expected == computed(connection, expression, rows)


@settings(deadline=None, max_examples=60)
@given(
    cases=st.lists(
        st.tuples(
            st.one_of(
                st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1)),  # noqa: DTZ001 - a local time
                st.builds(
                    lambda change, minutes: change.replace(tzinfo=None) + timedelta(minutes=minutes),
                    st.sampled_from(CHANGES),
                    st.integers(-600, 600),
                ),
            ),
            INSTANTS,
        ),
        min_size=1,
        max_size=200,
    )
)
def test_a_local_time_gets_the_same_instant_as_from_local_instant(
    connection: duckdb.DuckDBPyConnection, cases: list[tuple[datetime, datetime]]
) -> None:
    expected = [us(scalar_times.local_instant(local, near, ROME)) for local, near in cases]

    rows: list[dict[str, object]] = [
        {
            "written": us(local.replace(tzinfo=UTC)),
            "near": us(near),
            "zone": zone_struct(local.replace(tzinfo=UTC)),
        }
        for local, near in cases
    ]
    assert expected == computed(connection, "local_us(written, near, zone)", rows)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("07:18:09", 26_289), ("7:18", 26_280), ("24:10", 87_000), ("25:00:01", 90_001), (" 06:00 ", 21_600),
        ("06:60", None), ("0618", None), ("", None), ("6.18", None), ("-1:00", None), (None, None),
    ],
)  # fmt: skip
def test_a_clock_time_is_read_in_every_form_that_occurs(
    connection: duckdb.DuckDBPyConnection, text: str | None, expected: int | None
) -> None:
    rows: list[dict[str, object]] = [{"text": text}]
    found = computed(connection, "clock_us(text::varchar)", rows)

    assert [None if expected is None else expected * 1_000_000] == found
