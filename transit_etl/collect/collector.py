"""Runs one collection: takes a permit, lets the source choose, sends, lands, and lets the source learn."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta

from transit_etl.api.client import Client
from transit_etl.api.exchange import Answer, Outcome, Request
from transit_etl.clock import Clock
from transit_etl.collect.allowance.budget import Budget, BudgetClosedError, Permit
from transit_etl.collect.isolation import learn
from transit_etl.collect.raw.landing import Landing
from transit_etl.collect.raw.ledger import Planned
from transit_etl.collect.raw.rawfile import DataFolderError
from transit_etl.collect.report import ProgressCallback, Tally
from transit_etl.collect.sources import Source

MAX_IN_FLIGHT = 16  # at 300 a minute three seconds' worth: slow answers do not starve the allowance
GRACE_SECONDS = 2.0  # what answers in flight get at the end; the next window takes over within three
GIVE_UP_AFTER = 6  # unanswered requests in a row, half a minute of pauses, after which a list is given up
_LONGEST_PAUSE_SECONDS = 15.0
_RETRY_PATIENCE = timedelta(seconds=10)


Measure = Callable[[str], AbstractContextManager[None]]


def unmeasured(_part: str) -> AbstractContextManager[None]:
    """Return a context for a part of the work that measures nothing."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Tools:
    """What a collection works with; all of it is shared or outlives it.

    `measure` returns a context for the time that a part of the work ("planning", "landing") takes.
    """

    client: Client
    budget: Budget
    landing: Landing
    clock: Clock
    measure: Measure = unmeasured


