"""A reference file says which stops are timing points or rated; what is wrong with it is said in one line."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.warehouse.conftest import Rows
from transit_etl import warehouse
from transit_etl.settings import Settings
from transit_etl.warehouse.building import builder, dbt
from transit_etl.warehouse.building.judged_stops import SCOPES, JudgedStop, read_judged_stops
from transit_etl.warehouse.building.reference_files import ReferenceFileError

HEADING = "stop_scope,stop_code,line_code,direction\n"


def _file(folder: Path, text: str) -> Path:
    path = folder / "judged_stops.csv"
    path.write_text(text, encoding="utf-8-sig")
    return path


def test_a_stop_counts_for_a_direction_of_a_line_or_for_all_of_them(tmp_path: Path) -> None:
    stops = read_judged_stops(
        _file(tmp_path, f"{HEADING}timing_points,12,001-00,inbound\nrated_stops,s2,,\nrated_stops,s2,,\n")
    )

    assert [
        JudgedStop("timing_points", "0012", "001-00", "inbound"),
        JudgedStop("rated_stops", "s2", None, None),
    ] == stops


def test_lines_and_directions_may_be_left_out(tmp_path: Path) -> None:
    path = _file(tmp_path, "stop_code,stop_scope\n1,timing_points\n")

    assert [JudgedStop("timing_points", "0001", None, None)] == read_judged_stops(path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "lists no stop"),
        (HEADING, "lists no stop"),
        ("stop_code\n1\n", "line 2: stop_scope '' is not timing_points or rated_stops"),
        (f"{HEADING}timing_points,1,,\norigin,1,,\n", "line 3: stop_scope 'origin' is not"),
        (f"{HEADING}timing_points,,,\n", "line 2: no stop_code"),
        (f"{HEADING}timing_points,1,,andata\n", "line 2: direction 'andata' is not outbound or inbound"),
        (f'{HEADING}timing_points,"1\n', "cannot read the file of judged stops"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ReferenceFileError, match=complaint):
        read_judged_stops(_file(tmp_path, text))


def test_every_scope_that_no_interface_tells_can_be_named(ask: Callable[[str], Rows]) -> None:
    rows = ask("select distinct stop_scope from core.authority_rulesets")

    assert {*SCOPES, "all", "origin", "terminus"} == {row["stop_scope"] for row in rows}


@pytest.mark.long
def test_other_judged_stops_build_every_date_again_and_the_same_none(
    built: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir = tmp_path / "data"
    shutil.copytree(built.data_dir, data_dir)
    stops = _file(tmp_path, f"{HEADING}timing_points,1001,,\n")
    settings = built.model_copy(update={"data_dir": data_dir, "judged_stops_file": stops})
    monkeypatch.setattr(builder, "build_dates", lambda *_, **__: dbt.DbtResult(0, 0))
    before = warehouse.build(built.model_copy(update={"data_dir": data_dir})).n_dates
    first, again = (warehouse.build(settings).n_dates for _ in range(2))

    assert 0 == before
    assert first > 0
    assert 0 == again
