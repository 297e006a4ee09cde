"""Tables of the news of some dates: what items are about, and how they read."""

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

import pyarrow as pa

from transit_emulator.days.motion import NEVER
from transit_emulator.days.news import LISTED_DAYS, NewsItem
from transit_emulator.local_time import ONE_DAY, at_local
from transit_emulator.truth.columns import table_of
from transit_emulator.truth.schemas import NEWS, NEWS_VERSIONS
from transit_emulator.world import World


class _NewsRow(NamedTuple):
    news_id: str
    title: str
    published_at: int
    listed_to: int
    about: str
    event_id: str | None
    event_ids: tuple[str, ...]


class _VersionRow(NamedTuple):
    news_id: str
    version: int
    valid_from: int
    valid_to: int
    text: str


def news(world: World, first: date, last: date) -> pa.Table:
    """Return the items that are listed at any time from the first date to the last."""
    rows = [
        _NewsRow(
            item.id,
            item.title,
            item.published_at,
            at_local(day + ONE_DAY * LISTED_DAYS, 0, world.network.zone),
            item.about,
            item.event_ids[0] if item.event_ids else None,
            item.event_ids,
        )
        for day, item in _items(world, first, last)
    ]
    return table_of(NEWS, rows)


def news_versions(world: World, first: date, last: date) -> pa.Table:
    """Return the texts of these items, and from when until when each can be read."""
    rows = []
    for _, item in _items(world, first, last):
        edited_at = NEVER if item.edited_at is None else item.edited_at
        rows.append(_VersionRow(item.id, 1, item.published_at, edited_at, item.text))
        if item.edited_at is not None:
            rows.append(_VersionRow(item.id, 2, item.edited_at, NEVER, item.edited_text))
    return table_of(NEWS_VERSIONS, rows)


def _items(world: World, first: date, last: date) -> Iterator[tuple[date, NewsItem]]:
    for step in range(1 - LISTED_DAYS, (last - first).days + 1):
        day = first + ONE_DAY * step
        for item in world.news_published(day):
            yield day, item
