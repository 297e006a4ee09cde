"""Tells the time to everything that waits, so that a test or a rehearsal can decide what time it is."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What the collector knows of time: the present instant, and how to let some of it pass."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return once `seconds` have passed on this clock; at once if they are not positive."""
        ...


class SystemClock:
    """The machine's clock, moved by a fixed number of seconds (0 outside demonstrations)."""

    def __init__(self, shift_seconds: float = 0.0) -> None:
        self._shift = timedelta(seconds=shift_seconds)

    def now(self) -> datetime:
        """Return the machine's time plus the shift."""
        return datetime.fromtimestamp(time.time(), UTC) + self._shift

    async def sleep(self, seconds: float) -> None:
        """Sleep for real."""
        await asyncio.sleep(max(0.0, seconds))


class VirtualClock:
    """A clock that stands still until somebody sleeps, and then jumps there at once."""

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        """Return the virtual instant."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Move the clock by `seconds` and give other tasks a turn."""
        self._now += timedelta(seconds=max(0.0, seconds))
        await asyncio.sleep(0)
