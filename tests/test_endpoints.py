"""The table of endpoints agrees with the files that it names."""

from importlib.resources import files

import pytest

from transit_base.installed import part_of_project
from transit_etl.endpoints import CADENCES, COLLECTIONS, ENDPOINTS, Endpoint, endpoints_of, is_polled
from transit_etl.lake_schemas import DATASETS

STAGED = [endpoint for endpoint in ENDPOINTS.values() if endpoint.dataset]


@pytest.mark.parametrize("endpoint", STAGED, ids=lambda endpoint: endpoint.name)
def test_a_staged_endpoint_has_columns_sql_a_suite_and_a_view(endpoint: Endpoint) -> None:
    assert endpoint.dataset in DATASETS
    assert (files("transit_etl.stage") / "sql" / f"{endpoint.dataset}.sql").is_file()
    assert (part_of_project("expectations") / f"{endpoint.dataset}.json").is_file()
    assert (part_of_project("sql") / "models/staging" / f"staging_{endpoint.dataset}.sql").is_file()


def test_every_dataset_comes_from_one_endpoint_or_from_staging_itself() -> None:
    datasets = [endpoint.dataset for endpoint in STAGED]

    assert len(datasets) == len(set(datasets))
    assert set(DATASETS) == {*datasets, "requests", "validation_results"}


@pytest.mark.parametrize("name", COLLECTIONS)
def test_a_collection_is_of_one_dag_one_kind_and_one_way_to_ask(name: str) -> None:
    assert 1 == len({(row.dag, row.kind, row.asked, row.version) for row in endpoints_of(name)})


def test_every_dag_of_the_table_has_a_file() -> None:
    dags = {path.stem for path in (part_of_project("sql").parent / "dags").glob("*.py")}

    assert {endpoint.dag for endpoint in ENDPOINTS.values()} == set(CADENCES)
    assert set(CADENCES) <= dags


def test_passages_and_status_are_polled_and_the_lists_are_not() -> None:
    assert ["passages", "status"] == [name for name in COLLECTIONS if is_polled(name)]
