"""Polls an emulated world without HTTP: what a policy is told of its network, and what stops answer."""

from dataclasses import dataclass
from datetime import date, datetime

import numpy as np

from transit_emulator import noise
from transit_emulator.days.trip_ids import IdMode
from transit_emulator.world import Passage, World
from transit_etl.collect.planning.policy import Listing, Observation
from transit_etl.collect.planning.stop_patterns import LineStops
from transit_etl.line_labels import normal_label

ANSWER_SECONDS = 0.15  # from the permit to the instant the answer speaks of
ERROR_SHARE, VANISHING_SHARE = 0.05, 0.03
OUTAGE_HOUR, OUTAGE_SECONDS = 8, 1_200.0


@dataclass(frozen=True)
class Faults:
    """What goes wrong with answers, as a function of stop and instant."""

    seed: int
    outage_from: float

    def is_lost(self, stop: str, at: float) -> bool:
        """Tell whether a request gets an error for an answer."""
        is_out = self.outage_from <= at < self.outage_from + OUTAGE_SECONDS
        return is_out or noise.unit("error", self.seed, stop, f"{at:.2f}") < ERROR_SHARE

    def hides(self, passage: Passage, at: float) -> bool:
        """Tell whether a live row is missing in this minute."""
        draw = noise.unit("vanishes", self.seed, int(at // 60), passage.trip_id)
        return not passage.is_theoretical and draw < VANISHING_SHARE


class PolledWorld:
    """A world that answers polls on one service date; with faults, ids are those of vehicles."""

    def __init__(self, world: World, day: date, *, is_faulty: bool) -> None:
        self.world = world
        self.day = day
        self._starts_at = world.schedule(day).starts_at
        self._faults = Faults(world.seed, self._starts_at + OUTAGE_HOUR * 3600.0) if is_faulty else None
        world.id_mode = IdMode.VEHICLE if is_faulty else IdMode.STABLE

    def permit_times(self, first_hour: float, last_hour: float, rate_per_minute: int) -> list[float]:
        """Return the instants of the permits, evenly spaced over some hours of the service date."""
        first, last = self._starts_at + first_hour * 3600, self._starts_at + last_hour * 3600
        times: list[float] = np.arange(first, last, 60 / rate_per_minute).tolist()
        return times

    def answer(self, stop: str, at: float) -> list[Passage] | None:
        """Return what a stop lists at an instant; None for an error."""
        if self._faults is not None and self._faults.is_lost(stop, at):
            return None
        passages = self.world.passages(stop, datetime.fromtimestamp(at, self.world.network.zone))
        if self._faults is None:
            return passages
        return [passage for passage in passages if not self._faults.hides(passage, at)]


def line_stops_of(world: World) -> list[LineStops]:
    """Return what the lists of lines and stops tell a collector."""
    return [
        LineStops(normal_label(line.number), tuple(stop.stop_code for stop in stops))
        for line in world.network.lines
        for stops in line.stops.values()
    ]


def observation_of(stop: str, at: float, passages: list[Passage] | None) -> Observation:
    """Return what an answer says to a policy; None stands for an error."""
    listings = [
        Listing(
            line_label=normal_label(passage.line_label),
            destination=passage.destination,
            trip_id=passage.shown_id,
            predicted_at=float(passage.shown_at),
            is_live=not passage.is_theoretical,
        )
        for passage in passages or ()
    ]
    return Observation(stop, at, passages is not None, listings=tuple(listings))
