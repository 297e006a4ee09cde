"""Decides who may send a request and when: pure arithmetic on one state that all callers share.

Times are seconds on the store's clock. With `N` requests allowed per `W` seconds and a margin `m`:

- Sliding window: a request at `t` needs that fewer than `N` permits lie in `(t - (W + m), t]`.
- Pace: permits follow each other by `T = (W + m) / rate`. A permit that was granted late, although a caller
  was waiting, leaves a debt of at most `catch_up` seconds, which is made up for with gaps of `spacing * T`;
  time in which no caller waited leaves none. The gap between two permits is never below `spacing * T`.
- Turn: the kind is chosen by `priorities`; of its callers that can go, the one that has waited longest is
  next. If it does not ask for longer than the pace, any other caller of that kind may go.
- Margin: requests reach the server later than their permit, each by another delay. A request that took
  at most `m / 2` is covered by the margin. One that took longer gets a new entry, as of its answer less
  `m / 2` (`settle`): no request arrives after its own answer, so whatever the delays, the server's
  windows hold, and `m / 2` is always left for clocks that do not agree.
- Slow-down: `rate = N * share`. A 429 blocks all callers until `Retry-After` has passed, and halves `share`,
  but only if its permit is younger than the last slow-down: several 429s at once halve it once.
  `share` grows again by `1 / recovery` a second, from the end of the block. A 503 with
  `Retry-After` blocks alike, and halves nothing: it tells of the server, and not of how often was asked.
- Leases: what a caller asks for with its permit is leased to it until `lease` seconds have passed, or
  `learning` seconds after the answer, in which the others can read it. Meanwhile no other can lease it.
- Loss: of a state that is lost it is only known that the whole allowance may have been used, so nobody gets
  a permit for a whole window.
- Clock set back: every time in the state moves back with it. Ages stay as they were at the last access, so
  no permit expires early, and no caller is blocked for longer than before.
"""

import bisect
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from transit_etl.collect.allowance.priorities import next_kind
from transit_etl.endpoints import Kind

CLOCK_TOLERANCE_SECONDS = 1.0
LONGEST_BLOCK_SECONDS = 86_400.0
SMALLEST_SHARE = 0.1  # of the allowance that is used after 429s


@dataclass(frozen=True, slots=True)
class Limits:
    """What the upstream allows and how close to it the budget goes. Times in seconds."""

    allowance: int
    window: float = 60.0
    margin: float = 0.9
    spacing: float = 0.9
    catch_up: float = 2.0
    recovery: float = 300.0
    smallest_share: float = SMALLEST_SHARE
    default_retry_after: float = 5.0
    lease: float = 75.0  # the longest request: two attempts, and a permit between them
    learning: float = 10.0

    @property
    def span(self) -> float:
        """How long a permit counts."""
        return self.window + self.margin

    @property
    def tolerated_delay(self) -> float:
        """How long a request may take without a new entry."""
        return self.margin / 2


class Demand(NamedTuple):
    """A waiting caller: what kind it asks for, since when, when last, and when it can have a permit."""

    kind: Kind
    since: float
    seen: float
    ready: float = 0.0


class Lease(NamedTuple):
    """Who has leased a key, and until when."""

    owner: str
    until: float


class Decision(NamedTuple):
    """Whether a permit was granted; if not, the seconds until the caller's turn and until any caller's."""

    is_granted: bool
    wait: float = 0.0
    slot_in: float = 0.0


