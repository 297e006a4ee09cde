"""Decides, for each way to collect, which requests are made and which of them is next."""

import json
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from transit_etl.api import v0, v1
from transit_etl.api.exchange import Answer, Outcome, Request
from transit_etl.api.identifiers import InvalidIdentifierError
from transit_etl.clock import SteadyInstant
from transit_etl.collect.audit import Audit
from transit_etl.collect.isolation import Failures, Learner
from transit_etl.collect.known_schedules import KnownSchedules
from transit_etl.collect.news_items import FetchedItem, NewsItem, items_to_fetch, news_item
from transit_etl.collect.passage_parser import PassageParser
from transit_etl.collect.planning.policy import Observation, Policy
from transit_etl.endpoints import ENDPOINTS, Kind

MAX_TRIES = 3
_TRANSIENT = frozenset({
    Outcome.EMPTY_BODY,
    Outcome.NOT_JSON,
    Outcome.WRONG_SHAPE,
    Outcome.RATE_LIMITED,
    Outcome.SERVER_ERROR,
    Outcome.TIMEOUT,
    Outcome.CONNECTION_ERROR,
})  # fmt: skip
# The largest networks have fewer stops, and asking for so many things takes over an hour at 300 a minute.
MOST_LISTED = 20_000
MOST_CATEGORIES = 50  # the interface names three, and each is asked for in every window
SEEDED_CATEGORIES = frozenset({"ASC", "MM", "SG"})


@dataclass(frozen=True, slots=True)
class InvalidRequest:
    """A request that cannot be made, because its identifier would not make an address; `reason` says why."""

    request: Request
    reason: str


class Source(Learner, Protocol):
    """Where a collector's requests come from. The collector takes a permit first, and calls `choose` then.

    Several workers choose from a source that `is_shared` at the same time: a request is leased to one of
    them, and each learns from the answers of all. `total` is the number of requests, None if it is open.
    """

    kind: Kind
    total: int | None
    invalid: list[InvalidRequest]
    is_shared: bool

    def due_at(self, now: datetime) -> datetime | None:
        """Return when the next request is due; None if there is none, unless an answer in flight adds one."""

    def choose(self, now: datetime, leased: Collection[str] = ()) -> Request:
        """Return the most valuable request at this moment whose key is not leased; it counts as asked.

        If all are leased, it is one of those.
        """

    def unsent(self, now: datetime) -> list[tuple[Request, datetime]]:
        """Return what was due by `now` and never asked, and when it was due."""


class Listed:
    """A list of requests, each made once, in order; one that failed transiently is tried again at the end.

    One that is paced asks at even intervals, and so leaves the rest of the allowance to others.
    """

    is_shared = False

    def __init__(self, kind: Kind, listed: "RequestList") -> None:
        self.kind = kind
        self.failures = Failures()
        self.failures.messages += listed.warnings
        self.invalid = listed.invalid
        self._queue = deque(listed.requests)
        self._n_tries: dict[Request, int] = {}
        self._every = timedelta()
        self._next: SteadyInstant | None = None
        self.total: int | None = len(self._queue)

    def pace(self, start: SteadyInstant, every: timedelta) -> None:
        """Ask no sooner than `start`, and then not more often than `every` so much time."""
        self._next, self._every = start, every

    def due_at(self, now: datetime) -> datetime | None:
        """Return when the next of the list is due, while there is something left."""
        if not self._queue:
            return None
        return now if self._next is None else max(now, self._next.at)

    def choose(self, now: datetime, leased: Collection[str] = ()) -> Request:  # noqa: ARG002 - it is a list
        """Return the next of the list."""
        if self._next is not None:
            self._next = self._next.later(max(now - self._next.at, timedelta()) + self._every)
        request = self._queue.popleft()
        self._n_tries[request] = self._n_tries.get(request, 0) + 1
        return request

    def observe(self, answer: Answer) -> None:
        """Put a request that failed transiently at the end of the list, a limited number of times."""
        request = answer.request
        if answer.outcome in _TRANSIENT and self._n_tries.get(request, 0) < MAX_TRIES:
            self._queue.append(request)

    def unsent(self, now: datetime) -> list[tuple[Request, datetime]]:
        """Return the rest of the list; nothing if it is paced, as none of that had to be asked by now."""
        return [(request, now) for request in self._queue] if self._next is None else []

    def add(self, listed: "RequestList") -> None:
        """Put more at the end of the list."""
        self._queue.extend(listed.requests)
        self.failures.messages += listed.warnings
        self.invalid += listed.invalid
        self.total = (self.total or 0) + len(listed.requests)


