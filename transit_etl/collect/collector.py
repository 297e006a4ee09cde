"""Runs one collection: takes a permit, lets the source choose, sends, lands, and lets the source learn."""

import asyncio
import math
from datetime import datetime, timedelta
from functools import partial

from transit_etl.api.exchange import Answer, Outcome, Request
from transit_etl.clock import SteadyInstant
from transit_etl.collect.allowance.budget import BudgetClosedError, Permit
from transit_etl.collect.isolation import learn
from transit_etl.collect.raw.landing import Landing
from transit_etl.collect.raw.ledger import Planned
from transit_etl.collect.raw.rawfile import DataFolderError
from transit_etl.collect.session import Session
from transit_etl.collect.sources import Source
from transit_etl.collect.tally import ProgressCallback, Tally
from transit_etl.collect.unanswered import UnansweredRequests, UnusableAnswers

MAX_IN_FLIGHT = 16  # three seconds of requests at 300 a minute: slow answers leave no allowance unused
GRACE_SECONDS = 2.0  # how long answers in flight are waited for at the end; the next window begins within 3 s
_RETRY_TIMEOUT = timedelta(seconds=10)
# Not for want of a permit: `check` would say that the allowance does not suffice.
_NOT_WATCHED = "the audit did not get to it before its share was used up or the collection was over"


