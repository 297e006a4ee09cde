"""Feeds and packages hold what the published file holds, each trip and passage by its identity."""

from pathlib import Path

import pytest

from benchmarks.validated_exports import FORMATS, contradictions
from tests.exports.conftest import change
from transit_exports import ExportSettings, Request, export


def exports(settings: ExportSettings) -> dict[str, Path]:
    return {form: export(settings, Request((), form, allows_incomplete=True)).folder for form in FORMATS}


def test_exports_hold_the_trips_passages_and_alerts_of_the_warehouse(placed: ExportSettings) -> None:
    assert [] == [*contradictions(placed.database, exports(placed))]


@pytest.mark.long
def test_an_export_that_differs_from_the_warehouse_is_noticed(placed: ExportSettings) -> None:
    folders = exports(placed)
    change(
        placed,
        "update core.scheduled_departures set service_seconds = service_seconds + 60",
        "update core.stop_visits set passed_at = passed_at + interval 9 second",
        "delete from core.trips where outcome = 'run'",
        "delete from marts.disruptions",
    )

    found = [*contradictions(placed.database, folders)]

    assert {"static", "ran", "tides", "alerts"} == {each.partition(":")[0] for each in found}
