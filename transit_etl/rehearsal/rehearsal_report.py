"""Reports the progress of a rehearsal and, at its end, how fast it went and where the time was spent."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from transit_etl.api.exchange import Outcome


@dataclass(frozen=True, slots=True)
class RehearsalProgress:
    """The progress of a rehearsal: `now` is virtual, `n_requests` counts since it was started or resumed."""

    now: datetime
    seconds_done: float
    seconds_total: float
    n_requests: int


OnProgress = Callable[[RehearsalProgress], None]


@dataclass(frozen=True, slots=True)
class RehearsalReport:
    """What was rehearsed since it was started or resumed.

    `virtual_seconds` passed between `start` and `end` in `real_seconds`, which `seconds_spent` divides
    among the parts of the program. `n_refused` counts the 429s that no fault of the upstream's had asked
    for, from the very beginning. `rejected` and `errors` are sentences of staging.
    """

    start: datetime
    end: datetime
    virtual_seconds: float
    real_seconds: float
    seconds_spent: dict[str, float]
    outcomes: dict[str, int]
    allowance_share: float
    n_refused: int
    rejected: list[str]
    errors: list[str]

    @property
    def times_real_time(self) -> float:
        """How many times faster than the clock on the wall it went."""
        return self.virtual_seconds / max(1e-9, self.real_seconds)

    @property
    def n_rate_limited(self) -> int:
        """How often the upstream refused a request as one too many, asked for by a fault or not."""
        return self.outcomes.get(Outcome.RATE_LIMITED.value, 0)

    @property
    def is_failure(self) -> bool:
        """Whether the upstream refused what it should not have had to, or a raw file could not be read."""
        return self.n_refused > 0 or bool(self.errors)