class News(Listed):
    """The list of news, then the full text of the listed items that are new, changed, or due again by age.

    `fetched` holds what is known of the items whose text was fetched, by identifier.
    """

    def __init__(self, fetched: Mapping[str, FetchedItem]) -> None:
        super().__init__(Kind.NEWS, RequestList([v1.news()]))
        self._fetched = fetched

    def observe(self, answer: Answer) -> None:
        """Queue the items that a good list names, as far as their text has to be fetched."""
        super().observe(answer)
        if answer.request.endpoint == "news" and answer.outcome is Outcome.OK:
            due = items_to_fetch(_listed_items(answer), self._fetched, answer.received_at)
            most = ENDPOINTS["news"].most_rows or MOST_LISTED
            self.add(requests_for("news_details", v1.news_item, due, at_most=most))


class Legacy(Listed):
    """Version 0: the status, the news and their items, the timetable of each line, each four-digit stop."""

    def __init__(self, line_codes: Iterable[str], stop_codes: Iterable[str]) -> None:
        timetables = requests_for("v0_timetables", v0.timetable, line_codes)
        transits = requests_for("v0_transits", v0.transits, stop_codes)
        super().__init__(Kind.LEGACY, RequestList([v0.status(), v0.news()]) + timetables + transits)
        self._listed: set[str] = set()

    def observe(self, answer: Answer) -> None:
        """Queue the items of the list of news, whose shape is not specified: every object with an `id`."""
        super().observe(answer)
        if answer.request.endpoint == "v0_news" and answer.outcome is Outcome.OK:
            found = [
                str(row["id"]) for row in _objects_anywhere(_document(answer)) if row.get("id") is not None
            ]
            new = [identifier for identifier in dict.fromkeys(found) if identifier not in self._listed]
            self._listed.update(new)
            self.add(requests_for("v0_news_details", v0.news_item, new))


class Status:
    """The whole service status at even intervals, and each category once in between."""

    kind = Kind.STATUS
    total: int | None = None
    is_shared = False

    def __init__(self, start: SteadyInstant, interval: timedelta, categories: Iterable[str]) -> None:
        self.failures = Failures()
        self._interval = interval
        self._next_whole = start
        known_first = sorted(categories, key=lambda code: (code not in SEEDED_CATEGORIES, code))
        listed = requests_for("status", v1.status, known_first, at_most=MOST_CATEGORIES)
        self.failures.messages += listed.warnings
        self.invalid = listed.invalid
        self._categories = deque((request, start.at) for request in listed.requests)
        self._missed: list[tuple[Request, datetime]] = []

    def due_at(self, now: datetime) -> datetime | None:
        """Return now while a category is left, otherwise when the next whole status is due."""
        return now if self._categories else self._next_whole.at

    def choose(self, now: datetime, leased: Collection[str] = ()) -> Request:  # noqa: ARG002 - not shared
        """Return the whole status when it is due, otherwise the next category."""
        if now < self._next_whole.at and self._categories:
            return self._categories.popleft()[0]
        self._pass_over_missed(now)
        self._next_whole = self._next_whole.later(self._interval)
        return v1.status()

    def observe(self, answer: Answer) -> None:
        """Do nothing: a failed poll is not repeated, because the next one is about another moment."""

    def unsent(self, now: datetime) -> list[tuple[Request, datetime]]:
        """Return the polls that got no permit in time, and the categories left."""
        self._pass_over_missed(now)
        due_now = [(v1.status(), self._next_whole.at)] if self._next_whole.at < now else []
        return [*self._missed, *due_now, *self._categories]

    def _pass_over_missed(self, now: datetime) -> None:
        while (following := self._next_whole.later(self._interval)).at <= now:
            self._missed.append((v1.status(), self._next_whole.at))
            self._next_whole = following


