"""The tables of the truth: every scheduled and actual passage, trip, departure and event."""

import pyarrow as pa

INSTANT = pa.timestamp("us")  # UTC; the type has no time zone
_Fields = list[tuple[str, pa.DataType]]
_TRIP: _Fields = [("service_date", pa.date32()), ("trip_id", pa.string())]
_LINE: _Fields = [("line_code", pa.string()), ("direction", pa.string())]
_COUNTS: _Fields = [("n_departures_before", pa.int64()), ("n_departures", pa.int64())]
_CALL: _Fields = [("stop_code", pa.string()), ("stop_sequence", pa.int64())]

# One row per service date. weather: dry, rain or storm, which slows the whole day; null of a recorded day.
DAYS = pa.schema([_TRIP[0], ("weather", pa.string()), ("n_trips", pa.int64()), ("n_added", pa.int64())])
# One row per scheduled call of a trip at a stop, whether the trip ran or not. is_skipped: the stop was
# skipped on a diversion; the trip may have run.
SCHEDULED = pa.schema([*_TRIP, *_LINE, *_CALL, ("scheduled_at", INSTANT), ("is_skipped", pa.bool_())])
# One row per call that happened, also of added trips. passed_at: arrival; at the origin, departure.
# is_recorded: passed_at is known; it always is, but of some calls of a recorded day. Of those is_interpolated
# marks the ones between two recorded calls; the others are as late as the nearest recorded call.
ACTUAL = pa.schema([
    *_TRIP, *_LINE, *_CALL, ("passed_at", INSTANT), ("departed_at", INSTANT), ("is_full", pa.bool_()),
    ("is_recorded", pa.bool_()), ("is_interpolated", pa.bool_()),
])  # fmt: skip
# One row per trip; an added trip is in no timetable and has no scheduled departure.
# outcome: as TripOutcome; not_recorded of a recorded day: nobody knows whether it ran.
# live_id: the trip id that stops show while it is live.
# live_from, lost_at, taken_off_at are null where that does not happen.
TRIPS = pa.schema([
    *_TRIP, *_LINE, ("service_code", pa.string()), ("is_slash_variant", pa.bool_()),
    ("headsign", pa.string()), ("n_stops", pa.int64()), ("scheduled_departure_at", INSTANT),
    ("outcome", pa.string()), ("vehicle_id", pa.string()), ("live_id", pa.string()),
    ("is_added", pa.bool_()), ("n_skipped_stops", pa.int64()),
    ("live_from", INSTANT), ("lost_at", INSTANT), ("taken_off_at", INSTANT),
])  # fmt: skip
# One row per departure in the timetable, without junk entries.
DEPARTURES = pa.schema([
    *_TRIP, *_LINE, ("service_code", pa.string()), ("departure_text", pa.string()), ("departure_at", INSTANT),
])  # fmt: skip
# One row per timetable that was revised: until revised_at it listed other departures.
REVISIONS = pa.schema([_TRIP[0], _LINE[0], ("revised_at", INSTANT), *_COUNTS])
# One row per departure and version of a timetable that listed it; a version lasts until the next.
# reason: first, season (a new season was announced) or notice (changed at short notice).
VERSIONS = pa.schema([
    _TRIP[0], *_LINE, ("service_code", pa.string()), ("departure_text", pa.string()),
    ("departure_at", INSTANT), ("version", pa.int64()), ("reason", pa.string()),
    ("published_at", INSTANT), ("replaced_at", INSTANT),
])  # fmt: skip
# One row per event listed at any time on the dates. lines: numbers, or one name, or null.
# skipped_stops: the stops that diverted lines skip during the event.
# edited_at, absent_from and absent_until are null where its message does not change and it is never missing.
EVENTS = pa.schema([
    ("event_id", pa.string()), ("event", pa.string()), ("category", pa.string()),
    ("lines", pa.list_(pa.string())), ("cause", pa.string()), ("message", pa.string()),
    ("started_at", INSTANT), ("listed_at", INSTANT), ("ended_at", INSTANT),
    ("edited_at", INSTANT), ("edited_message", pa.string()),
    ("absent_from", INSTANT), ("absent_until", INSTANT), ("skipped_stops", pa.list_(pa.string())),
])  # fmt: skip
