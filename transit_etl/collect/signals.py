"""Turns SIGTERM and SIGINT into a request to stop, so that a window ends properly."""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class StopRequest:
    """Whether to stop was requested, perhaps before there was anything to stop."""

    def __init__(self) -> None:
        self._is_made = False
        self._stops: list[Callable[[], None]] = []

    def make(self) -> None:
        """Request to stop."""
        self._is_made = True
        for stop in self._stops:
            stop()

    def on_made(self, stop: Callable[[], None]) -> None:
        """Have `stop` called when the request is made; at once if it was made already."""
        self._stops.append(stop)
        if self._is_made:
            stop()


@contextmanager
def stop_on_signal() -> Iterator[StopRequest]:
    """Turn SIGTERM and SIGINT into a request to stop until the context ends.

    Entered once per run, not by each collector: handlers belong to the process, which may run several
    collectors. Outside the main thread nothing is installed: there signals cannot be handled.
    """
    loop, request = asyncio.get_running_loop(), StopRequest()

    def handle(_number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(request.make)

    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
