"""The table of the events of some dates."""

from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

from transit_emulator.days.events import LONGEST_DAYS, Event
from transit_emulator.days.motion import NEVER
from transit_emulator.local_time import ONE_DAY, at_local
from transit_emulator.truth.columns import instants
from transit_emulator.truth.schemas import EVENTS
from transit_emulator.world import World

_INSTANTS = ("started_at", "listed_at", "ended_at", "edited_at", "absent_from", "absent_until")


def events(world: World, first: date, last: date) -> pa.Table:
    """Return the events that are listed at any time from the first date to the last."""
    zone = world.network.zone
    starts_at, ends_at = at_local(first, 0, zone), at_local(last + ONE_DAY, 0, zone)
    days = (first + ONE_DAY * step for step in range(-LONGEST_DAYS, (last - first).days + 1))
    found = [event for day in days for event in world.events(day)]
    found = [event for event in found if event.listed_at < ends_at and event.ended_at > starts_at]
    columns: dict[str, Any] = {
        "event_id": [event.id for event in found],
        "event": [event.event for event in found],
        "category": [event.category for event in found],
        "lines": [[event.facility] if event.facility else event.line_numbers or None for event in found],
        "cause": [event.cause for event in found],
        "message": [event.message for event in found],
        "skipped_stops": [_skipped_stop_codes(world, event) for event in found],
        "edited_message": [event.edited_message or None for event in found],
    }
    for name in _INSTANTS:
        seconds = np.array([getattr(event, name) for event in found], dtype=np.int64)
        columns[name] = instants(np.where(seconds == 0, NEVER, seconds))
    return pa.table(columns, schema=EVENTS)


def _skipped_stop_codes(world: World, event: Event) -> list[str]:
    return sorted(world.network.stops[stop].code for stop in world.skipped_stops(event))
