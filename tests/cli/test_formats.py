"""Rows of a query as a table, records, CSV, JSON, JSON lines, Markdown and Parquet."""

import csv
import io
import json
import unicodedata
from datetime import datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from transit_etl.cli.formats import OutputError, write
from transit_etl.cli.grid import lines_of
from transit_etl.cli.options import Format
from transit_etl.cli.values import json_rows, texts

EXACT = datetime(2026, 3, 2, 6, 5, 22, 773_000)  # noqa: DTZ001 - as DuckDB gives instants
ROWS = pa.table(
    {
        "line": ["15", "N1, [bold]", 'a "b"\nc', None],
        "share": [0.85, float("nan"), 0.5338, None],
        "n": [1, 20, None, 300],
        "at": [EXACT, EXACT.replace(microsecond=0), None, EXACT],
        "lines": [["15", "17"], [], None, ["x"]],
        "is_open": [True, False, None, True],
    }
)
WIDE = pa.table({f"column_{number}": [number] for number in range(12)})


def _written(form: Format, folder: Path, rows: pa.Table = ROWS) -> str:
    path = folder / "rows.out"
    write([rows], form, path)
    return path.read_text(encoding="utf-8")


def test_a_table_has_its_headings_its_rows_and_their_number() -> None:
    lines = list(lines_of(pa.table({"line_code": ["015-00", None], "n": [1, 20]}), 80))

    assert [
        "┏━━━━━━━━━━━┳━━━━┓",
        "┃ line_code ┃  n ┃",
        "┡━━━━━━━━━━━╇━━━━┩",
        "│ 015-00    │  1 │",
        "│           │ 20 │",
        "└───────────┴────┘",
        "2 rows",
    ] == lines


def test_numbers_and_instants_of_a_column_have_one_format() -> None:
    assert ["0.8500", "nan", "0.5338", ""] == texts(ROWS)[1]
    assert ["2026-03-02 06:05:22.773", "2026-03-02 06:05:22.000", "", "2026-03-02 06:05:22.773"] == texts(
        ROWS
    )[3]
    assert ["true", "false", "", "true"] == texts(ROWS)[5]


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [
        ([1.0, 2.0], ["1", "2"]),
        ([0.1, 12.345], ["0.10", "12.35"]),
        ([1e-5, 2.34567e-5], ["0.00001000", "0.00002346"]),
        ([0.0, 0.5], ["0.0", "0.5"]),
        ([1234567.891], ["1234567.89"]),
        ([float("inf"), 1.5], ["inf", "1.5"]),
        ([0.0], ["0"]),
        ([None], [""]),
    ],
)
def test_decimals_show_four_digits_of_the_largest_number(numbers: list[float], shown: list[str]) -> None:
    assert [shown] == texts(pa.table({"x": pa.array(numbers, pa.float64())}))


@pytest.mark.parametrize("width", [60, 80, 100])
def test_rows_too_wide_for_the_terminal_are_records(width: int) -> None:
    lines = list(lines_of(WIDE, width))

    assert "column_11 │ 11" in lines
    assert width == len(lines[0])
    assert "1 row" == lines[-1]


@pytest.mark.parametrize("width", [40, 80, 100])
def test_long_text_is_folded_where_that_makes_the_table_fit(width: int) -> None:
    lines = list(lines_of(pa.table({"n": [1], "text": ["some words " * 30]}), width))

    assert lines[0].startswith("┏")
    assert width >= max(map(len, lines))
    assert 30 == "".join(lines).count("some")


@pytest.mark.parametrize("text", ["東京都庁" * 20, "東京 " * 30])
def test_text_is_folded_by_the_room_that_its_characters_take(text: str) -> None:
    *lines, count = lines_of(pa.table({"n": [1], "text": [text]}), 40)

    assert "1 row" == count
    assert {40} == {cell_len(line) for line in lines}
    assert text.count("東") == "".join(lines).count("東")


def test_no_rows_are_a_table_without_any_whatever_the_width() -> None:
    assert "0 rows" == list(lines_of(WIDE.slice(0, 0), 20))[-1]


def test_csv_is_read_back_as_it_was(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(_written(Format.CSV, tmp_path), newline="")))

    assert ["15", "N1, [bold]", 'a "b"\nc', ""] == [row["line"] for row in rows]
    assert ["0.85", "nan", "0.5338", ""] == [row["share"] for row in rows]
    assert ['["15","17"]', "[]", "", '["x"]'] == [row["lines"] for row in rows]


def test_json_is_valid_and_has_null_for_what_it_has_no_number_for(tmp_path: Path) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    rows = json.loads(_written(Format.JSON, tmp_path), parse_constant=refuse)

    assert [0.85, None, 0.5338, None] == [row["share"] for row in rows]
    assert ["2026-03-02T06:05:22.773", "2026-03-02T06:05:22", None] == [row["at"] for row in rows[:3]]
    assert rows == [json.loads(line) for line in _written(Format.JSONL, tmp_path).splitlines()]


def test_json_without_rows_is_an_empty_list(tmp_path: Path) -> None:
    assert "[]\n" == _written(Format.JSON, tmp_path, ROWS.slice(0, 0))


def test_markdown_escapes_what_it_would_obey(tmp_path: Path) -> None:
    lines = _written(Format.MARKDOWN, tmp_path).splitlines()

    assert "|---|---:|---:|---|---|---|" == lines[1]
    assert r"| N1, \[bold\] |" in lines[3]
    assert 6 == len(lines)


def test_parquet_keeps_the_types(tmp_path: Path) -> None:
    write([ROWS], None, tmp_path / "rows.parquet")

    read = pq.read_table(tmp_path / "rows.parquet")
    assert [field.type for field in ROWS.drop_columns("lines").schema] == [
        field.type for field in read.drop_columns("lines").schema
    ]
    assert str(ROWS.to_pylist()) == str(read.to_pylist())


@pytest.mark.parametrize("form", [Format.TABLE, Format.CSV, Format.JSON, Format.MARKDOWN])
def test_a_value_that_duckdb_cannot_write_is_named_in_one_line(form: Format, tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        rows = connection.sql("select hugeint from test_all_types()").to_arrow_table()

    with pytest.raises(OutputError, match=rf"^a value cannot be written as {form}: .+$"):
        write([rows], form, tmp_path / "rows.out")


def test_columns_of_one_name_are_numbered() -> None:
    rows = pa.Table.from_arrays([pa.array([number]) for number in (1, 2, 3)], names=["n", "N", "n"])

    assert {"n": 1, "N_1": 2, "n_2": 3} == json.loads(json_rows(rows)[0])


def test_a_file_of_one_result_takes_no_second_and_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("before")

    with pytest.raises(OutputError, match="a csv file holds the rows of one query"):
        write([ROWS, ROWS], None, path)
    assert "before" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


@given(
    st.text(max_size=30) | st.sampled_from(["\x1b]0;title\x07", "\x9b31m", "\u202e", "[link=x]", ":smile:"])
)
@settings(max_examples=40, deadline=None)
def test_text_of_the_upstream_reaches_a_table_without_anything_a_terminal_obeys(text: str) -> None:
    shown = "".join(lines_of(pa.table({text or "x": [text]}), 80))

    assert [] == [char for char in shown if unicodedata.category(char) in ("Cc", "Cs")]
    assert "\u202e" not in shown
