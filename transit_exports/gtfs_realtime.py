"""Plans a GTFS Realtime feed of alerts: the events of the service status, at an instant or in a period."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from google.transit import gtfs_realtime_pb2 as gtfs

from transit_base.files import open_atomic
from transit_exports.parts import Part
from transit_exports.periods import Period
from transit_exports.request import ExportError, Request
from transit_exports.source import Source
from transit_exports.statements import statement

_VERSION = "2.0"
_AT_ONCE = 1_000  # alerts
_ENGLISH = "en"  # the language of our meanings of the codes
NOTES = [
    "`alerts.pb` is a GTFS Realtime FeedMessage, of the instant asked for or of the end of the period.",
    "Causes and effects are assumed, by `cause_meanings`, `category_meanings` and `event_meanings`.",
    "An alert about lines informs the routes with their numbers, one about a lift the stops with its name.",
    "Where none is known it informs the agency.",
    "An alert ends when an answer of the service status first did not list it.",
]


def alert_parts(source: Source, request: Request, period: Period) -> list[Part]:
    """Return the one file of the feed."""
    [(start, end)] = source.rows(
        statement("service_time", {}, first=f"date '{period.first}'", last=f"date '{period.last}'")
    )
    if request.at is None:
        return [Part("alerts.pb", "alerts", partial(_write, start, end, is_moment=False))]
    if not start <= request.at <= end:
        raise ExportError(f"{request.at:%Y-%m-%d %H:%M} UTC lies outside {period.first} to {period.last}")
    return [Part("alerts.pb", "alerts", partial(_write, request.at, request.at, is_moment=True))]


def _write(start: datetime, end: datetime, source: Source, path: Path, *, is_moment: bool) -> int:
    """Write the alerts that held between two instants; return how many there are."""
    feed = gtfs.FeedMessage()
    feed.header.gtfs_realtime_version = _VERSION
    feed.header.incrementality = gtfs.FeedHeader.FULL_DATASET
    feed.header.timestamp = _seconds(end)
    for alert in _alerts(source, start, end):
        _add(feed, source, alert, knows_end=not is_moment)
    with open_atomic(path) as file:
        file.write(feed.SerializeToString(deterministic=True))
    return len(feed.entity)


def _alerts(source: Source, start: datetime, end: datetime) -> Iterator[dict[str, Any]]:
    cursor = source.connection.cursor()
    query = statement("alerts", {"operator": source.publication.operator})
    cursor.execute(query, {"start": start, "end": end})
    names = [column[0] for column in cursor.description]
    while rows := cursor.fetchmany(_AT_ONCE):
        yield from (dict(zip(names, row, strict=True)) for row in rows)


def _add(feed: gtfs.FeedMessage, source: Source, alert: dict[str, Any], *, knows_end: bool) -> None:
    entity = feed.entity.add()
    entity.id = alert["episode_id"]
    period = entity.alert.active_period.add()
    period.start = _seconds(alert["start_at"])
    if knows_end and alert["end_at"] is not None:
        period.end = _seconds(alert["end_at"])
    entity.alert.cause = _code(gtfs.Alert.Cause, alert["gtfs_cause"], gtfs.Alert.UNKNOWN_CAUSE)
    entity.alert.effect = _code(gtfs.Alert.Effect, alert["gtfs_effect"], gtfs.Alert.UNKNOWN_EFFECT)
    for selector in _informed(alert):
        entity.alert.informed_entity.add(agency_id=source.publication.operator, **selector)
    for language, header in _headers(source, alert).items():
        _add_text(entity.alert.header_text, header, language)
    _add_text(entity.alert.description_text, alert["message"], source.settings.language)


def _headers(source: Source, alert: dict[str, Any]) -> dict[str, str]:
    """Return the header in English and in the language of the feed, where it can be told in both.

    Without a meaning it is upstream's code.
    """
    settings, meaning = source.settings, alert["event_meaning"]
    said = {settings.language: alert["event"]}
    if meaning is not None:
        said = {settings.language: settings.translate(meaning, settings.language), _ENGLISH: meaning}
        if said[settings.language] == meaning:
            said = {_ENGLISH: meaning}
    return {language: ": ".join(filter(None, (words, alert["names"]))) for language, words in said.items()}


def _informed(alert: dict[str, Any]) -> list[dict[str, str]]:
    """Return what an alert is about: its routes or stops; the agency alone, where none is known."""
    routes = [{"route_id": route} for route in alert["routes"] or ()]
    return routes or [{"stop_id": stop} for stop in alert["stops"] or ()] or [{}]


def _code(codes: Any, name: str | None, unknown: int) -> int:  # noqa: ANN401 - an enumeration of protobuf
    return int(codes.Value(name)) if name in codes.keys() else unknown  # noqa: SIM118 - not a dictionary


def _add_text(target: Any, text: str | None, language: str) -> None:  # noqa: ANN401 - a message of protobuf
    if text:
        target.translation.add(text=text, language=language)


def _seconds(instant: datetime) -> int:
    return int(instant.replace(tzinfo=UTC).timestamp())