class Collector:
    """One collection of one source, until the source is exhausted, the deadline is reached, or `stop`.

    It is given up when no answer was usable for `patience_seconds`; a list without a deadline also when some
    requests in a row stay unanswered.

    Every planned request has its row when `run` returns, however it ends: `interrupted` if it was still in
    flight after the grace period, `not_sent` if it was due and no permit came, `bad_identifier` if no
    address can be made of its identifier.
    """

    def __init__(
        self,
        session: Session,
        landing: Landing,
        source: Source,
        tally: Tally,
        *,
        deadline: datetime | None,
        patience_seconds: float = math.inf,
        on_progress: ProgressCallback | None = None,
    ) -> None:
        self.is_stopped = False
        self.is_given_up = False
        self._session = session
        self._landing = landing
        self._source = source
        self._tally = tally
        self._deadline = None if deadline is None else SteadyInstant(session.clock, deadline)
        self._patience_seconds = patience_seconds
        self._on_progress = on_progress
        self._started_at = session.clock.now()
        self._in_flight: set[asyncio.Task[None]] = set()
        self._producer: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._n_retrying = 0
        self._unanswered = UnansweredRequests(self._started_at)
        self._unusable = UnusableAnswers(session.clock)
        self._ended_because = "the collection was over before a permit came"

    async def run(self, begin_at: datetime | None = None) -> None:
        """Collect, from `begin_at` on; a failure to write is raised once every request has its row."""
        self._started_at = max(self._started_at, begin_at or self._started_at)
        if not self.is_stopped:
            self._producer = asyncio.create_task(self._produce())
            await asyncio.wait([self._producer])
            await self._drain()
            if self._failure is None and not self._producer.cancelled():
                self._failure = self._producer.exception()
        if self._failure is None:
            self._land_unsent()
            return
        if not isinstance(self._failure, DataFolderError):  # with this one no row can be kept any more
            self._ended_because = f"the collector failed: {self._failure}"
            self._land_unsent()
        raise self._failure

    def stop(self) -> None:
        """Send nothing more, so that `run` returns within the grace period; may be called early or twice."""
        self.is_stopped = True
        self._ended_because = "the collector was told to stop"
        self._end()

    def _end(self) -> None:
        if self._producer is not None:
            self._producer.cancel()

    async def _produce(self) -> None:
        await self._wait_until_start()
        while await self._wait_until_due():
            await self._wait_while_unanswered()
            await self._wait_for_free_slot()
            if self._is_over() or self._gives_up():
                return
            if self._source.due_at(self._now()) is None:
                continue
            try:
                permit = await self._session.budget.acquire(self._source.kind, self._ends_at())
            except BudgetClosedError as error:
                self._ended_because = str(error)
                return
            self._send(await self._choose(permit), permit)

    async def _wait_until_start(self) -> None:
        """Wait for the start, if it is still to come, with the budget's store already open."""
        start = SteadyInstant(self._session.clock, self._started_at)
        if start.seconds_left:
            await self._session.budget.snapshot()
        while early := start.seconds_left:
            await self._session.clock.sleep(early)

    async def _wait_until_due(self) -> bool:
        """Wait until a request is due; return False when none ever will be, or not before the deadline."""
        while True:
            due_at = self._source.due_at(self._now())
            ends_at = self._ends_at()
            if due_at is None and not self._in_flight:
                return False
            if due_at is None:
                await self._wait_for_answer()
            elif ends_at is not None and due_at >= ends_at:
                await self._session.clock.sleep(self._seconds_left())  # the next window goes on from there
                return False
            elif due_at <= self._now():
                return True
            else:
                await self._session.clock.sleep((due_at - self._now()).total_seconds())

    async def _wait_while_unanswered(self) -> None:
        """Back off exponentially while the upstream does not answer, with no request in flight."""
        while self._unanswered.is_series and self._in_flight:
            await self._wait_for_answer()
        if self._unanswered.is_series:
            await self._session.clock.sleep(min(self._unanswered.pause_seconds, self._seconds_left()))

    async def _wait_for_free_slot(self) -> None:
        """Wait while too many requests are in flight, or one waits for the permit of its second attempt."""
        while (self._n_retrying or len(self._in_flight) >= MAX_IN_FLIGHT) and not self._is_over():
            await self._wait_for_answer()

    async def _wait_for_answer(self) -> None:
        """Wait for any answer in flight, at most until the deadline."""
        if self._deadline is None:
            await asyncio.wait(self._in_flight, return_when=asyncio.FIRST_COMPLETED)
            return
        timer = asyncio.create_task(self._session.clock.sleep(self._seconds_left()))
        try:
            await asyncio.wait({timer, *self._in_flight}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()

    async def _choose(self, permit: Permit) -> Request:
        """Return the most valuable request that no other worker has leased, and lease it.

        Those passed over count as asked: another worker asks for them. If every request is leased, the permit
        is used all the same.
        """
        leased = set(permit.leased_elsewhere)
        while True:
            with self._session.measure("planning"):
                request = self._source.choose(self._now(), leased)
            if not self._source.is_shared or request.key in leased:
                return request
            if await self._session.budget.lease(permit, request.key):
                return request
            leased.add(request.key)

    def _send(self, request: Request, permit: Permit) -> None:
        intent = self._plan(request, self._now())
        self._tally.sent += 1
        task = asyncio.create_task(self._exchange(request, intent, permit))
        self._in_flight.add(task)
        task.add_done_callback(self._finished)

    async def _exchange(self, request: Request, intent: Planned, permit: Permit) -> None:
        permits = [permit]
        try:
            answer = await self._session.client.send(
                request, before_retry=partial(self._take_permit_for_retry, permits)
            )
        except asyncio.CancelledError:
            self._landing.interrupt(intent)
            self._tally.add_unanswered(Outcome.INTERRUPTED)
            return
        with self._session.measure("landing"):
            self._landing.land(intent, answer)
        self._count(answer)
        with self._session.measure("planning"):
            learn(self._source, [answer])
        for message in self._source.failures.messages:
            self._tally.warn(message)
        for used in permits:
            await self._session.budget.settle(used)
        if answer.outcome is Outcome.RATE_LIMITED:
            await self._session.budget.report_rate_limited(permits[-1], answer.retry_after_seconds)
        elif answer.outcome is Outcome.SERVER_ERROR and answer.retry_after_seconds:
            await self._session.budget.pause(answer.retry_after_seconds)

    async def _take_permit_for_retry(self, permits: list[Permit]) -> None:
        timeout_at = self._now() + _RETRY_TIMEOUT
        deadline = min(timeout_at, self._ends_at() or timeout_at)
        self._n_retrying += 1
        try:
            permits.append(await self._session.budget.acquire(self._source.kind, deadline))
        finally:
            self._n_retrying -= 1

    def _count(self, answer: Answer) -> None:
        self._tally.add(answer)
        if answer.outcome is not Outcome.OK:
            self._tally.warn(f"{answer.outcome.value}: {answer.error or 'no reason given'}")
        self._unanswered.add(answer)
        self._unusable.add(answer)
        self._show_progress()

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._in_flight.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._failure = self._failure or task.exception()
            self._end()

    async def _drain(self) -> None:
        """Wait for what is in flight for the grace period, then cancel it."""
        tasks = set(self._in_flight)
        timer = asyncio.create_task(self._session.clock.sleep(GRACE_SECONDS))
        while (pending := {task for task in tasks if not task.done()}) and not timer.done():
            await asyncio.wait({timer, *pending}, return_when=asyncio.FIRST_COMPLETED)
        timer.cancel()
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)

    def _land_unsent(self) -> None:
        """Land a row, with the reason, for what was due and not sent or cannot be asked for."""
        for request, due_at in self._source.unsent(self._now()):
            reason = self._ended_because if request.purpose is None else _NOT_WATCHED
            self._landing.skip(self._plan(request, due_at), reason)
            self._tally.add_unanswered(Outcome.NOT_SENT)
        for each in self._source.invalid:
            intent = self._plan(each.request, self._now())
            self._landing.skip(intent, each.reason, Outcome.BAD_IDENTIFIER)
            self._tally.add_unanswered(Outcome.BAD_IDENTIFIER)
            self._tally.warn(f"not asked: {each.reason}")
        self._show_progress()

    def _plan(self, request: Request, at: datetime) -> Planned:
        with self._session.measure("landing"):
            intent = self._landing.plan(request, at)
        self._tally.planned += 1
        return intent

    def _ends_at(self) -> datetime | None:
        """Return the deadline as the clock shows time now; None without one."""
        return None if self._deadline is None else self._deadline.at

    def _is_over(self) -> bool:
        return self._seconds_left() <= 0

    def _gives_up(self) -> bool:
        """Give up a list that nothing answers, and anything without a usable answer for too long."""
        if self._deadline is None and self._unanswered.is_too_long:
            why = f"the upstream left {self._unanswered.count} requests in a row unanswered"
        elif self._unusable.seconds >= self._patience_seconds:
            why = f"the upstream gave no usable answer for {self._unusable.seconds:.0f} seconds"
        else:
            return False
        self.is_given_up, self._ended_because = True, why
        self._tally.warn(f"given up: {why}")
        return True

    def _now(self) -> datetime:
        return self._session.clock.now()

    def _seconds_left(self) -> float:
        return math.inf if self._deadline is None else self._deadline.seconds_left

    def _show_progress(self) -> None:
        if self._on_progress is not None:
            self._on_progress(self._tally.progress(self._source.total, self._now() - self._started_at))
