"""What the tests of tracking share: a tracker of one line, and a look at what it expects."""

from tests.collect.planning.observations import LINE, STOPS
from transit_etl.collect.planning.parameters import DEFAULTS
from transit_etl.collect.planning.schedule_reading import ScheduleReading
from transit_etl.collect.planning.state import ExpectedVisit, TrackedTrip
from transit_etl.collect.planning.stop_patterns import LineStops, StopPatterns
from transit_etl.collect.planning.tracking import Tracker


def tracker_of(line: LineStops = LINE) -> Tracker:
    patterns = StopPatterns([line], DEFAULTS)
    return Tracker(STOPS, patterns, ScheduleReading({}, patterns, DEFAULTS), DEFAULTS)


def trips_at(tracker: Tracker, stop: str) -> list[TrackedTrip]:
    """Return the trips expected at a stop."""
    return list(tracker.stops[stop].visits)


def visits_at(tracker: Tracker, stop: str) -> list[ExpectedVisit]:
    return list(tracker.stops[stop].visits.values())
