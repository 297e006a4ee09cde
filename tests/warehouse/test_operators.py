"""Two operators in one data folder: nothing of one is changed by the other, whatever codes they share."""

import shutil
from datetime import time
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest

from benchmarks.engines import SCHEMAS, compare_builds
from benchmarks.repeated_days import copy_rows
from docs.notebooks.punctuality import contents_of, figures_of, operators_of
from tests.warehouse.conftest import Rows
from tests.warehouse.rehearsed import Rehearsed
from tests.warehouse.test_contract import ask_client
from tests.warehouse.test_recipes import ON_HAND_MADE_TABLES, RECIPES
from transit_base.quoting import quoted_name, sql_text
from transit_etl import identity, paths, warehouse
from transit_etl.export_settings import export_settings, report_folder
from transit_etl.identity import operators_settings
from transit_etl.lake_schemas import DATASETS
from transit_etl.queries import QueryError, query
from transit_etl.settings import Settings
from transit_exports import Request, export
from transit_exports.manifest import read_manifest
from transit_reports import ReportRequest, write_operators, write_reports

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]
# Clocks of the other operator show the same six hours later, and it answers less often.
OTHER, ZONE, HOURS_WEST = "other", "America/New_York", 6
KEPT_SHARE = 0.8
OTHER_RULESET = 2  # in force on no date by itself
# Views whose sentences always name the operator; those of the others do where there are several.
ALWAYS_NAMED = {"on_time_months", "on_time_network"}
TABLES = ("marts.punctuality", "core.stop_visits", "marts.status_coverage")


class Folders(NamedTuple):
    """The settings of an operator in a data folder of its own, and in one with both operators."""

    alone: Settings
    both: Settings


@pytest.fixture(scope="module")
def folders(rehearsed: Rehearsed, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Folders]:
    """Build and publish two operators, each alone and both together."""
    first, root = rehearsed.settings, tmp_path_factory.mktemp("operators")
    other = {"operator": OTHER, "timezone": ZONE, "ruleset": OTHER_RULESET}
    alone = first.model_copy(update={**other, "data_dir": root / "alone"})
    both = first.model_copy(update={"data_dir": root / "both"})
    both = both.knowing({first.operator: both, OTHER: both.model_copy(update=other)})
    for name in ("lake", "raw"):
        shutil.copytree(first.data_dir / name, both.data_dir / name)
    shutil.copy(paths.identity_file(first.data_dir), paths.identity_file(both.data_dir))
    identity.accept(both.of(OTHER))
    for folder in (alone.data_dir, both.data_dir):
        _add_operator(first.data_dir, first.operator, folder)
    for settings in (alone, both):
        warehouse.build(settings)
        warehouse.publish(settings)
    return {
        first.operator: Folders(first, both),
        OTHER: Folders(alone, both.of(OTHER)),
    }


@pytest.fixture(params=["emulated", OTHER])
def operator(request: pytest.FixtureRequest, folders: dict[str, Folders]) -> Folders:
    """Return the folders of an operator."""
    return folders[request.param]


def test_the_figures_of_an_operator_are_those_of_a_warehouse_with_it_alone(operator: Folders) -> None:
    places = operator.alone.data_dir, operator.both.data_dir
    compared = list(compare_builds(*places, operator.alone.operator, (*SCHEMAS, "headline")))

    assert {} == {
        each.table: differences
        for each in compared
        if (differences := [what for what in each.differences if not what.endswith("values of sentence")])
    }
    assert sum(each.n_rows for each in compared) > 10_000
    assert 8 == sum(each.table.startswith("headline.") and each.n_rows > 0 for each in compared)


def test_the_file_of_two_operators_keeps_the_contract(folders: dict[str, Folders]) -> None:
    answers = ask_client(paths.published_database(folders[OTHER].both.data_dir).parent, "--test")

    assert [] == [failure for _, _, failed in answers.values() for failure in failed]
    assert len(answers) == 4


def test_a_sentence_names_the_operator_where_the_warehouse_has_several(operator: Folders) -> None:
    name = operator.alone.operator
    views = query(
        operator.alone, "select view_name from duckdb_views() where schema_name = 'headline'"
    ).to_pylist()
    for view in [row["view_name"] for row in views]:
        alone, both = (_asked(each, f"from headline.{view}") for each in operator)
        words = "of {}" if view in ALWAYS_NAMED else " (operator {})"
        added = "" if view in ALWAYS_NAMED else words.format(name)

        assert {*_sentences(alone, name)} == {
            sentence.replace(added, "") for sentence in _sentences(both, name)
        }
        assert all(words.format(row["operator"]) in row["sentence"] for row in both)


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_the_answers_about_an_operator_are_those_of_a_warehouse_with_it_alone(
    operator: Folders, name: str
) -> None:
    alone, both = (_asked(each, RECIPES[name]) for each in operator)

    assert alone == [row for row in both if row["operator"] == operator.alone.operator]
    assert alone or name in ON_HAND_MADE_TABLES


