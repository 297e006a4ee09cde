"""Findings about data: reported by the build, published, and gone when a later build no longer finds them."""

from dataclasses import replace

import pytest

from tests.warehouse.lakes import TUESDAY, Event, Lake
from transit_etl import warehouse
from transit_etl.settings import Settings

WITHDRAWN = (
    "core.status_episodes: An event was withdrawn before its announced start: it lasted for no time. "
    f"1 row, {TUESDAY}"
)


@pytest.mark.long
def test_a_finding_is_reported_published_and_gone_once_a_build_no_longer_finds_it(settings: Settings) -> None:
    announced = Event("DEV", (), "20:00")
    for event in (announced, replace(announced, since="07:00")):
        lake = Lake(settings.data_dir, settings.operator)
        lake.status("08:00", event)
        lake.status("08:10")
        lake.status("08:11")
        lake.write()
        report = warehouse.build(settings)
        warehouse.publish(settings)

        expected = [WITHDRAWN] if event is announced else []
        assert expected == report.findings
        assert expected == warehouse.published_findings(settings)
