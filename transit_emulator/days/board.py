"""Sorts the passages of one service date by stop, so that an answer needs one bisection."""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from transit_emulator import noise
from transit_emulator.days.motion import Motion
from transit_emulator.days.schedule import Schedule
from transit_emulator.networks.network import Network


@dataclass(frozen=True)
class Board:
    """The passages of a service date by stop and schedule; one row per call of a trip at a stop.

    `first_row[s]` is the first row of stop `s`; the trip columns, from `live_from` on, hold one value per
    trip of the date. Columns are lists: an answer reads single values, which an array is slow to give.
    A call that is left out has passed since the beginning of time, so that no live bus comes to it.
    """

    schedule: Schedule
    motion: Motion
    first_row: list[int]
    scheduled_at: list[int]
    passed_at: list[int]
    is_full: list[bool]
    trip: list[int]
    sequence: list[int]
    latest_lateness: int
    latest_earliness: int
    live_from: list[int]
    lost_at: list[int]
    taken_off_at: list[int]
    error_scale: list[float]
    error_phase: list[float]
    error_period: list[float]
    report_every: list[int]

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
        scheduled_at=scheduled_at.tolist(),
        passed_at=np.where(is_skipped, 0, passed_at).tolist(),
        is_full=moved.is_full[trip, sequence].tolist(),
        trip=trip.tolist(),
        sequence=sequence.tolist(),
        latest_lateness=int(lateness.max(initial=0)),
        latest_earliness=int(-lateness.min(initial=0)),
        live_from=moved.live_from.tolist(),
        lost_at=moved.lost_at.tolist(),
        taken_off_at=moved.taken_off_at.tolist(),
        error_scale=np.clip(noise.normal(moved.keys, "error"), -2.2, 2.2).tolist(),
        error_phase=noise.uniform(moved.keys, "error phase").tolist(),
        error_period=(240 + 360 * noise.uniform(moved.keys, "error period")).tolist(),
        report_every=(10 + 20 * noise.uniform(moved.keys, "reports")).astype(np.int64).tolist(),
    )
