"""Counts the requests of each caller over sliding minutes; the only state the emulator has."""

from collections import deque
from math import ceil

WINDOW_SECONDS = 60.0


class SlidingLimits:
    """Allows so many requests per caller in any 60 seconds of the caller's own time, real or virtual.

    A caller whose clock steps back by more than the window has begun anew and is counted from nothing.
    """

    def __init__(self) -> None:
        self._granted: dict[tuple[str, bool], deque[float]] = {}

    def wait_seconds(self, caller: str, now: float, allowed: int, *, is_virtual: bool) -> int:
        """Return 0 and count the request, or the whole seconds after which it would be granted."""
        granted = self._granted.setdefault((caller, is_virtual), deque())
        if granted and now < granted[-1] - WINDOW_SECONDS:
            granted.clear()
        while granted and granted[0] <= now - WINDOW_SECONDS:
            granted.popleft()
        if len(granted) < allowed:
            granted.append(now)
            return 0
        return max(1, ceil(granted[len(granted) - allowed] + WINDOW_SECONDS - now))
