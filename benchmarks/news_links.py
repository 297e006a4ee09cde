"""Compares news with the truth of the emulator: the disruptions of an item, and its edits."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from benchmarks.measures import Measure, Row, Span, rows_of, seconds_of

DAY = 24 * 3600.0


def measure_news(
    connection: duckdb.DuckDBPyConnection, truth: Path, found: Mapping[str, Sequence[Row]], period: Span
) -> Iterator[Measure]:
    """Compare links of news with episodes, and edits of news, with those of a period.

    connection: to a build; truth: the folder with the tables of the emulator.
    found: the published episodes of each event, by id.
    """
    items = {
        row["news_id"]: row
        for row in pq.read_table(truth / "news.parquet").to_pylist()
        if period.start <= seconds_of(row["published_at"]) < period.end - DAY
    }
    links = {
        (row["news_id"], row["episode_id"]): row
        for row in rows_of(connection, "select * from core.news_episodes")
    }
    true = {
        (news_id, episode["episode_id"])
        for news_id, item in items.items()
        for event_id in item["event_ids"] or ()
        for episode in found.get(event_id, ())
    }
    precision = Measure("news: links that are right", ">= 95 %")
    recall = Measure("news: links found", ">= 80 %")
    for link, row in links.items():
        if link[0] in items:
            precision.count(link in true, (items[link[0]]["title"], round(row["score"], 2), link))
    for link in sorted(true):
        recall.count(link in links, (items[link[0]]["title"], link))
    yield from (precision, recall, *_measure_edits(connection, truth, items))


def _measure_edits(
    connection: duckdb.DuckDBPyConnection, truth: Path, items: Mapping[str, Row]
) -> tuple[Measure, Measure]:
    """Compare when texts were edited with the versions that were fetched, of items listed a day longer."""
    fetched = Measure("news: edits fetched within a day", ">= 95 %")
    inside = Measure("news: edits inside their interval", "100 %")
    versions = rows_of(connection, "select * from core.news where edited_after is not null")
    for row in pq.read_table(truth / "news_versions.parquet").to_pylist():
        item = items.get(row["news_id"])
        at = seconds_of(row["valid_from"])
        if item is None or row["version"] == 1 or seconds_of(item["listed_to"]) < at + DAY:
            continue
        own = [each for each in versions if each["news_id"] == row["news_id"]]
        known = [seconds_of(each["valid_from"]) for each in own]
        fetched.count(any(at <= each <= at + DAY for each in known), (item["title"], row["valid_from"]))
        if own:
            is_inside = [
                seconds_of(each["edited_after"]) <= at <= seconds_of(each["valid_from"]) for each in own
            ]
            inside.count(any(is_inside), (item["title"], row["valid_from"]))
    return fetched, inside
