"""Checks the upstream: that it answers, takes the token, agrees about the time, and lets us ask enough."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from transit_etl.api.advice import advice_about
from transit_etl.api.connections import ConnectionSettingError
from transit_etl.api.exchange import Outcome
from transit_etl.collect.allowance.budget import BudgetClosedError
from transit_etl.collect.allowance.budget_store import BudgetStoreError
from transit_etl.operations.check.probe import ask_once
from transit_etl.operations.check.problem import UPSTREAM, Problem
from transit_etl.operations.status import Status, describe_outage
from transit_etl.settings import CollectSettings, Settings

_NEAR = timedelta(days=1)  # a clock is further off by a dead battery alone, timestamps by any fault
RECENT = timedelta(minutes=2)
FEWEST_UNSENT, LARGEST_UNSENT_SHARE = 10, 0.1  # a few are left over at the end of every window


def problems(settings: Settings, status: Status, *, asks: bool = True) -> Iterator[Problem]:
    """Yield what is wrong between this installation and the upstream; `asks` lets it send a request."""
    yield from _answers(settings, status, asks=asks)
    error = status.clock_error_seconds
    if error is not None and abs(error) > settings.check_clock_seconds:
        yield Problem("clock", _clock(status.now, error))
    yield from _allowance(status)


def _clock(now: datetime, error: float) -> str:
    """Say how far the clock is from the timestamps of the answers: whose fault it is, if they are near."""
    advice = "set it by NTP (or mind TRANSIT_CLOCK_SHIFT_SECONDS)"
    if abs(error) <= _NEAR.total_seconds():
        away = f"{abs(error):,.0f} seconds {'ahead of' if error > 0 else 'behind'}"
        return f"this machine's clock is {away} the timestamps of the answers: {advice}"
    try:
        told = f"of {now - timedelta(seconds=error):%Y-%m-%d}"
    except OverflowError:
        told = "of no year from 1 to 9999"
    return (
        f"this machine's clock says {now:%Y-%m-%d %H:%M} UTC, and the timestamps of the answers are {told}: "
        f"one of them is wrong; if it is the clock, {advice}"
    )


def _answers(settings: CollectSettings, status: Status, *, asks: bool) -> Iterator[Problem]:
    outage = status.outage
    if outage is not None:
        yield Problem(UPSTREAM, describe_outage(outage, status.now), outage.since)
    if status.budget_error is not None:
        yield Problem("allowance", status.budget_error)
        return
    last_good = max((each.last_good_at for each in status.usage if each.last_good_at), default=None)
    is_recent = last_good is not None and outage is None and status.now - last_good < RECENT
    if is_recent or not asks:
        return
    try:
        answer = ask_once(settings)
    except (BudgetClosedError, BudgetStoreError) as error:
        yield Problem("allowance", f"no request could be sent: {error}")
        return
    except ConnectionSettingError as error:
        yield Problem("environment", str(error))
        return
    if answer.outcome is not Outcome.OK:
        advice = advice_about(settings, answer)
        yield Problem(advice.subject, advice.text)


def _allowance(status: Status) -> Iterator[Problem]:
    pace = status.pace
    n_refused = sum(each.n_rate_limited for each in status.usage)
    if pace is not None and pace.blocked_until is not None:
        yield Problem(
            "refused",
            f"the upstream asked to wait (429, 503): none is asked until {pace.blocked_until:%H:%M:%S} UTC",
        )
    elif n_refused:
        yield Problem(
            "refused",
            f"the upstream refused {n_refused} requests of the last hour (429): does somebody else use the "
            f"same allowance, or is it less than TRANSIT_RATE_PER_MINUTE ({status.rate_per_minute})?",
        )
    for each in status.usage:
        if each.n_not_sent > max(FEWEST_UNSENT, LARGEST_UNSENT_SHARE * (each.n_sent + each.n_not_sent)):
            yield Problem(
                f"starved_{each.kind}",
                f"{each.n_not_sent} requests for {each.kind} of the last hour got no permit in time: the "
                "allowance does not suffice",
            )
