"""Service alerts read back from the protobuf, and are what the warehouse knows of the service status."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from google.transit import gtfs_realtime_pb2 as gtfs

from benchmarks.validators import by_protobuf, read_alerts
from tests.exports.conftest import change
from tests.warehouse.rehearsed import START
from transit_exports import ExportError, ExportSettings, Request, export

AT = (START + timedelta(minutes=30)).replace(tzinfo=None)


def file(settings: ExportSettings, at: datetime | None = None) -> Path:
    return export(settings, Request((), "gtfs-rt", at=at, allows_incomplete=True)).folder / "alerts.pb"


def alerts(settings: ExportSettings, at: datetime | None = None) -> gtfs.FeedMessage:
    return read_alerts(file(settings, at))


def test_the_alerts_of_a_period_are_its_episodes(published: ExportSettings) -> None:
    with duckdb.connect(published.database, read_only=True) as connection:
        known = connection.execute(
            "select episode_id, coalesce(gtfs_cause, 'UNKNOWN_CAUSE'), "
            "coalesce(gtfs_effect, 'UNKNOWN_EFFECT') from marts.disruptions"
        ).fetchall()
    feed = alerts(published)

    assert ("2.0", gtfs.FeedHeader.FULL_DATASET) == (
        feed.header.gtfs_realtime_version,
        feed.header.incrementality,
    )
    assert len(known) > 1
    assert set(known) == {
        (
            entity.id,
            gtfs.Alert.Cause.Name(entity.alert.cause),
            gtfs.Alert.Effect.Name(entity.alert.effect),
        )
        for entity in feed.entity
    }
    assert all(
        entity.alert.informed_entity and entity.alert.header_text.translation for entity in feed.entity
    )


def test_an_alert_of_buses_informs_the_routes_of_its_lines(published: ExportSettings) -> None:
    with duckdb.connect(published.database, read_only=True) as connection:
        [(episode, routes)] = connection.execute("""
            select episode_id, list(distinct line_code order by line_code)
            from (select operator, episode_id, unnest(lines) as line_number from marts.disruptions
                  where lines_kind = 'array')
            join core.latest_lines using (operator, line_number)
            group by episode_id order by episode_id limit 1
        """).fetchall()
    [alert] = [entity.alert for entity in alerts(published).entity if entity.id == episode]

    assert routes == [entity.route_id for entity in alert.informed_entity]


def test_a_lift_out_of_use_is_hard_to_reach_at_the_stops_with_its_name_and_no_end_of_all_service(
    published: ExportSettings,
) -> None:
    with duckdb.connect(published.database, read_only=True) as connection:
        lifts = connection.execute(
            "select episode_id, lines[1] from marts.disruptions where category = 'ASC' order by 1"
        ).fetchall()
        [(stop,)] = connection.execute("select min(stop_code) from core.stops").fetchall()
    change(
        published,
        "insert into intermediate.stop_names "
        f"select operator, stop_code, substr('{lifts[0][1]}', strpos('{lifts[0][1]}', ' ') + 1), 44.4, 8.9 "
        f"from core.stops where stop_code = '{stop}'",
    )
    informed = {
        entity.id: [each.stop_id for each in entity.alert.informed_entity]
        for entity in alerts(published).entity
        if entity.alert.effect == gtfs.Alert.ACCESSIBILITY_ISSUE
    }

    assert {episode for episode, _ in lifts} == informed.keys()
    assert {lift == lifts[0][1] for _, lift in lifts} == {True, False}
    assert {episode: [stop] if lift == lifts[0][1] else [""] for episode, lift in lifts} == informed


@pytest.mark.parametrize(("language", "headers"), [("de-CH", {"en"}), ("it", {"en", "it"}), ("en", {"en"})])
def test_each_text_of_an_alert_names_its_language(
    published: ExportSettings, language: str, headers: set[str]
) -> None:
    settings = replace(published, language=language)
    texts = [entity.alert for entity in alerts(settings).entity]

    assert texts
    for alert in texts:
        assert headers == {each.language for each in alert.header_text.translation}
        assert len(headers) == len({each.text for each in alert.header_text.translation})
    assert {language} == {each.language for alert in texts for each in alert.description_text.translation}


def test_the_header_of_an_event_without_a_meaning_is_its_code(published: ExportSettings) -> None:
    change(published, "update marts.disruptions set event_meaning = null")
    headers = [
        [(each.language, each.text.split(":")[0]) for each in entity.alert.header_text.translation]
        for entity in alerts(published).entity
    ]

    assert headers
    assert all([language for language, _ in each] == ["it"] for each in headers)


def test_the_alerts_of_an_instant_do_not_know_what_came_later(published: ExportSettings) -> None:
    feed = alerts(published, AT)

    assert AT == datetime.fromtimestamp(feed.header.timestamp, UTC).replace(tzinfo=None)
    assert {entity.id for entity in feed.entity} <= {entity.id for entity in alerts(published).entity}
    assert not any(period.end for entity in feed.entity for period in entity.alert.active_period)


def test_an_instant_outside_the_period_is_refused(published: ExportSettings) -> None:
    with pytest.raises(ExportError, match="lies outside"):
        alerts(published, AT + timedelta(days=40))
    with pytest.raises(ExportError, match="is of a period"):
        export(published, Request((), "tides", at=AT))


def test_a_feed_reads_back_and_a_broken_one_is_refused(published: ExportSettings) -> None:
    path = file(published)
    assert {} == by_protobuf(path).errors

    path.write_bytes(path.read_bytes()[:-1])

    assert by_protobuf(path).errors
