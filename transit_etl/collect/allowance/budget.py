"""Grants permits, one per request, so that all processes together stay within the allowance."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self, TypeVar
from uuid import uuid4

from transit_etl.api.exchange import RetryRefusedError
from transit_etl.clock import Clock, SteadyInstant
from transit_etl.collect.allowance.budget_state import BudgetState, Decision, Limits
from transit_etl.collect.allowance.budget_store import (
    BudgetStore,
    BudgetStoreError,
    SqlStore,
    StoreUnreachableError,
    Work,
)
from transit_etl.endpoints import Kind
from transit_etl.settings import CollectSettings

T = TypeVar("T")
_HEARTBEATS_UNTIL_DEAD = 3
RECONNECT_SECONDS = 30.0  # the longest that a restart of the store's server is waited for
_RECONNECT_PAUSE_SECONDS = 0.5
_SHORTEST_PAUSE_SECONDS = 0.001  # a virtual clock counts microseconds: for less than one it would stand still


class BudgetClosedError(RetryRefusedError):
    """No permit is granted before the caller's deadline. A client's retry ends with it too."""


@dataclass(frozen=True, slots=True)
class Permit:
    """The right to send one request now. `granted_at` is on the store's clock, `asked_at` on the caller's.

    `leased_elsewhere` are the keys that other callers had leased when it was granted.
    """

    kind: Kind
    granted_at: float
    asked_at: datetime
    leased_elsewhere: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class BudgetSnapshot:
    """Permits of the last minute and waiting callers by kind, and the rates per minute."""

    granted: Mapping[Kind, int]
    waiting: Mapping[Kind, int]
    allowance: int
    current_rate: float
    blocked_until: datetime | None


class Budget(AbstractAsyncContextManager["Budget"]):
    """One allowance, shared by all callers that use the same store with the same credential.

    Take a permit first and choose the request then, so that it is the most valuable one when it is sent:

        permit = await budget.acquire(Kind.PASSAGES, deadline)
        is_ours = await budget.lease(permit, request.key)  # where several processes choose from one list
        answer = await client.send(request, before_retry=lambda: budget.acquire(Kind.PASSAGES, deadline))
        await budget.settle(permit)
        if answer.outcome is Outcome.RATE_LIMITED:
            await budget.report_rate_limited(permit, answer.retry_after_seconds)
        elif answer.retry_after_seconds:
            await budget.pause(answer.retry_after_seconds)

    The state is kept in real time, so callers whose clocks are shifted differently share it.
    """

    def __init__(self, limits: Limits, store: BudgetStore, clock: Clock) -> None:
        self._limits = limits
        self._store = store
        self._clock = clock
        self._expiry = store.heartbeat and store.heartbeat * _HEARTBEATS_UNTIL_DEAD
        self._name = uuid4().hex[:12]
        self._has_leased = False
        self._leased: dict[Permit, str] = {}
        self._answered: list[str] = []

    async def __aexit__(self, *_: object) -> None:
        if self._has_leased:
            with suppress(BudgetStoreError):  # then the leases end by themselves within 75 seconds
                await self._store.transact(lambda state, _: state.release_all(self._name), self._now)
        await self._store.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def acquire(self, kind: Kind, deadline: datetime | None = None) -> Permit:
        """Wait for a permit; BudgetClosedError as soon as it is clear that none comes before `deadline`."""
        caller, permit = uuid4().hex, None
        until = None if deadline is None else SteadyInstant(self._clock, deadline)
        try:
            while permit is None:
                permit = await self._ask(caller, kind, until)
        except (BudgetClosedError, asyncio.CancelledError):
            with suppress(StoreUnreachableError):  # then the caller is forgotten as one that died
                await self._store.transact(lambda state, _: state.withdraw(caller), self._now)
            raise
        return permit

    async def lease(self, permit: Permit, key: str) -> bool:
        """Lease what the permit is used for, unless another caller has leased it; return whether it was.

        A lease ends some seconds after the permit is settled, in which others can read the answer, or with
        this caller.
        """

        def work(state: BudgetState, now: float) -> bool:
            state.advance(now, self._limits, self._expiry)
            return state.lease(self._name, key, now + self._limits.lease)

        self._has_leased = True
        is_ours = await self._transact(work)
        if is_ours:
            self._leased[permit] = key
        return is_ours

    async def settle(self, permit: Permit) -> None:
        """Report that a permit's request is over, answered or not; only a slow one needs a transaction."""
        if permit in self._leased:
            self._answered.append(self._leased.pop(permit))  # the store is told at the next `acquire`
        if self._clock.now() - permit.asked_at <= timedelta(seconds=self._limits.tolerated_delay):
            return

        def work(state: BudgetState, now: float) -> None:
            state.advance(now, self._limits, self._expiry)
            state.settle(now, permit.granted_at, permit.kind, self._limits)

        await self._transact(work)

    async def report_rate_limited(self, permit: Permit, retry_after_seconds: float | None) -> None:
        """Report a 429: all callers stop until `Retry-After` has passed, and go on at half the rate."""

        def work(state: BudgetState, now: float) -> None:
            state.advance(now, self._limits, self._expiry)
            state.slow_down(now, permit.granted_at, retry_after_seconds, self._limits)

        await self._transact(work)

    async def pause(self, seconds: float) -> None:
        """Stop all callers for a while, as a server that is overloaded asks; they go on at the same rate."""

        def work(state: BudgetState, now: float) -> None:
            state.advance(now, self._limits, self._expiry)
            state.block(now, seconds, self._limits)

        await self._transact(work)

    async def snapshot(self) -> BudgetSnapshot:
        """Return how the budget is used at present; nothing is asked for."""

        def work(state: BudgetState, now: float) -> BudgetSnapshot:
            state.advance(now, self._limits, self._expiry)
            waiting = [demand.kind for demand in state.demands.values()]
            blocked_until = self._clock.from_real(datetime.fromtimestamp(state.blocked_until, UTC))
            return BudgetSnapshot(
                granted={kind: state.counts[kind] for kind in Kind},
                waiting={kind: waiting.count(kind) for kind in Kind},
                allowance=self._limits.allowance,
                current_rate=state.rate(now, self._limits),
                blocked_until=blocked_until if state.blocked_until > now else None,
            )

        return await self._transact(work)

    async def _ask(self, caller: str, kind: Kind, deadline: SteadyInstant | None) -> Permit | None:
        asked_at = self._clock.now()
        answered, self._answered = self._answered, []

        def work(state: BudgetState, now: float) -> tuple[Decision, Permit]:
            state.advance(now, self._limits, self._expiry)
            state.release(self._name, answered, now + self._limits.learning)
            decision = state.ask(now, caller, kind, self._limits)
            return decision, Permit(kind, now, asked_at, state.leased_elsewhere(self._name))

        _check(deadline, asked_at)
        decision, permit = await self._transact(work, deadline)
        if decision.is_granted:
            return permit
        _check(deadline, self._clock.now() + timedelta(seconds=decision.slot_in))
        pauses = [
            max(decision.wait, _SHORTEST_PAUSE_SECONDS),
            self._store.heartbeat,
            None if deadline is None else deadline.seconds_left,
        ]
        await self._clock.sleep(min(pause for pause in pauses if pause is not None))
        return None

    async def _transact(self, work: Work[T], deadline: SteadyInstant | None = None) -> T:
        """Change the state; while the store's server restarts, wait and try again.

        A change whose answer was lost is made twice then: at worst a permit counts that nobody uses.
        """
        begun = self._clock.stopwatch()
        while True:
            try:
                return await self._store.transact(work, self._now)
            except StoreUnreachableError:
                if self._clock.stopwatch() - begun > RECONNECT_SECONDS:
                    raise
            _check(deadline, self._clock.now())
            await self._clock.sleep(_RECONNECT_PAUSE_SECONDS)

    def _now(self) -> float:
        return self._clock.to_real(self._clock.now()).timestamp()


def open_budget(settings: CollectSettings, clock: Clock, store: BudgetStore | None = None) -> Budget:
    """Return the budget that all processes with these settings share, or one in a `store` of its own.

    The store is opened when it is first used.
    """
    store = store or SqlStore(settings.budget_url, settings.credential)
    return Budget(Limits(settings.rate_per_minute), store, clock)


def _check(deadline: SteadyInstant | None, at: datetime) -> None:
    if deadline is not None and at >= deadline.at:
        raise BudgetClosedError(f"no permit before {deadline.at:%H:%M:%S}, when the caller has to be done")
