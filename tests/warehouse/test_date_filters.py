"""How a read without a date filter is found."""

import pytest

from tests.warehouse.date_filters import tables_read_whole

DATES = {"core.visits": "service_date", "staging.answers": "received_date"}
TODAY = "cast('2026-11-10' as date)"


@pytest.mark.parametrize(
    "sql",
    [
        f"select * from core.visits where service_date between {TODAY} and {TODAY}",
        f"select * from core.visits as v, other where v.service_date between {TODAY} and {TODAY} and v.a",
        f"select * from other left join core.visits as v on v.k = other.k and v.service_date = {TODAY}",
        f"select * from staging.answers where received_date >= {TODAY} - 1",
        "with visits as (select 1) select * from visits",
    ],
)
def test_a_filter_by_the_tables_own_date_is_enough(sql: str) -> None:
    assert [] == tables_read_whole(sql, DATES)


@pytest.mark.parametrize(
    "sql",
    [
        "select * from core.visits",
        f"select * from core.visits as v, other as o where o.service_date between {TODAY} and {TODAY}",
        f"select * from core.visits where service_date = {TODAY} or is_late",
        "select * from core.visits as v join other as o on v.service_date = o.service_date",
        f"select (select max(n) from core.visits) from other where service_date = {TODAY}",
    ],
)
def test_no_filter_or_one_of_another_table_is_not(sql: str) -> None:
    assert ["core.visits"] == tables_read_whole(sql, DATES)
