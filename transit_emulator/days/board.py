"""Sorts the passages of one service date by stop, so that one bisection finds what a stop lists."""

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

    `first_row[s]` is the first row of stop `s`; the columns from `live_from` on hold one value per trip.
    Columns are lists, because an answer reads single values, which is slow on arrays. A skipped call has
    `passed_at` 0, so that no live bus is listed for it.
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


def board(network: Network, schedule: Schedule, motion: Motion) -> Board:
    """Return the passages of a service date, ready to be listed."""
    trip, sequence = np.nonzero(schedule.is_call)
    stop, scheduled_at = schedule.stops[trip, sequence], schedule.scheduled_at[trip, sequence]
    order = np.lexsort((trip, scheduled_at, stop))
    trip, sequence, stop = trip[order], sequence[order], stop[order]
    scheduled_at, passed_at = scheduled_at[order], motion.passed_at[trip, sequence]
    is_skipped = motion.is_skipped[trip, sequence]
    lateness = (passed_at - scheduled_at)[~is_skipped]
    return Board(
        schedule=schedule,
        motion=motion,
        first_row=np.searchsorted(stop, np.arange(len(network.stops) + 1)).tolist(),
        scheduled_at=scheduled_at.tolist(),
        passed_at=np.where(is_skipped, 0, passed_at).tolist(),
        is_full=motion.is_full[trip, sequence].tolist(),
        trip=trip.tolist(),
        sequence=sequence.tolist(),
        latest_lateness=int(lateness.max(initial=0)),
        latest_earliness=int(-lateness.min(initial=0)),
        live_from=motion.live_from.tolist(),
        lost_at=motion.lost_at.tolist(),
        taken_off_at=motion.taken_off_at.tolist(),
        error_scale=np.clip(noise.normal(motion.keys, "error"), -2.2, 2.2).tolist(),
        error_phase=noise.uniform(motion.keys, "error phase").tolist(),
        error_period=(240 + 360 * noise.uniform(motion.keys, "error period")).tolist(),
        report_every=(10 + 20 * noise.uniform(motion.keys, "reports")).astype(np.int64).tolist(),
    )
