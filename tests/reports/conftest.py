"""A report of the rehearsed hours, written once; the pages of a test that changes them are its own."""

from pathlib import Path

import pytest

from tests.exports.conftest import settings_in
from tests.warehouse.rehearsed import DAY, Rehearsed
from transit_etl.paths import published_database
from transit_exports import ExportSettings
from transit_reports import ReportRequest, ReportSummary, write_reports

LINK_ALL_NEWS = """
insert into core.news_episodes by name
select distinct operator, news_id, episode_id, 1.0 as score
from core.news join core.status_episodes using (operator)
"""


def settings_for(rehearsed: Rehearsed, folder: Path) -> ExportSettings:
    """Return settings of a data folder with nothing but the published file of the rehearsed hours."""
    settings = settings_in(folder, publisher="City of Tests", licence="CC-BY-4.0")
    settings.database.parent.mkdir(parents=True)
    settings.database.hardlink_to(published_database(rehearsed.settings.data_dir))
    return settings


@pytest.fixture(scope="session")
def report(rehearsed: Rehearsed, tmp_path_factory: pytest.TempPathFactory) -> ReportSummary:
    """Write the report of the rehearsed date, in both languages."""
    folder = tmp_path_factory.mktemp("report")
    settings = settings_for(rehearsed, folder / "data")
    [written] = write_reports(
        settings, folder / "performance", ReportRequest(first=DAY, last=DAY, languages=["en", "it"])
    )
    return written


@pytest.fixture
def own(rehearsed: Rehearsed, tmp_path: Path) -> ExportSettings:
    """Return settings of a published file that the test may change."""
    return settings_for(rehearsed, tmp_path / "data")
