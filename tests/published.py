"""Published warehouses that tests of several folders read; `conftest.py` keeps those of each together."""

import pytest

from tests.documents.sessions import ROOT
from tests.warehouse import stories
from tests.warehouse.rehearsed import Rehearsed, rehearse_a_busy_hour
from transit_etl import warehouse
from transit_etl.settings import Settings
from transit_etl.warehouse.describing.contract_summary import promised_columns
from transit_etl.warehouse.describing.dbt_manifest import Manifest, last_manifest


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of a data folder whose stories are built, checked and published."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("stories"), operator="testville")
    stories.write(settings.data_dir)
    warehouse.build(settings)
    warehouse.publish(settings)
    return settings


@pytest.fixture(scope="session")
def manifest(built: Settings) -> Manifest:
    """Give what dbt knew of the models when it built the stories."""
    found = last_manifest(built.data_dir)
    assert found is not None
    return found


@pytest.fixture(scope="session")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Rehearsed:
    """Give a rehearsed hour and a half of the small network, built and published."""
    return rehearse_a_busy_hour(tmp_path_factory.mktemp("rehearsed"))


def promised_tables(*schemas: str) -> set[str]:
    """Return the tables and views of some schemas that the data contract promises."""
    columns = promised_columns(ROOT / "docs" / "contract.yaml")
    return {f"{each.schema}.{each.table}" for each in columns if each.schema in schemas}