@dataclass(slots=True)
class BudgetState:
    """The permits of the last window, oldest first, the waiting callers, the leases, and the slow-down.

    One that `is_lost` blocks all callers for a window from when it is first brought to a time.
    """

    permits: deque[tuple[float, Kind]] = field(default_factory=deque)
    demands: dict[str, Demand] = field(default_factory=dict)
    counts: Counter[Kind] = field(default_factory=Counter)
    granted_since: dict[Kind, int] = field(default_factory=dict)
    leases: dict[str, Lease] = field(default_factory=dict)
    touched_at: float = 0.0
    granted_at: float = 0.0
    paced_at: float = 0.0
    blocked_until: float = 0.0
    slowed_at: float = 0.0
    slow_share: float = 1.0
    is_lost: bool = False

    def advance(self, now: float, limits: Limits, expiry: float | None) -> None:
        """Bring the state to `now`: drop old permits, and demands not renewed for `expiry` seconds."""
        if now < self.touched_at - CLOCK_TOLERANCE_SECONDS:
            self._move(now - self.touched_at)
        self.touched_at = now
        if self.is_lost:
            self.is_lost = False
            self.blocked_until = now + limits.span
        while self.permits and self.permits[0][0] <= now - limits.span:
            self.counts[self.permits.popleft()[1]] -= 1
        if self.leases:
            self.leases = {key: lease for key, lease in self.leases.items() if lease.until > now}
        if expiry is not None:
            self.demands = {name: d for name, d in self.demands.items() if d.seen > now - expiry}

    def ask(self, now: float, caller: str, kind: Kind, limits: Limits) -> Decision:
        """Grant a permit if it is this caller's turn, or say how long to wait before asking again."""
        known = self.demands.get(caller)
        pace = limits.span / self.rate(now, limits)
        slot = self._slot(limits, pace)
        slot_in = max(0.0, slot - now)
        self.demands[caller] = Demand(kind, known.since if known else now, now, slot)
        is_next = self._is_next(now, caller, kind, is_left=now - slot > pace)
        if slot_in > 0 or not is_next:
            return Decision(is_granted=False, wait=slot_in + (0.0 if is_next else pace), slot_in=slot_in)
        self._grant(now, kind, pace, limits)
        del self.demands[caller]
        return Decision(is_granted=True)

    def withdraw(self, caller: str) -> None:
        """Remove a caller that no longer waits."""
        self.demands.pop(caller, None)

    def leased_elsewhere(self, owner: str) -> frozenset[str]:
        """Return the keys that others than `owner` have leased, as of the last `advance`."""
        return frozenset(key for key, lease in self.leases.items() if lease.owner != owner)

    def lease(self, owner: str, key: str, until: float) -> bool:
        """Lease a key to a caller, unless another caller has leased it; return whether it was."""
        held = self.leases.get(key)
        if held is not None and held.owner != owner:
            return False
        self.leases[key] = Lease(owner, until)
        return True

    def release(self, owner: str, keys: Iterable[str], until: float) -> None:
        """End the leases of a caller at `until`, unless they end earlier."""
        for key in keys:
            lease = self.leases.get(key)
            if lease is not None and lease.owner == owner:
                self.leases[key] = Lease(owner, min(lease.until, until))

    def release_all(self, owner: str) -> None:
        """End all leases of a caller."""
        self.leases = {key: lease for key, lease in self.leases.items() if lease.owner != owner}

    def settle(self, now: float, granted_at: float, kind: Kind, limits: Limits) -> None:
        """Date the entry of a request answered late by its answer (`now`) less the tolerated delay."""
        if now - granted_at <= limits.tolerated_delay:
            return
        entry = (granted_at, kind)
        if entry in self.permits:
            self.permits.remove(entry)
            self.counts[kind] -= 1
        bisect.insort(self.permits, (now - limits.tolerated_delay, kind))
        self.counts[kind] += 1

    def slow_down(self, now: float, granted_at: float, retry_after: float | None, limits: Limits) -> None:
        """Obey a 429 to a request whose permit was granted at `granted_at`."""
        wait = limits.default_retry_after if retry_after is None else retry_after
        if granted_at > self.slowed_at:
            self.slow_share = max(limits.smallest_share, self._share(now, limits) / 2)
            self.slowed_at = now
        self.block(now, wait, limits)

    def block(self, now: float, seconds: float, limits: Limits) -> None:
        """Let nobody go for some seconds, and nobody make up afterwards for what was missed."""
        self.slow_share = self._share(now, limits)
        self.blocked_until = max(self.blocked_until, now + min(seconds, LONGEST_BLOCK_SECONDS))
        self.paced_at = max(
            self.paced_at, self.blocked_until - limits.span / (limits.allowance * self.slow_share)
        )

    def rate(self, now: float, limits: Limits) -> float:
        """Return how many requests per window are made at present."""
        return limits.allowance * self._share(now, limits)

    def _is_next(self, now: float, caller: str, kind: Kind, *, is_left: bool) -> bool:
        waiting = {demand.kind for demand in self.demands.values()}
        if next_kind(waiting, self.counts, self.granted_since) is not kind:
            return False
        own = self.demands[caller]
        longer = (d for d in self.demands.values() if d.kind is kind and d.since < own.since)
        return is_left or all(demand.ready > now for demand in longer)

    def _share(self, now: float, limits: Limits) -> float:
        opened_at = max(self.slowed_at, self.blocked_until)
        return min(1.0, self.slow_share + max(0.0, now - opened_at) / limits.recovery)

    def _slot(self, limits: Limits, pace: float) -> float:
        slot = max(self.blocked_until, self.paced_at + pace, self.granted_at + limits.spacing * pace)
        if len(self.permits) >= limits.allowance:
            slot = max(slot, self.permits[-limits.allowance][0] + limits.span)
        return slot

    def _grant(self, now: float, kind: Kind, pace: float, limits: Limits) -> None:
        waited_since = min(demand.since for demand in self.demands.values())
        self.paced_at = max(self.paced_at + pace, waited_since, now - limits.catch_up)
        self.granted_at = now
        self.counts[kind] += 1
        self.granted_since = {other: n + 1 for other, n in self.granted_since.items()} | {kind: 0}
        if self.permits and self.permits[-1][0] > now:
            bisect.insort(self.permits, (now, kind))
        else:
            self.permits.append((now, kind))

    def _move(self, seconds: float) -> None:
        self.permits = deque((at + seconds, kind) for at, kind in self.permits)
        self.demands = {
            caller: Demand(kind, *(at + seconds for at in times))
            for caller, (kind, *times) in self.demands.items()
        }
        self.leases = {key: Lease(owner, until + seconds) for key, (owner, until) in self.leases.items()}
        self.granted_at += seconds
        self.paced_at += seconds
        self.blocked_until += seconds
        self.slowed_at += seconds
