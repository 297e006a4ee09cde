"""Replays the recorded service dates of a network in place of simulating them."""

from dataclasses import replace
from datetime import date

from transit_emulator.days.blocks import blocks
from transit_emulator.days.events import Event
from transit_emulator.days.motion import Motion
from transit_emulator.days.recorded_motion import recorded_motion
from transit_emulator.days.schedule import Schedule, schedule_of, with_added
from transit_emulator.days.simulated_days import SimulatedDays
from transit_emulator.days.trip_ids import IdMode
from transit_emulator.networks.actuals import Recording, added_service


class RecordedDays(SimulatedDays):
    """The service dates of a recording; events, news, crowding and ids are drawn as in simulated days.

    Events change nothing of what was recorded. Timetables do not change with the season.
    """

    has_seasons = False

    def __init__(
        self,
        recording: Recording,
        seed: int = 1,
        id_mode: IdMode = IdMode.STABLE,
        *,
        has_revisions: bool = False,
    ) -> None:
        self._recording = recording
        super().__init__(recording.network, seed, id_mode, has_revisions=has_revisions)

    def weather_on(self, day: date) -> str | None:
        """Return None: nobody recorded the weather."""

    def skipped_stops(self, event: Event) -> frozenset[int]:  # noqa: ARG002 - the same for all
        """Return none: which stops were skipped was recorded, not drawn."""
        return frozenset()

    def _schedule(self, day: date) -> Schedule:
        scheduled = schedule_of(self.network, day)
        return with_added(self.network, scheduled, self.network.trips_of(frozenset([added_service(day)])))

    def _motion(self, day: date) -> Motion:
        return recorded_motion(self.network, self.schedule(day), self.seed, self._recording)

    def motion_without_events(self, day: date) -> Motion:
        """Return what was recorded: events change nothing of it."""
        return self.motion(day)

    def _vehicles(self, day: date) -> list[str]:
        """Return the recorded vehicles, or drawn ones of the trips whose vehicle was not recorded."""
        recorded = (self._recording.vehicle_ids[trip] for trip in self.schedule(day).trips)
        return [vehicle or drawn for vehicle, drawn in zip(recorded, super()._vehicles(day), strict=True)]

    def _blocks(self, day: date) -> list[int]:
        """Return the vehicles that the recorded times allow: one takes its next trip after it has arrived."""
        schedule = self.schedule(day)
        return blocks(self.network, replace(schedule, scheduled_at=self.motion(day).passed_at))