def test_a_service_day_is_that_of_the_time_zone_of_its_operator(folders: dict[str, Folders]) -> None:
    rows = query(
        folders[OTHER].both,
        "select operator, closed_date, strftime(local_time(zero_at, operator), '%H:%M') as starts, "
        "service_date(zero_at + interval 12 hour, operator) = service_date as is_its_date "
        "from core.service_days join quality.operators using (operator)",
    ).to_pylist()

    assert {"emulated", OTHER} == {row["operator"] for row in rows}
    assert {"00:00"} == {row["starts"] for row in rows}
    assert all(row["is_its_date"] for row in rows)
    with pytest.raises(QueryError, match=r"local_time\(instant, operator\)"):
        query(folders[OTHER].both, "select local_time(zero_at) from core.service_days")


def test_an_operator_is_judged_by_the_ruleset_that_is_set_for_it(folders: dict[str, Folders]) -> None:
    rows = query(
        folders[OTHER].both,
        "select operator, ruleset_version, count(*) as n from core.stop_visits group by all order by all",
    ).to_pylist()
    found = query(folders[OTHER].both, "select rulesets from quality.publication").to_pylist()

    assert [("emulated", 1), (OTHER, OTHER_RULESET)] == [
        (row["operator"], row["ruleset_version"]) for row in rows
    ]
    assert [{"rulesets": [1, OTHER_RULESET]}] == found


def test_the_exports_of_an_operator_are_those_of_a_warehouse_with_it_alone(operator: Folders) -> None:
    for table in TABLES:
        request = Request((table,), "csv", allows_incomplete=True)
        alone, both = (export(export_settings(each), request).folder for each in operator)
        manifests = read_manifest(alone), read_manifest(both)

        assert manifests[0] is not None
        assert manifests[1] is not None
        assert operator.alone.operator in both.parts
        assert _data_of(alone) == _data_of(both)
        assert manifests[0].coverage == manifests[1].coverage


def test_the_reports_of_an_operator_are_those_of_a_warehouse_with_it_alone(operator: Folders) -> None:
    answers, data = [], []
    for settings in operator:
        folder = report_folder(settings)
        written = write_reports(export_settings(settings), folder, ReportRequest())
        answers.append([each.answer for each in written])
        data.append(_data_of(folder))

    write_operators(report_folder(operator.both).parent, ("en", "it"))

    assert answers[0]
    assert answers[0] == answers[1]
    assert data[0] == data[1]
    page = (report_folder(operator.both).parent / "index.html").read_text()
    assert f'<a href="{operator.both.operator}/index.html">' in page


def test_the_notebook_shows_of_an_operator_what_it_shows_of_a_warehouse_with_it_alone(
    operator: Folders,
) -> None:
    found = []
    for each in operator:
        path = paths.published_database(each.data_dir)
        contents = contents_of(path, each.operator)
        period = contents.first, contents.last
        lines = contents.lines[:3]
        found.append((lines, period, [figures_of(path, each.operator, *period, line) for line in lines]))

    assert operators_of(paths.published_database(operator.both.data_dir)) == ["emulated", OTHER]
    assert found[0] == found[1]


def test_all_operators_of_a_folder_are_listed_with_their_settings(folders: dict[str, Folders]) -> None:
    found = operators_settings(folders["emulated"].both)

    assert [folders["emulated"].both, folders[OTHER].both] == found
    assert {time(4)} == {each.service_day_cutoff for each in found}


def _sentences(rows: Rows, operator: str) -> list[str]:
    return [row["sentence"] for row in rows if row["operator"] == operator]


def _asked(settings: Settings, sql: str) -> Rows:
    """Ask the build of a data folder a question; tables are found without their schema."""
    with duckdb.connect(paths.build_database(settings.data_dir), read_only=True) as connection:
        connection.execute("set timezone = 'UTC'; set search_path = 'main,core,marts,quality,headline'")
        rows: Rows = connection.sql(sql).to_arrow_table().to_pylist()
        return rows


def _data_of(folder: Path) -> dict[str, bytes]:
    """Return the data files below a folder: what stands beside them says of which publication they are."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.csv")}


def _add_operator(source: Path, operator: str, target: Path) -> None:
    """Write the lake rows of an operator as another's, later by hours, and fewer of them."""

    def changed(column: str, kind: str) -> str | None:
        name = quoted_name(column)
        if kind.startswith("TIMESTAMP"):
            return f"{name} + interval {HOURS_WEST} hour"
        if column == "draws":  # whom the audit draws depends on the operator's name
            return "cast(null as varchar)"
        if column in {"request_id", "window"}:
            return f"{sql_text(OTHER)} || {name}"
        return sql_text(OTHER) if column == "operator" else None

    for dataset in DATASETS:
        kept = f"hash(request_id) % 100 < {100 * KEPT_SHARE}" if dataset == "passages" else "true"
        for path in paths.lake_files(source, dataset, operator):
            place = str(path.relative_to(source)).replace(f"operator={operator}/", f"operator={OTHER}/")
            copy_rows(str(path), target / place, changed, kept)
