"""Defines faults, reads them from files and headers, and selects those that hit a request."""

import json
import tomllib
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from math import exp
from pathlib import Path
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from transit_emulator import noise
from transit_emulator.errors import EmulatorError

FAULT_HEADER = "X-Emulated-Fault"


class BadFaultsError(EmulatorError):
    """A faults file or header cannot be read; the message says where."""


class FaultKind(StrEnum):
    """The kinds of faults. The first group replaces the answer, the others change it."""

    RATE_LIMITED = "rate_limited"  # 429, with Retry-After if `retry_after_seconds` is given
    SERVER_ERROR = "server_error"  # `status`, 503 unless given; Retry-After as above
    CONNECTION_RESET = "connection_reset"
    NO_CONTENT = "no_content"  # 204
    EMPTY_BODY = "empty_body"  # 200 without a body
    HTML = "html"  # 200 with a page
    NOT_JSON = "not_json"  # 200 with plain text that claims to be JSON

    SLOW = "slow"  # after `delay_seconds`, varied by `delay_spread`
    SLOW_BODY = "slow_body"  # the head at once, the body in pieces over the same delay
    TRUNCATED = "truncated"  # half the body, with a Content-Length that agrees
    CUT_OFF = "cut_off"  # the connection closes halfway through the body
    WRONG_CHARSET = "wrong_charset"  # Latin-1 that claims to be UTF-8
    HUGE = "huge"  # blanks before the answer make it `n_bytes` long

    CLOCK_SKEW = "clock_skew"  # `timestamp` moved by `seconds`
    ERROR_ROW = "error_row"  # one *ERR* row in place of the passages
    WRAPPED_WAITS = "wrapped_waits"  # buses that have just passed stay listed, with a wait of almost 24 h
    CLOCK_WAITS = "clock_waits"  # `attesa` as clock text
    DUPLICATED_ROWS = "duplicated_rows"
    VANISHING_ROWS = "vanishing_rows"  # live rows are missing for a minute
    JUMPING = "jumping"  # predictions jump by minutes, in both directions
    UNKNOWN_KEYS = "unknown_keys"
    UNKNOWN_VALUES = "unknown_values"  # events and categories that are not documented
    MISSING_STATO = "missing_stato"
    CHANGED_TYPES = "changed_types"  # `linee` a string for an array, numbers for texts
    MISSING_FIELDS = "missing_fields"  # the trip id and the cause are left out
    SHORT_LISTS = "short_lists"  # the last rows of a list, a timetable or the status are missing: `row_share`
    EMPTY_LISTS = "empty_lists"  # a list, a timetable or the status has no row
    NO_PASSAGES = "no_passages"  # `row_share` of the stops list nothing, or none of the lines with `labels`
    STUCK_ROWS = "stuck_rows"  # `row_share` of the buses stay listed, at 0', for `seconds` after they passed
    OLD_ANSWERS = "old_answers"  # what a stop listed up to `seconds` before, by a cache renewed as often
    FROZEN_ANSWERS = "frozen_answers"  # the same, with the timestamp of now
    LIVE_TIMETABLE = "live_timetable"  # all rows are live and at timetable times
    SINGLE_IDS = "single_ids"  # live rows have other trip ids in each answer
    SHARED_IDS = "shared_ids"  # all live rows, or those with `labels`, have the trip id `0`
    PAST_DEPARTURES = "past_departures"  # a timetable of today lacks the departures that are past


class Fault(BaseModel):
    """A fault, and which requests it hits. Instants are emulated ones; shares are of requests, or of rows.

    `labels` are line labels without zeros before and a slash after them; none stands for all lines.
    Delays are real seconds: `delay_seconds` is their median, `delay_spread` the sigma of its logarithm.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    kind: FaultKind
    share: float = Field(default=1.0, ge=0, le=1)
    paths: str = "/api/*"
    first: AwareDatetime | None = Field(default=None, alias="from")
    last: AwareDatetime | None = Field(default=None, alias="to")
    every_seconds: int | None = Field(default=None, ge=1)
    for_seconds: int = Field(default=60, ge=1)
    only_without_user_agent: bool = False
    status: int = Field(default=503, ge=400, le=599)
    retry_after_seconds: int | None = Field(default=None, ge=0)
    delay_seconds: float = Field(default=5.0, ge=0, le=300)
    delay_spread: float = Field(default=0.0, ge=0, le=2)
    n_bytes: int = Field(default=16 * 1024 * 1024, ge=0, le=256 * 1024 * 1024)
    seconds: float = 3600.0
    row_share: float = Field(default=0.5, ge=0, le=1)
    labels: tuple[str, ...] = ()

    def is_on(self, now: datetime) -> bool:
        """Tell whether the fault is active at an instant: within its interval, and its part of each cycle."""
        if (self.first and now < self.first) or (self.last and now >= self.last):
            return False
        return self.every_seconds is None or now.timestamp() % self.every_seconds < self.for_seconds

    def hits(self, path: str, now: datetime, *, has_user_agent: bool, draw: str) -> bool:
        """Tell whether a request is hit: a function of path, instant and `draw`, which differs by fault."""
        if not fnmatchcase(path, self.paths) or not self.is_on(now):
            return False
        if self.only_without_user_agent and has_user_agent:
            return False
        return noise.unit(draw, self.kind, path, _milliseconds(now)) < self.share

    def delay_of(self, path: str, now: datetime) -> float:
        """Return by how many seconds a request is delayed: a function of path and instant."""
        if not self.delay_spread:
            return self.delay_seconds
        draw = noise.normal(noise.keys([f"{path}/{_milliseconds(now)}"]), "delay")
        return self.delay_seconds * exp(self.delay_spread * float(draw[0]))


def _milliseconds(now: datetime) -> int:
    return round(now.timestamp() * 1000)


class _FaultsFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    fault: list[Fault] = []


def read_faults(path: Path) -> list[Fault]:
    """Read a TOML file of `[[fault]]` tables, or JSON of the same shape; BadFaultsError names the problem."""
    text = path.read_text(encoding="utf-8")
    try:
        content: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        return _FaultsFile.model_validate(content).fault
    except ValidationError as error:
        raise BadFaultsError(f"{path.name}: {_first_problem(error)}") from error
    except ValueError as error:
        raise BadFaultsError(f"{path.name}: {error}") from error


def fault_of_header(text: str) -> Fault:
    """Read `kind; name=value; …`, the header that forces a fault."""
    kind, *parts = (part.strip() for part in text.split(";"))
    values = dict(part.split("=", 1) for part in parts if "=" in part)
    try:
        return Fault.model_validate({"kind": kind, **values})
    except ValidationError as error:
        raise BadFaultsError(f"{FAULT_HEADER}: {_first_problem(error)}") from error


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"


def faults_hitting(
    faults: Sequence[Fault], seed: int, path: str, now: datetime, *, has_user_agent: bool
) -> list[Fault]:
    """Return the faults that hit a request, in order; a function of the seed, the path and the instant."""
    return [
        fault
        for number, fault in enumerate(faults)
        if fault.hits(path, now, has_user_agent=has_user_agent, draw=f"{seed}/{number}")
    ]