class Collector:
    """One collection of one source, until the source has nothing more, the deadline, or `stop`.

    Whatever was planned has its row when `run` returns, however it ends: requests still in flight after
    the grace are marked interrupted, what was due and found no permit is marked not sent, what cannot be
    asked for at all a bad identifier.
    """

    def __init__(
        self,
        tools: Tools,
        source: Source,
        tally: Tally,
        deadline: datetime | None,
        on_progress: ProgressCallback | None = None,
    ) -> None:
        self.is_stopped = False
        self._tools = tools
        self._source = source
        self._tally = tally
        self._deadline = deadline
        self._on_progress = on_progress
        self._started_at = tools.clock.now()
        self._in_flight: set[asyncio.Task[None]] = set()
        self._producer: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._n_retrying = 0
        self._n_unanswered = 0
        self._last_unanswered_at = self._started_at
        self._ended_because = "the collection was over before a permit came"

    async def run(self, begin_at: datetime | None = None) -> None:
        """Collect, from `begin_at` on; a failure to write ends the run and is raised once all is settled."""
        self._started_at = max(self._started_at, begin_at or self._started_at)
        if not self.is_stopped:
            self._producer = asyncio.create_task(self._produce())
            await asyncio.wait([self._producer])
            await self._drain()
            if self._failure is None and not self._producer.cancelled():
                self._failure = self._producer.exception()
        if isinstance(self._failure, DataFolderError):
            raise self._failure  # no row can be kept any more
        if self._failure is not None:
            self._ended_because = f"the collector failed: {self._failure}"
        self._skip_unasked()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Ask for nothing more, and let `run` return within the grace; may be called before it, and twice."""
        self.is_stopped = True
        self._ended_because = "the collector was told to stop"
        self._end()

    def _end(self) -> None:
        if self._producer is not None:
            self._producer.cancel()

    async def _produce(self) -> None:
        await self._wait_for_the_beginning()
        while await self._is_due():
            await self._pause_while_silent()
            await self._make_room()
            if self._is_over() or self._is_given_up():
                return
            request_now = self._source.due_at(self._now())
            if request_now is None:
                continue
            try:
                permit = await self._tools.budget.acquire(self._source.kind, self._deadline)
            except BudgetClosedError as error:
                self._ended_because = str(error)
                return
            self._send(await self._choose(permit), permit)

    async def _wait_for_the_beginning(self) -> None:
        """Wait, if it is too early; meanwhile open what would take its time later."""
        if self._started_at > self._now():
            await self._tools.budget.usage()
        while (early := (self._started_at - self._now()).total_seconds()) > 0:
            await self._tools.clock.sleep(early)

    async def _is_due(self) -> bool:
        """Wait until a request is due; False when none ever will be, or not before the deadline."""
        while True:
            due_at = self._source.due_at(self._now())
            if due_at is None and not self._in_flight:
                return False
            if due_at is None:
                await self._until_an_answer()
            elif self._deadline is not None and due_at >= self._deadline:
                await self._tools.clock.sleep(self._seconds_left())  # the next window goes on from there
                return False
            elif due_at <= self._now():
                return True
            else:
                await self._tools.clock.sleep((due_at - self._now()).total_seconds())

    async def _pause_while_silent(self) -> None:
        """Wait longer and longer while the upstream answers nothing, so that nobody is flooded."""
        while self._n_unanswered > 1 and self._in_flight:
            await self._until_an_answer()
        if self._n_unanswered > 1:
            pause = min(2.0 ** (self._n_unanswered - 2), _LONGEST_PAUSE_SECONDS)
            await self._tools.clock.sleep(min(pause, self._seconds_left()))

    async def _make_room(self) -> None:
        """Wait while too much is in flight, or while a broken connection is about to be tried again."""
        while (self._n_retrying or len(self._in_flight) >= MAX_IN_FLIGHT) and not self._is_over():
            await self._until_an_answer()

    async def _until_an_answer(self) -> None:
        """Wait for any answer in flight, at most until the deadline."""
        if self._deadline is None:
            await asyncio.wait(self._in_flight, return_when=asyncio.FIRST_COMPLETED)
            return
        bell = asyncio.create_task(self._tools.clock.sleep(self._seconds_left()))
        try:
            await asyncio.wait({bell, *self._in_flight}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            bell.cancel()

    async def _choose(self, permit: Permit) -> Request:
        """Return the most valuable request that no other worker has leased, and lease it.

        Those passed over count as asked: another worker asks for them. Once the source offers one of them
        again, every request is leased, and the permit is used all the same.
        """
        passed_over: set[str] = set()
        while True:
            with self._tools.measure("planning"):
                request = self._source.choose(self._now())
            if not self._source.is_shared or request.key in passed_over:
                return request
            is_free = request.key not in permit.leased_elsewhere
            if is_free and await self._tools.budget.lease(permit, request.key):
                return request
            passed_over.add(request.key)

    def _send(self, request: Request, permit: Permit) -> None:
        intent = self._plan(request, self._now())
        self._tally.sent += 1
        task = asyncio.create_task(self._exchange(request, intent, permit))
        self._in_flight.add(task)
        task.add_done_callback(self._finished)

    async def _exchange(self, request: Request, intent: Planned, permit: Permit) -> None:
        permits = [permit]

        async def permit_retry() -> None:
            permits.append(await self._permit_for_retry())

        try:
            answer = await self._tools.client.send(request, before_retry=permit_retry)
        except asyncio.CancelledError:
            self._tools.landing.interrupt(intent)
            self._tally.add_unanswered(Outcome.INTERRUPTED)
            return
        with self._tools.measure("landing"):
            self._tools.landing.land(intent, answer)
        self._take_note(answer)
        with self._tools.measure("planning"):
            learn(self._source, [answer])
        self._warn_of_failures()
        for used in permits:
            await self._tools.budget.settle(used)
        if answer.outcome is Outcome.RATE_LIMITED:
            await self._tools.budget.report_rate_limited(permits[-1], answer.retry_after_seconds)

    def _warn_of_failures(self) -> None:
        for message in self._source.failures.messages:
            self._tally.warn(message)

    async def _permit_for_retry(self) -> Permit:
        patience = self._now() + _RETRY_PATIENCE
        deadline = patience if self._deadline is None else min(patience, self._deadline)
        self._n_retrying += 1
        try:
            return await self._tools.budget.acquire(self._source.kind, deadline)
        finally:
            self._n_retrying -= 1

    def _take_note(self, answer: Answer) -> None:
        self._tally.add(answer)
        if answer.outcome is not Outcome.OK:
            self._tally.warn(f"{answer.outcome.value}: {answer.error or 'no reason given'}")
        if answer.http_status is not None:
            self._n_unanswered = 0
        elif answer.sent_at >= self._last_unanswered_at:  # those in flight together count once
            self._n_unanswered += 1
            self._last_unanswered_at = answer.received_at
        self._show_progress()

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._in_flight.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._failure = self._failure or task.exception()
            self._end()

    async def _drain(self) -> None:
        """Give what is in flight a moment, then let go of it."""
        if not self._in_flight:
            return
        tasks = set(self._in_flight)
        bell = asyncio.create_task(self._tools.clock.sleep(GRACE_SECONDS))
        while pending := {task for task in tasks if not task.done()}:
            await asyncio.wait({bell, *pending}, return_when=asyncio.FIRST_COMPLETED)
            if bell.done():
                break
        bell.cancel()
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending)

    def _skip_unasked(self) -> None:
        """Keep a row for what was due and not sent, or cannot be asked for, and why."""
        for request, due_at in self._source.unasked(self._now()):
            self._tools.landing.skip(self._plan(request, due_at), self._ended_because)
            self._tally.add_unanswered(Outcome.NOT_SENT)
        for each in self._source.unaskable:
            intent = self._plan(each.request, self._now())
            self._tools.landing.skip(intent, each.reason, Outcome.BAD_IDENTIFIER)
            self._tally.add_unanswered(Outcome.BAD_IDENTIFIER)
            self._tally.warn(f"not asked: {each.reason}")
        self._show_progress()

    def _plan(self, request: Request, at: datetime) -> Planned:
        with self._tools.measure("landing"):
            intent = self._tools.landing.plan(request, at)
        self._tally.planned += 1
        return intent

    def _is_over(self) -> bool:
        return self._deadline is not None and self._now() >= self._deadline

    def _is_given_up(self) -> bool:
        """Tell whether to stop asking a silent upstream; a poll of a moment goes on until its deadline."""
        if self._deadline is not None or self._n_unanswered < GIVE_UP_AFTER:
            return False
        self._ended_because = f"the upstream left {self._n_unanswered} requests in a row unanswered"
        self._tally.warn(f"given up: {self._ended_because}")
        return True

    def _now(self) -> datetime:
        return self._tools.clock.now()

    def _seconds_left(self) -> float:
        if self._deadline is None:
            return _LONGEST_PAUSE_SECONDS
        return max(0.0, (self._deadline - self._now()).total_seconds())

    def _show_progress(self) -> None:
        if self._on_progress is not None:
            self._on_progress(self._tally.progress(self._source.total, self._now() - self._started_at))
