"""Tables of the events of some dates, of how they were published, and of the plant."""

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

import pyarrow as pa

from transit_emulator import texts
from transit_emulator.days.events import LONGEST_AHEAD_DAYS, LONGEST_DAYS, Event, Version
from transit_emulator.days.motion import NEVER
from transit_emulator.days.plant import Plant, plants
from transit_emulator.local_time import ONE_DAY, at_local, local
from transit_emulator.truth.columns import table_of
from transit_emulator.truth.schemas import EVENT_LISTINGS, EVENT_VERSIONS, EVENTS, PLANT, PLANT_OUTAGES
from transit_emulator.world import World


class _EventRow(NamedTuple):
    event_id: str
    event: str
    category: str
    line_codes: list[str]
    plant_id: str | None
    started_at: int
    ended_at: int
    listed_at: int
    unlisted_at: int
    is_withdrawn: bool
    is_out_of_use: bool
    notice_of: str | None
    classes: tuple[str, ...]
    skipped_stops: list[str]


class _VersionRow(NamedTuple):
    event_id: str
    version: int
    valid_from: int
    valid_to: int
    lines: list[str] | None
    line_codes: list[str]
    is_one_text: bool
    plant_name: str | None
    cause: str | None
    message: str
    started_at: int
    started_text: str


class _ListingRow(NamedTuple):
    event_id: str
    listed_from: int
    listed_to: int


class _PlantRow(NamedTuple):
    plant_id: str
    kind: str
    category: str
    name: str
    spellings: list[str]


class _OutageRow(NamedTuple):
    plant_id: str
    started_at: int
    ended_at: int
    event_ids: list[str]


def events(world: World, first: date, last: date) -> pa.Table:
    """Return the events that are listed, or in progress, at any time from the first date to the last."""
    return table_of(EVENTS, [_event_row(world, event) for event in _events(world, first, last)])


def event_versions(world: World, first: date, last: date) -> pa.Table:
    """Return what the status says of these events, each version that it ever shows."""
    rows = [
        _version_row(world, event, number, shown)
        for event in _events(world, first, last)
        for number, shown in enumerate(event.listed_versions(), start=1)
    ]
    return table_of(EVENT_VERSIONS, rows)


def event_listings(world: World, first: date, last: date) -> pa.Table:
    """Return the intervals in which the status has these events."""
    found = _events(world, first, last)
    return table_of(
        EVENT_LISTINGS, [_ListingRow(event.id, *listed) for event in found for listed in event.listed]
    )


def plant(world: World, first: date, last: date) -> pa.Table:
    """Return all plant, with its spellings in the events of the dates."""
    found = list(_events(world, first, last))
    return table_of(PLANT, [_plant_row(one, found) for one in plants(world.network)])


def plant_outages(world: World, first: date, last: date) -> pa.Table:
    """Return the times that plant is out of use which overlap the dates."""
    starts_at, ends_at = _span(world, first, last)
    found = [event for event in _events(world, first, last) if event.is_out_of_use]
    rows = [
        _OutageRow(
            event.plant_id,
            event.started_at,
            event.ended_at,
            [one.id for one in found if event.id in (one.id, one.notice_of)],
        )
        for event in found
        if not event.notice_of and event.started_at < ends_at and event.ended_at > starts_at
    ]
    return table_of(PLANT_OUTAGES, rows)


def _events(world: World, first: date, last: date) -> Iterator[Event]:
    starts_at, ends_at = _span(world, first, last)
    n_days = (last - first).days + 1
    for step in range(-LONGEST_DAYS, n_days + LONGEST_AHEAD_DAYS):
        for event in world.events(first + ONE_DAY * step):
            is_on = event.started_at < ends_at and event.ended_at > starts_at and not event.is_withdrawn
            if is_on or event.covers(starts_at, ends_at):
                yield event


def _span(world: World, first: date, last: date) -> tuple[int, int]:
    zone = world.network.zone
    return at_local(first, 0, zone), at_local(last + ONE_DAY, 0, zone)


def _event_row(world: World, event: Event) -> _EventRow:
    return _EventRow(
        event_id=event.id,
        event=event.event,
        category=event.category,
        line_codes=_codes(world, event.line_positions),
        plant_id=event.plant_id or None,
        started_at=NEVER if event.is_withdrawn else event.started_at,
        ended_at=NEVER if event.is_withdrawn else event.ended_at,
        listed_at=event.listed_at,
        unlisted_at=event.unlisted_at,
        is_withdrawn=event.is_withdrawn,
        is_out_of_use=event.is_out_of_use,
        notice_of=event.notice_of or None,
        classes=event.classes,
        skipped_stops=sorted(world.network.stops[stop].code for stop in world.skipped_stops(event)),
    )


def _version_row(world: World, event: Event, number: int, shown: tuple[Version, int, int]) -> _VersionRow:
    version, valid_from, valid_to = shown
    return _VersionRow(
        event_id=event.id,
        version=number,
        valid_from=valid_from,
        valid_to=valid_to,
        lines=[version.name] if version.name else list(version.lines) or None,
        line_codes=_codes(world, sum(version.positions, ())),
        is_one_text=version.is_one_text or bool(version.name),
        plant_name=version.name or None,
        cause=version.cause,
        message=version.message,
        started_at=version.starts_at,
        started_text=texts.short_date(local(version.starts_at, world.network.zone)),
    )


def _plant_row(one: Plant, found: list[Event]) -> _PlantRow:
    names = {version.name for event in found if event.plant_id == one.id for version in event.versions}
    return _PlantRow(one.id, one.kind, one.category, one.name, sorted(names | {one.name}))


def _codes(world: World, positions: tuple[int, ...]) -> list[str]:
    return [world.network.lines[position].code for position in positions]
