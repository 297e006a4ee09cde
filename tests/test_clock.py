"""The machine's clock can be moved, and tells aware instants in UTC."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

from transit_etl.clock import SystemClock, VirtualClock


def test_the_system_clock_tells_utc() -> None:
    before = datetime.fromtimestamp(time.time(), UTC)
    now = SystemClock().now()

    assert timedelta(0) == now.utcoffset()
    assert before <= now <= datetime.fromtimestamp(time.time(), UTC)


def test_a_shifted_clock_shows_another_time_at_the_same_pace() -> None:
    ahead = SystemClock(3600).now() - SystemClock().now()

    assert abs(ahead - timedelta(hours=1)) < timedelta(seconds=5)


def test_sleeping_for_a_negative_time_returns_at_once() -> None:
    async def main() -> tuple[float, float]:
        started = time.monotonic()
        await SystemClock().sleep(-5)
        at_once = time.monotonic() - started
        await SystemClock().sleep(0.05)
        return at_once, time.monotonic() - started

    at_once, slept = asyncio.run(main())

    assert at_once < 0.05
    assert slept >= 0.049


def test_a_virtual_clock_tells_utc_whatever_zone_it_starts_in() -> None:
    start = datetime.fromisoformat("2026-03-02T09:00:00+01:00")

    assert "2026-03-02T08:00:00+00:00" == VirtualClock(start).now().isoformat()
