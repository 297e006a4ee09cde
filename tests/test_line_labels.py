"""One rule for the labels of lines, whichever language reads them."""

import duckdb
import pytest

from transit_etl.engine_functions import function_statements
from transit_etl.line_labels import normal_label
from transit_etl.settings import Settings
from transit_etl.stage.connection import connect

CASES = [
    (None, None), ("", None), ("  ", None),
    ("18", "18"), ("018", "18"), (" 020 ", "20"), ("0", "0"), ("000", "0"), ("0010", "10"),
    ("604/", "604/"), ("012/", "12/"), ("00/", "0/"), ("0/", "0/"), ("F2/", "F2/"), ("/", "/"),
    ("N1", "N1"), (" n1 ", "N1"), ("0N1", "N1"), ("00n1/", "N1/"), ("MM", "MM"), ("1 BIS", "1 BIS"),
    ("È1", "È1"), ("è1", "È1"), ("*ERR*", "*ERR*"),
]  # fmt: skip


@pytest.mark.parametrize(("label", "normal"), CASES)
def test_python_reads_a_label_as_the_rule_says(label: str | None, normal: str | None) -> None:
    assert (normal or "") == normal_label(label)


def test_staging_reads_every_label_as_the_rule_says() -> None:
    with connect(Settings()) as connection:
        query = "select label, normal_label(label) from (select unnest($labels::varchar[]) as label)"
        found = connection.execute(query, {"labels": [label for label, _ in CASES]}).fetchall()

    assert CASES == found


def test_the_models_read_every_label_as_the_rule_says() -> None:
    with duckdb.connect() as connection:
        connection.execute(function_statements("duckdb")["normal_label"])
        query = "select label, normal_label(label) from (select unnest($labels::varchar[]) as label)"
        found = connection.execute(query, {"labels": [label for label, _ in CASES]}).fetchall()

    assert CASES == found
