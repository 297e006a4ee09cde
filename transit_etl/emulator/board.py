"""Sorts the passages of one service date by stop, so that an answer needs one bisection."""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from transit_etl.emulator import noise
from transit_etl.emulator.motion import Motion
from transit_etl.emulator.network import Ints, Network
from transit_etl.emulator.noise import Floats
from transit_etl.emulator.schedule import Flags, Schedule


@dataclass(frozen=True)
class Board:
    """The passages of a service date by stop and schedule; one row per call of a trip at a stop.

    `first_row[s]` is the first row of stop `s`; the trip columns hold one value per trip of the date.
    A call that is left out has passed since the beginning of time, so that no live bus comes to it.
    """

    schedule: Schedule
    motion: Motion
    first_row: list[int]
    scheduled_at: Ints
    passed_at: Ints
    is_full: Flags
    trip: Ints
    sequence: Ints
    latest_lateness: int
    latest_earliness: int
    error_scale: Floats
    error_phase: Floats
    error_period: Floats
    report_every: Ints

    def rows(self, stop: int, after: float, before: float) -> range:
        """Return the rows of a stop scheduled within an interval."""
        first, last = self.first_row[stop], self.first_row[stop + 1]
        return range(
            bisect_left(self.scheduled_at, after, first, last),
            bisect_left(self.scheduled_at, before, first, last),
        )


def board(network: Network, plan: Schedule, moved: Motion) -> Board:
    """Return the passages of a service date, ready to be listed."""
    trip, sequence = np.nonzero(plan.is_call)
    stop, scheduled_at = plan.stops[trip, sequence], plan.scheduled_at[trip, sequence]
    order = np.lexsort((trip, scheduled_at, stop))
    trip, sequence, stop = trip[order], sequence[order], stop[order]
    scheduled_at, passed_at = scheduled_at[order], moved.passed_at[trip, sequence]
    is_skipped = moved.is_skipped[trip, sequence]
    lateness = (passed_at - scheduled_at)[~is_skipped]
    return Board(
        schedule=plan,
        motion=moved,
        first_row=np.searchsorted(stop, np.arange(len(network.stops) + 1)).tolist(),
        scheduled_at=scheduled_at,
        passed_at=np.where(is_skipped, 0, passed_at),
        is_full=moved.is_full[trip, sequence],
        trip=trip,
        sequence=sequence,
        latest_lateness=int(lateness.max(initial=0)),
        latest_earliness=int(-lateness.min(initial=0)),
        error_scale=np.clip(noise.normal(moved.keys, "error"), -2.2, 2.2),
        error_phase=noise.uniform(moved.keys, "error phase"),
        error_period=240 + 360 * noise.uniform(moved.keys, "error period"),
        report_every=(10 + 20 * noise.uniform(moved.keys, "reports")).astype(np.int64),
    )
