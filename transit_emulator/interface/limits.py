"""Counts the requests of each caller in a sliding minute; the only state of the emulator."""

from bisect import bisect_right, insort
from math import ceil

WINDOW_SECONDS = 60.0


class SlidingLimits:
    """Limits the requests of each caller in any 60 seconds of the caller's own time, real or virtual.

    A caller whose clock steps back by more than the window has started again, and its count with it.
    """

    def __init__(self) -> None:
        self._granted: dict[tuple[str, bool], list[float]] = {}

    def wait_seconds(self, caller: str, now: float, allowed: int, *, is_virtual: bool) -> int:
        """Return 0 and count the request, or the whole seconds after which it would be granted."""
        granted = self._granted.setdefault((caller, is_virtual), [])
        if granted and now < granted[-1] - WINDOW_SECONDS:
            granted.clear()
        del granted[: bisect_right(granted, now - WINDOW_SECONDS)]
        if len(granted) < allowed:
            insort(granted, now)  # virtual instants may arrive slightly out of order
            return 0
        return max(1, ceil(granted[len(granted) - allowed] + WINDOW_SECONDS - now))
