"""Composes what collections share, in real or virtual time."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from transit_etl.api.client import Client
from transit_etl.clock import Clock
from transit_etl.collect.allowance.budget import Budget, open_budget
from transit_etl.collect.allowance.budget_store import BudgetStore
from transit_etl.collect.raw.landing import Landing
from transit_etl.settings import CollectSettings, FolderSettings

Measure = Callable[[str], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Session:
    """A client and a budget, to be opened before use, and the clock they go by.

    `measure` returns a context for the time that a part of the work ("planning", "landing") takes.
    """

    client: Client
    budget: Budget
    clock: Clock
    measure: Measure = nullcontext


def session_of(
    settings: CollectSettings,
    clock: Clock,
    *,
    client: Client | None = None,
    store: BudgetStore | None = None,
    measure: Measure = nullcontext,
) -> Session:
    """Return what the collections of one process share.

    In real time that is one collection, and its budget is that of all processes with these settings. A
    rehearsal runs many on a virtual clock, with a `client` and a `store` of the budget of its own.
    """
    return Session(client or Client(settings, clock), open_budget(settings, clock, store), clock, measure)


def landing_of(settings: FolderSettings, clock: Clock, worker: str) -> Landing:
    """Return where a worker lands the answers of one collection."""
    return Landing(settings.data_dir, settings.operator, clock, worker)
