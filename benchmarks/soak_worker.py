"""Collects and stages for a soak: one long-lived process with the emulator in it, on a virtual clock.

Tasks are lines of JSON on standard input; the reply to each says what this process uses. A task may set the
pipeline's clock, or kill this process, at one of its requests; the emulator's time is right all the while.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

import httpx2
import psutil

from transit_emulator.app import create_app
from transit_emulator.faults.definitions import Fault
from transit_emulator.world import build_world
from transit_etl.api.client import NOW_HEADER
from transit_etl.clock import VirtualClock
from transit_etl.collect import collect
from transit_etl.collect.allowance.budget_store import SqlStore, Work
from transit_etl.settings import Settings
from transit_etl.stage import compact, stage

T = TypeVar("T")


class SetClock(VirtualClock):
    """A clock that somebody sets; its stopwatch goes on."""

    change = timedelta()

    @property
    def true_now(self) -> datetime:
        """The instant that the upstream's clock shows."""
        return super().now()

    def now(self) -> datetime:
        """Return the instant, as the clock was set."""
        return self.true_now + self.change


class HeldStore(SqlStore):
    """The limiter's real file, used in virtual time: a waiting caller asks at its turn, or every 10 s."""

    heartbeat: float | None = 10.0

    def __init__(self, settings: Settings, clock: VirtualClock) -> None:
        super().__init__(settings.budget_url, settings.credential)
        self._clock = clock

    async def transact(self, work: Work[T], now: Callable[[], float]) -> T:
        """Change the state while the clock stands still."""
        with self._clock.busy():
            return await super().transact(work, now)


class Upstream(httpx2.ASGITransport):
    """The emulator, and what happens to the pipeline at one request of a task."""

    def __init__(self, first: dict[str, Any], settings: Settings) -> None:
        faults = tuple(Fault(**fault) for fault in first["faults"])
        rate = settings.rate_per_minute
        super().__init__(create_app(build_world(first["size"]), limit_without_token=rate, faults=faults))
        self.clock = SetClock(datetime.fromisoformat("2026-01-01T00:00Z"))
        self._disturbance: dict[str, Any] = {}
        self._n_asked = 0

    def begin(self, task: dict[str, Any]) -> None:
        """Go to the instant of a task."""
        self.clock, self._n_asked = SetClock(datetime.fromisoformat(task["at"])), 0
        self._disturbance = task.get("disturbance", {})

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer about the right time."""
        request.headers[NOW_HEADER] = self.clock.true_now.isoformat()
        self._n_asked += 1
        if self._n_asked == self._disturbance.get("at_request"):
            if "set_by_seconds" not in self._disturbance:
                os.kill(os.getpid(), signal.SIGKILL)
            self.clock.change = timedelta(seconds=self._disturbance["set_by_seconds"])
        return await super().handle_async_request(request)


def main() -> None:
    """Do the tasks until the input ends; a batch that cannot be staged ends it too."""
    replies = os.dup(1)
    os.dup2(2, 1)  # what libraries print must not mix with the replies
    first = json.loads(sys.stdin.readline())
    settings = Settings(**first["settings"])
    upstream, process = Upstream(first, settings), psutil.Process()
    for line in sys.stdin:
        task = json.loads(line)
        if "dataset" in task:
            upstream.begin(task)
            collect(
                settings,
                task["dataset"],
                seconds=task.get("seconds"),
                clock=upstream.clock,
                store=HeldStore(settings, upstream.clock),
                transport=upstream,
            )
        elif "compact" in task:
            compact(settings, date.fromisoformat(task["compact"]))
        else:
            report = stage(settings)
            for rejected in report.rejected:  # as of a clock that is wrong by minutes
                print(rejected, file=sys.stderr)
            if report.errors:
                sys.exit("\n".join(report.errors))
        used = {
            "memory": process.memory_info().rss,
            "handles": process.num_fds(),
            "threads": process.num_threads(),
        }
        os.write(replies, json.dumps(used).encode() + b"\n")


if __name__ == "__main__":
    main()
