"""A virtual clock lets concurrent programs run at once, in the order they would have had."""

import asyncio
from datetime import UTC, datetime

import pytest

from transit_etl.clock import VirtualClock

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def _elapsed(clock: VirtualClock) -> float:
    return (clock.now() - START).total_seconds()


def test_two_tasks_sleep_at_the_same_time_and_not_one_after_the_other() -> None:
    clock = VirtualClock(START)
    seen: list[tuple[str, float]] = []

    async def tick(name: str, every: float, times: int) -> None:
        for _ in range(times):
            await clock.sleep(every)
            seen.append((name, _elapsed(clock)))

    async def main() -> None:
        await asyncio.gather(tick("fast", 10, 4), tick("slow", 25, 1))

    clock.run(main())

    assert seen == [("fast", 10), ("fast", 20), ("slow", 25), ("fast", 30), ("fast", 40)]


def test_time_stands_still_while_real_input_or_output_is_under_way() -> None:
    clock = VirtualClock(START)

    async def works_for_real() -> float:
        with clock.busy():
            await asyncio.sleep(0.02)
        return _elapsed(clock)

    async def main() -> tuple[float, None]:
        return await asyncio.gather(works_for_real(), clock.sleep(3600))

    elapsed_when_done, _ = clock.run(main())

    assert elapsed_when_done == 0
    assert _elapsed(clock) == 3600


def test_a_cancelled_sleeper_does_not_move_the_clock() -> None:
    clock = VirtualClock(START)

    async def main() -> None:
        sleeper = asyncio.create_task(clock.sleep(3600))
        await clock.sleep(1)
        sleeper.cancel()
        await clock.sleep(1)

    clock.run(main())

    assert _elapsed(clock) == 2


def test_sleeping_outside_of_run_says_what_to_do() -> None:
    clock = VirtualClock(START)

    with pytest.raises(RuntimeError, match=r"inside VirtualClock\.run"):
        asyncio.run(clock.sleep(1))
