"""Programs that use SQLAlchemy, such as Superset, open the published file read-only and ask its functions."""

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from tests.documents.documents import all_blocks
from tests.warehouse.rehearsed import Rehearsed
from transit_etl import warehouse
from transit_etl.paths import published_database

pytestmark = pytest.mark.xdist_group("warehouse")  # one build for all


def _query() -> str:
    """Return the query that the page about connecting shows."""
    [shown] = [
        block.text for block in all_blocks() if (block.document.name, block.language) == ("connect.md", "sql")
    ]
    return shown


def test_the_query_of_the_page_is_answered_as_by_ours_and_nothing_is_written(rehearsed: Rehearsed) -> None:
    path = published_database(rehearsed.settings.data_dir)
    engine = create_engine(f"duckdb:///{path}", connect_args={"read_only": True})
    with engine.connect() as connection:
        answered = connection.execute(text(_query())).mappings().all()
        with pytest.raises(DBAPIError, match="read-only"):
            connection.execute(text("create table core.more (n integer)"))
    engine.dispose()

    assert answered
    assert warehouse.query(rehearsed.settings, _query()).to_pylist() == [dict(row) for row in answered]
