"""Counts requests that stay unanswered one after another, and says how long to wait before the next."""

from datetime import datetime

from transit_etl.api.exchange import Answer

GIVE_UP_AFTER = 6  # in a row, which takes half a minute of pauses
LONGEST_PAUSE_SECONDS = 15.0


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
        if answer.http_status is not None:
            self.count = 0
        elif answer.sent_at >= self._last_at:
            self.count += 1
            self._last_at = answer.received_at
