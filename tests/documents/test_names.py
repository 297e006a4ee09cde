"""What documents name exists: paths, settings, tables, columns, make targets, DAGs, outcomes."""

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.documents.conftest import Tour
from tests.documents.documents import (
    DOCUMENTS,
    README,
    all_blocks,
    commands_of,
    inline_code,
    inline_commands,
    name_of,
    prose,
)
from tests.documents.sessions import ROOT
from transit_etl.api.exchange import Outcome
from transit_etl.paths import published_database
from transit_etl.settings import PREFIX, Settings

DOCS = ROOT / "docs"
SOURCES = ("dags", "expectations", "sql", "tests", "transit_emulator", "transit_etl", "transit_exports")
SCHEMA = "(?:headline|core|marts|quality|staging|intermediate)"
TABLE = re.compile(rf"(?<![\w/]){SCHEMA}\.(?!(?:yml|odcs)\b)[a-z][a-z_]+\b")
MADE_WHILE_RUNNING = ("build/", "data/")
LONGEST_CELL = 200
MOST_README_LINES = 160

each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)


def _texts() -> dict[Path, str]:
    return {document: document.read_text(encoding="utf-8") for document in DOCUMENTS}


def _rows(text: str) -> Iterator[list[str]]:
    """Yield the cells of each row of each table, without headings' rules."""
    for line in text.splitlines():
        if line.startswith("|") and not set(line) <= set("|-: "):
            yield [cell.strip() for cell in line.strip().strip("|").split(" | ")]


@each_document
def test_every_path_exists(document: Path) -> None:
    top = {path.name for path in ROOT.iterdir()}
    paths = [
        code.split(" ")[-1].partition("::")[0].rstrip("/")
        for code in inline_code(document)
        if "/" in code
        and code.split(" ")[-1].split("/")[0] in top
        and not code.startswith(MADE_WHILE_RUNNING)
    ]

    assert [] == [path for path in paths if not (ROOT / path).exists()]


@each_document
def test_every_link_leads_to_a_file(document: Path) -> None:
    """The dictionary is made with the pages: see `docs/conf.py`."""
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", prose(document))

    assert [] == [
        link for link in links if not (document.parent / link).exists() and not link.startswith("dictionary/")
    ]


def test_every_make_target_exists() -> None:
    commands = [*inline_commands(), *(line for block in all_blocks() for line in commands_of(block))]
    named = {name for command in commands for name in re.findall(r"\bmake ([a-z-]+)", command)}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

    assert named
    assert set() == named - targets


def test_every_file_of_which_ci_leaves_out_tests_is_listed() -> None:
    contributing = ROOT / "CONTRIBUTING.md"
    _, listed = contributing.read_text(encoding="utf-8").split("### What `.ci/run` leaves out\n")

    assert _test_files("exhaustive") == set(re.findall(r"`(tests/\S+\.py)`", listed.split("\n## ")[0]))


def test_what_runs_alone_is_a_step_of_ci() -> None:
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    assert _test_files("whole_command") == set(re.findall(r"^step .*(tests/\S+\.py)", steps, re.MULTILINE))


def _test_files(marker: str) -> set[str]:
    """Return the paths of the test files in which a marker is used."""
    used = f"pytest.mark.{marker}"
    paths = (ROOT / "tests").rglob("test_*.py")
    found = {path.relative_to(ROOT).as_posix() for path in paths if used in path.read_text(encoding="utf-8")}
    assert found
    return found


def test_every_test_exists() -> None:
    named = [name for text in _texts().values() for name in re.findall(r"`(tests/\S+\.py)::(\w+)`", text)]

    assert named
    for file, test in named:
        assert re.search(
            rf"^(async )?def {test}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE
        ), test


def test_every_setting_exists() -> None:
    named = {name for text in _texts().values() for name in re.findall(rf"{PREFIX}([A-Z_]*[A-Z])", text)}

    assert set() == {name.lower() for name in named} - set(Settings.model_fields)