class Passages:
    """The stop that the policy finds most worth a poll at each moment, without an end.

    An audit, if there is one, gets its share of the requests first. `known` is renewed now and then.
    """

    kind = Kind.PASSAGES
    total: int | None = None
    is_shared = True

    def __init__(
        self,
        policy: Policy,
        parser: PassageParser,
        invalid: Iterable[InvalidRequest] = (),
        failures: Failures | None = None,
        audit: Audit | None = None,
        *,
        known: KnownSchedules | None = None,
    ) -> None:
        self.invalid = list(invalid)
        self.failures = failures or Failures()
        self._policy = policy
        self._parser = parser
        self._audit = audit
        self._known = known

    def due_at(self, now: datetime) -> datetime | None:
        """Return now: a poll is always due."""
        return now

    def choose(self, now: datetime, leased: Collection[str] = ()) -> Request:
        """Return the request for the stop most worth a poll, or for one that the audit watches."""
        if self._known is not None:
            self._known.renew(now)
        if self._audit is None:
            return self._best(now, leased)
        return self._audit.with_draws(self._audit.choose(now, leased) or self._best(now, leased), now)

    def observe(self, answer: Answer) -> None:
        """Tell the policy what the answer says; if it cannot be parsed, only that the stop was asked."""
        observation = Observation(answer.request.key, answer.received_at.timestamp(), is_good=False)
        try:
            observation = self._parser.parse(answer)
        finally:
            try:
                self._policy.observe(observation)
            finally:
                if self._audit is not None:
                    self._audit.observe(observation)

    def unsent(self, now: datetime) -> list[tuple[Request, datetime]]:
        """Return what the audit should have asked; the policy only chooses once there is a permit."""
        return [] if self._audit is None else self._audit.unsent(now)

    def _best(self, now: datetime, leased: Collection[str]) -> Request:
        """Return the request for the stop most worth a poll; one that is leased is passed over once."""
        passed_over: set[str] = set()
        while (stop_code := self._policy.choose(now.timestamp())) in leased and stop_code not in passed_over:
            passed_over.add(stop_code)
        return v1.passages(stop_code)


@dataclass(slots=True)
class RequestList:
    """Requests to be made, in order, those left out because they cannot be made, and warnings."""

    requests: list[Request]
    invalid: list[InvalidRequest] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def __add__(self, other: "RequestList") -> "RequestList":
        """Return both, one after the other."""
        return RequestList(
            self.requests + other.requests, self.invalid + other.invalid, self.warnings + other.warnings
        )


def requests_for(
    endpoint: str,
    build: Callable[[str], Request],
    codes: Iterable[str],
    *,
    key: Callable[[str], str] = str,
    at_most: int = MOST_LISTED,
) -> RequestList:
    """Build a request per code; `key` makes the ledger's key of a code that no request can be built from.

    There are `at_most` so many: a list that is longer is not credible, and would use up the allowance.
    """
    listed = RequestList([])
    n_left_out = 0
    for number, code in enumerate(codes, start=1):
        if number > at_most:
            n_left_out += 1
            continue
        try:
            listed.requests.append(build(code))
        except InvalidIdentifierError as error:
            request = Request(endpoint, key(code), "", ENDPOINTS[endpoint].version)
            listed.invalid.append(InvalidRequest(request, str(error)))
    if n_left_out:
        left_out = f"{n_left_out:,} of {n_left_out + at_most:,} listed for {endpoint} are not asked for"
        listed.warnings.append(f"{left_out}: more than {at_most:,} are not credible")
    return listed


def _document(answer: Answer) -> Any:  # noqa: ANN401 - whatever JSON the upstream sent
    return json.loads(answer.body or b"null")


def _dictionaries(document: object) -> list[dict[str, Any]]:
    rows = document if isinstance(document, list) else []
    return [row for row in rows if isinstance(row, dict)]


def _listed_items(answer: Answer) -> Iterator[NewsItem]:
    for row in _dictionaries(_document(answer)):
        if row.get("id") is not None:
            yield news_item(str(row["id"]), _text(row.get("titolo")), _text(row.get("data")))


def _objects_anywhere(document: object) -> Iterator[dict[str, Any]]:
    if isinstance(document, dict):
        yield document
        document = list(document.values())
    if isinstance(document, list):
        for member in document:
            yield from _objects_anywhere(member)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
