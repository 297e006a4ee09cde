"""Texts of the upstream that a spreadsheet would run, as CSV holds them on request."""

import duckdb
import pytest

from transit_exports.source import Column
from transit_exports.types import in_csv


@pytest.mark.parametrize(
    ("text", "neutral"),
    [
        ("=cmd()", "'=cmd()"),
        ("\t=cmd()", "'\t'=cmd()"),
        ("On strike; =cmd();-1", "On strike; '=cmd();'-1"),
        ('On strike;"@cmd()', "On strike;\"'@cmd()"),
        ("On strike\n+cmd()", "On strike\n'+cmd()"),
        ("lines 1-2, a=b; no", "lines 1-2, a=b; no"),
        (None, None),
    ],
)
def test_no_text_begins_a_formula_wherever_a_spreadsheet_begins_a_cell(
    text: str | None, neutral: str | None
) -> None:
    column = in_csv(Column("title", "VARCHAR", "", ""), neutralises_formulas=True)
    with duckdb.connect() as connection:
        rows = connection.execute(f"select {column} from (select $1::varchar as title)", [text]).fetchall()

    assert [(neutral,)] == rows
