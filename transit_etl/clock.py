"""Tells the time to everything that waits, so that a test or a rehearsal can decide what time it is."""

import asyncio
import heapq
import selectors
import time
from collections.abc import Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # the first is Linux's


class Clock(Protocol):
    """What the pipeline knows of time, and the one way to wait and to run what waits."""

    @property
    def is_simulated(self) -> bool:
        """Whether this clock tells another time than the real one, so that an emulator has to be told."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""

    def to_real(self, instant: datetime) -> datetime:
        """Return the real instant at which this clock shows `instant`; in virtual time it is the same one."""

    def from_real(self, instant: datetime) -> datetime:
        """Return what this clock shows at a real instant: the inverse of `to_real`."""

    def stopwatch(self) -> float:
        """Return seconds of which only differences mean something: they never run backwards."""

    def busy(self) -> AbstractContextManager[None]:
        """Return a context in which real input or output is under way; virtual time stands still in it."""

    async def sleep(self, seconds: float) -> None:
        """Return once `seconds` have passed on this clock; at once if they are not positive."""

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end on this clock and return its result."""


def in_utc(instant: datetime) -> datetime:
    """Return an aware instant in UTC; ValueError if it lies beyond the first or the last one there is."""
    try:
        return instant.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{instant} is no instant in UTC") from error


def naive_utc(instant: datetime) -> datetime:
    """Return an aware instant as the lake and DuckDB hold it: in UTC, without a zone; else as `in_utc`."""
    return in_utc(instant).replace(tzinfo=None)


class SystemClock:
    """The machine's clock, moved by a fixed number of seconds (0 outside demonstrations)."""

    def __init__(self, shift_seconds: float = 0.0) -> None:
        self._shift = timedelta(seconds=shift_seconds)

    @property
    def is_simulated(self) -> bool:
        """Whether the clock is shifted."""
        return bool(self._shift)

    def now(self) -> datetime:
        """Return the machine's time plus the shift."""
        return self.from_real(datetime.fromtimestamp(time.time(), UTC))

    def to_real(self, instant: datetime) -> datetime:
        """Take the shift off."""
        return instant - self._shift

    def from_real(self, instant: datetime) -> datetime:
        """Add the shift."""
        return instant + self._shift

    def stopwatch(self) -> float:
        """Return a count that goes on evenly when the clock is set and while the machine sleeps."""
        return time.clock_gettime(_STEADY)

    def busy(self) -> AbstractContextManager[None]:
        """Return a context that changes nothing: real time cannot be held."""
        return nullcontext()

    async def sleep(self, seconds: float) -> None:
        """Sleep for real."""
        await asyncio.sleep(max(0.0, seconds))

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in an event loop of its own."""
        return asyncio.run(main)


class SteadyInstant:
    """An instant that stays as far away as it was when the machine's clock is set by a second or more."""

    def __init__(self, clock: Clock, at: datetime) -> None:
        self._clock = clock
        self._at = at
        self._difference = self._clock_minus_stopwatch()

    @property
    def at(self) -> datetime:
        """The instant, as the clock shows time now."""
        moved = self._clock_minus_stopwatch() - self._difference
        return self._at + timedelta(seconds=moved) if abs(moved) >= 1 else self._at

    def later(self, interval: timedelta) -> "SteadyInstant":
        """Return the instant that comes an interval after it."""
        return SteadyInstant(self._clock, self.at + interval)

    @property
    def seconds_left(self) -> float:
        """How far away it is; 0 when it is past."""
        return max(0.0, (self.at - self._clock.now()).total_seconds())

    def _clock_minus_stopwatch(self) -> float:
        return self._clock.now().timestamp() - self._clock.stopwatch()


class VirtualClock:
    """A clock that stands still while any task works and jumps on once all of them sleep.

    Only `run` can tell that all tasks sleep, so `sleep` works inside it alone. Sleepers wake one at a
    time, in order of instant and then of falling asleep: the same program gives the same course.
    """

    is_simulated = True

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)
        self._sleepers: list[tuple[datetime, int, asyncio.Future[None]]] = []
        self._n_slept = 0
        self._n_busy = 0

    def now(self) -> datetime:
        """Return the virtual instant."""
        return self._now

    def to_real(self, instant: datetime) -> datetime:
        """Return the same instant: whatever runs on this clock has no other time."""
        return instant

    def from_real(self, instant: datetime) -> datetime:
        """Return the same instant."""
        return instant

    def stopwatch(self) -> float:
        """Return the virtual instant in seconds, so that what is measured is repeatable."""
        return self._now.timestamp()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Hold the clock still while real input or output is under way."""
        self._n_busy += 1
        try:
            yield
        finally:
            self._n_busy -= 1

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock has jumped `seconds` on; at least give the others a turn."""
        loop = asyncio.get_running_loop()
        if not isinstance(loop, _JumpingLoop):
            raise RuntimeError("a VirtualClock sleeps only inside VirtualClock.run")  # noqa: TRY004
        wake = loop.create_future()
        self._n_slept += 1
        wake_at = self._now + timedelta(seconds=max(0.0, seconds))
        heapq.heappush(self._sleepers, (wake_at, self._n_slept, wake))
        await wake

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end in virtual time and return its result."""
        with asyncio.Runner(loop_factory=lambda: _JumpingLoop(self)) as runner:
            return runner.run(main)

    def wake_next(self) -> bool:
        """Jump to the next sleeper's instant and wake it; False when a task is busy or none sleeps."""
        while self._sleepers and not self._n_busy:
            wake_at, _, wake = heapq.heappop(self._sleepers)
            if not wake.done():
                self._now = max(self._now, wake_at)
                wake.set_result(None)
                return True
        return False


class _JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(_JumpingSelector(clock))


class _JumpingSelector(selectors.DefaultSelector):
    """A loop asks its selector to wait only when no callback is ready: then every task sleeps."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0) or self._clock.wake_next():
            return ready
        return super().select(timeout)
