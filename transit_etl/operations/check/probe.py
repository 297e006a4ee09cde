"""Asks the upstream once, within the allowance, to see whether it answers."""

from datetime import timedelta

import httpx2

from transit_etl.api import v1
from transit_etl.api.client import Client
from transit_etl.api.exchange import Answer
from transit_etl.clock import Clock
from transit_etl.collect.allowance.budget import open_budget
from transit_etl.endpoints import Kind
from transit_etl.settings import CollectSettings

LONGEST_WAIT = timedelta(seconds=10)


def ask_once(settings: CollectSettings, transport: httpx2.AsyncBaseTransport | None = None) -> Answer:
    """Ask for the lines, and keep nothing; BudgetClosedError if no permit comes within seconds.

    A status may be an empty object, which also other servers answer; every network has lines.
    """
    clock = settings.clock
    return clock.run(_ask(settings, clock, transport))


async def _ask(
    settings: CollectSettings, clock: Clock, transport: httpx2.AsyncBaseTransport | None
) -> Answer:
    budget = open_budget(settings, clock)
    async with Client(settings, clock, transport) as client, budget:
        permit = await budget.acquire(Kind.STATUS, clock.now() + LONGEST_WAIT)
        answer = await client.send(v1.all_of("lines"))
        await budget.settle(permit)
        return answer
