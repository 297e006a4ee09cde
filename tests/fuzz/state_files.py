"""State: of the request budget as text and as a file, of a rehearsal, of a planner; settings."""

import asyncio
import json
import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from unittest import mock

import httpx2
from pydantic_core import PydanticUndefined

from tests.collect.allowance.budgets import refused_or_safe
from tests.collect.upstream import settings_at
from tests.fuzz.answers import LINES
from tests.fuzz.mutation import of_bytes, of_json, of_text
from tests.fuzz.target import NOW, START, Target, UnclearError, reported_in_one_line
from transit_base.errors import MISSHAPEN
from transit_etl import identity
from transit_etl.api import v0, v1
from transit_etl.api.classification import classify
from transit_etl.api.client import Client
from transit_etl.api.exchange import Answer
from transit_etl.api.retry_after import LONGEST_SECONDS, retry_after_seconds
from transit_etl.clock import VirtualClock
from transit_etl.collect.allowance.budget_state import BudgetState, Limits
from transit_etl.collect.allowance.budget_store import SqlStore
from transit_etl.collect.allowance.state_text import dumps
from transit_etl.collect.passage_parser import PassageParser
from transit_etl.collect.planning.policies import policy_of
from transit_etl.collect.planning.policy import Observation
from transit_etl.collect.planning.stop_patterns import LineStops
from transit_etl.collect.raw.rawfile import read_lines
from transit_etl.endpoints import Kind
from transit_etl.operations.status.allowance import read_pace
from transit_etl.paths import identity_file, raw_files, rehearsal_journal
from transit_etl.rehearsal.journal import Journal, Schedule
from transit_etl.settings import PREFIX, BadSettingError, PolicyName, Settings, load_settings

_SECONDS = NOW.timestamp()
_LIMITS = Limits(60)
_SCHEDULE = Schedule(START, 1.0, 60, timedelta(minutes=10), timedelta(minutes=10), "adaptive")
_MOST_POLLS, _LONGEST_PAUSE = 50, 1e6


# The request budget


def _check_budget_text(data: bytes, _folder: Path) -> None:
    refused_or_safe(data.decode("utf-8", "replace"))


def _check_budget_file(data: bytes, folder: Path) -> None:
    """Use a SQLite file of any content as the budget, twice, and let the status read it."""
    path = folder / "budget.sqlite"
    settings = settings_at(folder, limiter_url=f"sqlite:///{path}")
    path.write_bytes(data)
    with reported_in_one_line():
        read_pace(settings)
    for _ in range(2):
        with reported_in_one_line():
            asyncio.run(_ask(f"sqlite:///{path}"))
    with reported_in_one_line():
        read_pace(settings)


async def _ask(url: str) -> None:
    store = SqlStore(url, "x")
    try:
        await store.transact(lambda state, at: state.ask(at, "me", Kind.NEWS, _LIMITS), lambda: _SECONDS)
    finally:
        await store.aclose()


def _used_state() -> BudgetState:
    state = BudgetState()
    for turn, kind in enumerate(Kind):
        state.advance(_SECONDS + 2 * turn, _LIMITS, None)
        state.ask(_SECONDS + 2 * turn, f"caller {turn}", kind, _LIMITS)
    state.ask(_SECONDS + 20, "waiting", Kind.NEWS, _LIMITS)
    state.lease("one", "0001", _SECONDS + 90)
    state.slow_down(_SECONDS + 21, _SECONDS + 12, 7.0, _LIMITS)
    return state


def _seeds_of_budget_files(folder: Path) -> list[bytes]:
    path = folder / "seed.sqlite"
    asyncio.run(_ask(f"sqlite:///{path}"))
    return [path.read_bytes(), b"", b"no database"]


# A rehearsal


def _check_journal(data: bytes, folder: Path) -> None:
    """Go on with a rehearsal whose journal has any content."""
    path = rehearsal_journal(folder)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    journal = Journal(settings_at(folder), _SCHEDULE)
    journal.begin()
    journal.write(journal.checkpoint)


def _seeds_of_journals(_folder: Path) -> list[bytes]:
    """Return the journal of a rehearsal that has just begun, and of one that goes on."""
    from tempfile import TemporaryDirectory  # noqa: PLC0415

    with TemporaryDirectory() as scratch:
        Journal(settings_at(Path(scratch)), _SCHEDULE).begin()
        text = rehearsal_journal(Path(scratch)).read_bytes()
    used = json.loads(text) | {"budget": dumps(_used_state()), "done_until": NOW.isoformat()}
    return [text, json.dumps(used).encode()]


# What a data folder is


def _check_identity(data: bytes, folder: Path) -> None:
    """Claim, describe and change a data folder that any content says what it is of."""
    settings = settings_at(folder)
    identity_file(folder).write_bytes(data)
    for use in (identity.difference, identity.outdated_of, identity.rehearsals_in, identity.claim_to_build):
        with reported_in_one_line():
            use(settings)
    identity.accept(settings)
    identity.mark_reprocessed(settings, START.date(), START.date())
    identity.mark_rehearsed(settings, START, NOW)
    identity.claim(settings)


