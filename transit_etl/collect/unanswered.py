"""Follows series of requests that got no answer, or none that is usable."""

from datetime import datetime

from transit_etl.api.exchange import Answer, Outcome
from transit_etl.clock import Clock

GIVE_UP_AFTER = 6  # in a row, which takes half a minute of pauses
LONGEST_PAUSE_SECONDS = 15.0


_UNAVAILABLE = (502, 503, 504)  # another server says that the upstream gives no answer


class UnansweredRequests:
    """The series of requests, up to the last one, to which the upstream gave no answer at all."""

    def __init__(self, now: datetime) -> None:
        self.count = 0
        self._last_at = now

    @property
    def is_series(self) -> bool:
        """Whether it is more than a single request, which may fail by chance."""
        return self.count > 1

    @property
    def is_too_long(self) -> bool:
        """Whether a list of requests is given up."""
        return self.count >= GIVE_UP_AFTER

    @property
    def pause_seconds(self) -> float:
        """How long to wait before the next request: 1 s after two, then twice as long each time."""
        return min(2.0 ** (self.count - 2), LONGEST_PAUSE_SECONDS)

    def add(self, answer: Answer) -> None:
        """Count an unanswered request; an answer ends the series. Those in flight together count once."""
        if answer.http_status not in {None, *_UNAVAILABLE}:
            self.count = 0
        elif answer.sent_at >= self._last_at:
            self.count += 1
            self._last_at = answer.received_at


class UnusableAnswers:
    """The series of requests, up to the last one, to which the upstream gave no usable answer."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: float | None = None
        self._is_series = False

    @property
    def seconds(self) -> float:
        """How long it has lasted; 0 for a single request, which may fail by chance."""
        if self._since is None or not self._is_series:
            return 0.0
        return self._clock.stopwatch() - self._since

    def add(self, answer: Answer) -> None:
        """Count an answer; a usable one ends the series."""
        if answer.outcome is Outcome.OK:
            self._since, self._is_series = None, False
            return
        self._is_series = self._since is not None
        self._since = self._clock.stopwatch() if self._since is None else self._since