def test_every_setting_has_a_row_with_its_default_and_bounds() -> None:
    listed = {
        cells[0].strip("`").removeprefix(PREFIX).lower(): cells[1:]
        for cells in _rows((DOCS / "settings.md").read_text(encoding="utf-8"))
        if PREFIX in cells[0]
    }

    assert set(Settings.model_fields) == set(listed)
    for name, field in Settings.model_fields.items():
        cell, bounds = listed[name][:2]
        default = cell.split("`")[1] if cell.startswith("`") else cell.split(",")[0]
        if default not in ("none", "one SQLite file per upstream and token"):
            assert str(getattr(Settings(), name)) in (default, f"{default}:00", f"{default}.0"), name
        limits = [
            f"{value:.15g}"
            for limit in field.metadata
            for kind in ("gt", "ge", "le")
            if (value := getattr(limit, kind, None)) is not None
        ]

        numbers = re.findall(r"-?\d+(?:\.\d+)?", bounds)
        assert limits == [number for number in numbers if number in limits][: len(limits)], name


@pytest.fixture
def tables(tour: Tour) -> set[str]:
    """Return the tables and views of the tour that are published or described, schema included."""
    with duckdb.connect(
        published_database(tour.session.folder / "data" / "tour"), read_only=True
    ) as connection:
        names = connection.execute(
            "select table_schema || '.' || table_name from information_schema.tables "
            "union select schema_name || '.' || table_name from quality.dictionary_tables"
        ).fetchall()
    return {name for (name,) in names}


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.xdist_group("documents")  # one tour for all
def test_every_table_exists(tables: set[str]) -> None:
    named = {name for text in _texts().values() for name in TABLE.findall(text)}

    assert named
    assert set() == named - tables


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.xdist_group("documents")  # one tour for all
def test_every_promised_table_is_described(tables: set[str]) -> None:
    described = set(TABLE.findall((DOCS / "tables.md").read_text(encoding="utf-8")))
    promised = {name for name in tables if name.split(".")[0] in ("headline", "core", "marts", "quality")}

    assert promised == described


@each_document
def test_every_identifier_occurs_in_the_sources(document: Path) -> None:
    codes = {
        re.sub(r"\W+$", "", code)
        for code in inline_code(document)
        if re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)+(\(\))?", code)
    }
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in SOURCES
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in {".py", ".sql", ".yml", ".csv", ".json", ".md"} and "target" not in path.parts
    )
    words = set(re.findall(r"\w+", sources)) | {
        path.stem for folder in SOURCES for path in (ROOT / folder).rglob("*")
    }

    assert set() == codes - words


def test_the_dags_are_those_there_are() -> None:
    rows = _rows((DOCS / "operations.md").read_text(encoding="utf-8"))
    listed = {cells[0].strip("`") for cells in rows if re.fullmatch(r"`\w+`", cells[0])}
    dags = {path.stem for path in (ROOT / "dags").glob("*.py")}

    assert dags == listed


def test_every_outcome_of_a_request_is_explained() -> None:
    explained = set(inline_code(DOCS / "concepts.md"))

    assert set() == {outcome.value for outcome in Outcome} - explained


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.xdist_group("documents")  # one tour for all
def test_everything_in_the_folder_of_data_is_explained(tour: Tour) -> None:
    table = _rows((ROOT / "data" / "README.md").read_text(encoding="utf-8"))
    explained = {name.split("/")[0] for cells in table for name in re.findall(r"`([^`]+)`", cells[0])}
    left = {path.name for path in (tour.session.folder / "data" / "tour").iterdir()}

    assert set() == left - explained
    assert {"raw", "lake", "warehouse", "state", "reports"} <= left


@each_document
def test_every_cell_of_a_table_is_short(document: Path) -> None:
    cells = [cell for row in _rows(document.read_text(encoding="utf-8")) for cell in row]

    assert [] == [cell for cell in cells if len(cell) > LONGEST_CELL]


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= MOST_README_LINES