def _seeds_of_identities(_folder: Path) -> list[bytes]:
    known = {"operators": ["emulated"], "timezone": "Europe/Rome", "service_day_cutoff": "04:00:00"}
    rehearsed = {"rehearsals": [{"start": START.isoformat(), "end": NOW.isoformat()}]}
    pending = {"to_reprocess": [START.date().isoformat(), NOW.date().isoformat()]}
    return [json.dumps(each).encode() for each in (known, {**known, **rehearsed, **pending})]


# A planner


def _check_planner(data: bytes, _folder: Path) -> None:
    """Let each policy learn from polls, with any pauses and bodies, and choose before each."""
    try:
        polls = [(float(poll["after"]), str(poll["body"]).encode()) for poll in json.loads(data)]
    except (*MISSHAPEN, UnicodeEncodeError):
        return
    parser = PassageParser(settings_at(Path()).zone)
    lines = [LineStops(line, stops) for line, stops in LINES.items()]
    stops = sorted({stop for served in LINES.values() for stop in served})
    for name in PolicyName:
        policy, at = policy_of(name, stops, lines, 60), NOW
        for after, body in polls[:_MOST_POLLS]:
            at += timedelta(seconds=after if abs(after) < _LONGEST_PAUSE else 1)
            stop = policy.choose(at.timestamp())
            assert stop in stops
            policy.observe(_observation(parser, stop, at, body))


def _observation(parser: PassageParser, stop: str, at: datetime, body: bytes) -> Observation:
    request = v1.passages(stop)
    outcome = classify(request, 200, body).outcome
    return parser.parse(Answer(request, outcome, at, at, 1.0, http_status=200, body=body))


def _seeds_of_planners(folder: Path) -> list[bytes]:
    rows = [json.loads(line) for path in raw_files(folder, endpoint="passages") for line in read_lines(path)]
    bodies = sorted((row["body"] for row in rows if row["outcome"] == "ok"), key=len)[:6]
    return [json.dumps([{"after": 30, "body": body} for body in bodies * 3]).encode()]


# Settings


def _check_settings(data: bytes, _folder: Path) -> None:
    """Read settings from an environment; those that are accepted work where they are used."""
    lines = data.replace(b"\0", b"").splitlines()
    given = {
        os.fsdecode(name): os.fsdecode(value) for name, _, value in (line.partition(b"=") for line in lines)
    }
    with mock.patch.dict(os.environ, {name: value for name, value in given.items() if name}):
        settings = _loaded()
    if settings is None:
        return
    clock = VirtualClock(NOW)

    async def ask() -> None:
        async with Client(
            settings, clock, httpx2.MockTransport(lambda _: httpx2.Response(200, json=[]))
        ) as client:
            await client.send(v1.news())
            if settings.token_of_version_0 is not None:
                await client.send(v0.status())

    clock.run(ask())
    assert settings.clock.now().tzinfo is not None
    assert settings.zone.key
    SqlStore(settings.budget_url, settings.credential)


def _loaded() -> Settings | None:
    """Read the settings; None if some are bad, each of which is named in a line."""
    try:
        return load_settings()
    except BadSettingError as error:
        unclear = [line for line in str(error).split("\n") if PREFIX not in line.upper()]
        if unclear:
            raise UnclearError(str(error)) from error
        return None


def _seeds_of_settings(_folder: Path) -> list[bytes]:
    limiters = ("sqlite:////tmp/x.sqlite", "postgresql://u:p@h:5432/d?sslmode=require")
    return [
        "\n".join(
            f"{PREFIX}{name.upper()}={value}" for name, value in {**_SETTINGS, "limiter_url": limiter}.items()
        ).encode()
        for limiter in limiters
    ]


_SETTINGS = {
    name: getattr(field.default, "value", field.default)
    for name, field in Settings.model_fields.items()
    if field.default not in (None, PydanticUndefined)
} | {
    "token": "t0k3n",
    "legacy_token": "l3g4cy",
    "legacy_base_url": "https://old.test/api/amt/",
    "rate_per_minute": 60,
}

# Headers


def _check_headers(data: bytes, _folder: Path) -> None:
    lines = [line.partition(b"=") for line in data.splitlines()]
    headers = httpx2.Headers([(name or b"x", value) for name, _, value in lines])
    wait = retry_after_seconds(headers, NOW)
    assert wait is None or 0 <= wait <= LONGEST_SECONDS


def _seeds_of_headers(_folder: Path) -> list[bytes]:
    dates = (
        "Wed, 18 Nov 2026 07:05:00 GMT",
        "Wednesday, 18-Nov-26 07:05:00 GMT",
        "Wed Nov 18 07:05:00 2026",
        "7",
        "7.5",
    )
    return [f"Retry-After={value}\nDate=Wed, 18 Nov 2026 07:03:00 +0100".encode() for value in dates]


def _only(*inputs: bytes) -> Callable[[Path], list[bytes]]:
    return lambda _folder: list(inputs)


TARGETS = (
    Target("budget text", _check_budget_text, _only(dumps(_used_state()).encode()), of_json),
    Target("budget file", _check_budget_file, _seeds_of_budget_files, of_bytes, weight=2),
    Target("journal", _check_journal, _seeds_of_journals, of_json),
    Target("identity", _check_identity, _seeds_of_identities, of_json),
    Target("planner", _check_planner, _seeds_of_planners, of_json, weight=2),
    Target("settings", _check_settings, _seeds_of_settings, of_text, weight=2),
    Target("headers", _check_headers, _seeds_of_headers, of_text),
)
