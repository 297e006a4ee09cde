"""The tables of the truth: every scheduled and actual passage, trip, departure, event and news item."""

import pyarrow as pa

INSTANT = pa.timestamp("us")  # UTC; the type has no time zone
_Fields = list[tuple[str, pa.DataType]]
_TEXTS: pa.DataType = pa.list_(pa.string())
_TRIP: _Fields = [("service_date", pa.date32()), ("trip_id", pa.string())]
_LINE: _Fields = [("line_code", pa.string()), ("direction", pa.string())]
_COUNTS: _Fields = [("n_departures_before", pa.int64()), ("n_departures", pa.int64())]
_CALL: _Fields = [("stop_code", pa.string()), ("stop_sequence", pa.int64())]


def _schema(*fields: tuple[str, pa.DataType]) -> pa.Schema:
    return pa.schema(list(fields))


# One row per service date. weather: dry, rain or storm, which slows the whole day; null of a recorded day.
DAYS = pa.schema([_TRIP[0], ("weather", pa.string()), ("n_trips", pa.int64()), ("n_added", pa.int64())])
# One row per scheduled call of a trip at a stop, whether the trip ran or not. is_skipped: the stop was
# skipped on a diversion; the trip may have run.
SCHEDULED = pa.schema([*_TRIP, *_LINE, *_CALL, ("scheduled_at", INSTANT), ("is_skipped", pa.bool_())])
# One row per call that happened, also of added trips. passed_at: arrival; at the origin, departure.
# is_recorded: passed_at is known; it always is, but of some calls of a recorded day. Of those is_interpolated
# marks the ones between two recorded calls; the others are as late as the nearest recorded call.
# passed_at_without_event, if asked for: when the same trip would have passed, by the same draws, if no event
# had disturbed any line; null where that is the same and no event is on the trip's line.
ACTUAL = pa.schema([
    *_TRIP, *_LINE, *_CALL, ("passed_at", INSTANT), ("departed_at", INSTANT), ("is_full", pa.bool_()),
    ("is_recorded", pa.bool_()), ("is_interpolated", pa.bool_()),
])  # fmt: skip
COMPARED = ACTUAL.append(pa.field("passed_at_without_event", INSTANT))
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
# One row per change of a timetable, but for the season: until revised_at it listed something else.
REVISIONS = pa.schema([_TRIP[0], _LINE[0], ("revised_at", INSTANT), ("reason", pa.string()), *_COUNTS])
# One row per departure and version of a timetable that listed it; a version lasts until the next. A trip that
# is moved keeps its id.
# reason: first, season (a new season was announced), notice (changed before 06:00 of the date), late (after
# that), headsign or service_code (nothing else changed).
VERSIONS = pa.schema([
    *_TRIP, *_LINE, ("service_code", pa.string()), ("headsign", pa.string()), ("departure_text", pa.string()),
    ("departure_at", INSTANT), ("version", pa.int64()), ("reason", pa.string()),
    ("published_at", INSTANT), ("replaced_at", INSTANT),
])  # fmt: skip
# One row per event listed at any time on the dates, or in progress on them.
# line_codes: the lines that it disturbs, from started_at to ended_at, whatever is published of it; the two
# instants are null of an event that is_withdrawn, which does not happen.
# skipped_stops: the stops that diverted lines leave out.
# listed_at, unlisted_at: the first and the last instant in event_listings.
# plant_id: the plant it is about; is_out_of_use: that is out of use, and not only open at other hours.
# notice_of: the event that it is another notice of. classes: what is unusual about how it is published, such
# as announced, withdrawn, flap, line_added, clock_change, second_notice.
EVENTS = _schema(
    ("event_id", pa.string()), ("event", pa.string()), ("category", pa.string()), ("line_codes", _TEXTS),
    ("plant_id", pa.string()), ("started_at", INSTANT), ("ended_at", INSTANT), ("listed_at", INSTANT),
    ("unlisted_at", INSTANT), ("is_withdrawn", pa.bool_()), ("is_out_of_use", pa.bool_()),
    ("notice_of", pa.string()), ("classes", _TEXTS), ("skipped_stops", _TEXTS),
)  # fmt: skip
# One row per version of an event that is ever listed, in force from valid_from until valid_to.
# lines: labels as published, or one name; null where there are none. line_codes: the lines meant by them.
# started_at, started_text: the start announced, and as it is written.
EVENT_VERSIONS = _schema(
    ("event_id", pa.string()), ("version", pa.int64()), ("valid_from", INSTANT), ("valid_to", INSTANT),
    ("lines", _TEXTS), ("line_codes", _TEXTS), ("is_one_text", pa.bool_()), ("plant_name", pa.string()),
    ("cause", pa.string()), ("message", pa.string()), ("started_at", INSTANT), ("started_text", pa.string()),
)  # fmt: skip
# One row per interval [listed_from, listed_to) in which the list has an event.
EVENT_LISTINGS = _schema(("event_id", pa.string()), ("listed_from", INSTANT), ("listed_to", INSTANT))
# One row per news item that is listed on the dates. about: event, events, season, topic or unrelated.
# event_id: the first event it is about, null if none; event_ids: all of them.
NEWS = _schema(
    ("news_id", pa.string()), ("title", pa.string()), ("published_at", INSTANT), ("listed_to", INSTANT),
    ("about", pa.string()), ("event_id", pa.string()), ("event_ids", _TEXTS),
)  # fmt: skip
# One row per version of a news item's text; valid_to is null of the last one.
NEWS_VERSIONS = _schema(
    ("news_id", pa.string()), ("version", pa.int64()), ("valid_from", INSTANT), ("valid_to", INSTANT),
    ("text", pa.string()),
)  # fmt: skip
# One row per lift, funicular and rack railway, whether it ever fails or not. spellings: its names in the
# events of the dates, and its own.
PLANT = _schema(
    ("plant_id", pa.string()), ("kind", pa.string()), ("category", pa.string()), ("name", pa.string()),
    ("spellings", _TEXTS),
)  # fmt: skip
# One row per time that a plant is out of use, once however many notices say so.
PLANT_OUTAGES = _schema(
    ("plant_id", pa.string()), ("started_at", INSTANT), ("ended_at", INSTANT), ("event_ids", _TEXTS),
)  # fmt: skip
# One row per line and interval of local dates in which the lines list says the same of it. valid_from is
# null where that was so before the first date, valid_to where it is so after the last one.
LINE_VALIDITY = _schema(
    ("line_code", pa.string()), ("line_number", pa.string()), ("note", pa.string()),
    ("valid_from", INSTANT), ("valid_to", INSTANT),
)  # fmt: skip
# The same for the stops of a line.
STOP_VALIDITY = _schema(
    *_LINE, ("stop_code", pa.string()), ("stop_order", pa.int64()),
    ("valid_from", INSTANT), ("valid_to", INSTANT),
)  # fmt: skip
