"""Every command that a document shows is run."""

import re
from copy import copy
from pathlib import Path

import pytest

from tests.documents.commands import DAY, ELSEWHERE, LONG_ON_THE_TOUR, ON_THE_TOUR, SHORTENED
from tests.documents.conftest import Tour
from tests.documents.documents import (
    DOCUMENTS,
    README,
    TOUR,
    all_blocks,
    commands_of,
    inline_commands,
    is_command,
    name_of,
)
from tests.documents.sessions import ROOT, Block, Session, run
from transit_etl import warehouse
from transit_etl.settings import Settings

pytestmark = [pytest.mark.xdist_group("documents"), pytest.mark.timeout(1200)]
ACCOUNTED = [*ON_THE_TOUR, *LONG_ON_THE_TOUR, *SHORTENED, *ELSEWHERE]
BLOCKS = all_blocks()
QUERIES = [block for block in BLOCKS if block.language == "sql"]
HERE = [
    block
    for block in BLOCKS
    if block.language in ("sh", "console") and not set(commands_of(block)) <= set(ELSEWHERE)
]
ON_TOUR = [block for block in HERE if block.document not in (TOUR, README)]


def test_every_block_is_run_or_a_drawing() -> None:
    languages = {str(block): block.language for block in BLOCKS if not _is_directive(block)}

    assert {} == {
        place: language
        for place, language in languages.items()
        if language not in ("sh", "console", "sql", "text")
    }


def test_a_drawing_holds_no_command() -> None:
    drawn = [line for block in BLOCKS if block.language == "text" for line in block.text.splitlines()]

    assert [] == [line for line in drawn if is_command(line.removeprefix("$ "))]


def test_every_inline_command_is_run_or_begins_one_that_is() -> None:
    accounted = "\n".join([*ACCOUNTED, *(block.text for block in HERE)])

    assert [] == [
        command
        for command in inline_commands()
        if not re.search(rf"{re.escape(command)}(?= |$)", accounted, re.MULTILINE)
    ]


def test_no_command_is_accounted_for_that_no_document_shows() -> None:
    shown = {*inline_commands(), *(command for block in BLOCKS for command in commands_of(block))}

    assert [] == [command for command in ACCOUNTED if command not in shown]


@pytest.mark.parametrize(("file", "call"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_runs_elsewhere_runs_there(file: str, call: str) -> None:
    assert call in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.long
def test_the_tour_prints_what_it_shows(tour: Tour) -> None:
    differing = [
        (step.command, step.output, printed) for step, printed in tour.printed if not step.matches(printed)
    ]

    assert [] == differing, "python -m tests.documents.refresh docs/tour.md writes the output anew"


@pytest.mark.long
def test_the_readme_runs_from_top_to_bottom(readme_session: Session) -> None:
    ran = [pair for block in HERE if block.document == README for pair in run(block, readme_session)]
    printed = [text for _, text in ran]
    n_queries = sum(len(re.findall("transit-etl (?:sql|recipe) ", step.command)) for step, _ in ran)
    n_rows = [int(n) for text in printed for n in re.findall(r"^(\d+) rows?$", text, re.MULTILINE)]

    assert (n_queries, True) == (len(n_rows), 4 <= n_queries and all(n_rows))
    assert "Published" in printed[-1]
    assert "counts in headlines once it is over" in printed[-1]  # what `run` says it found


@pytest.mark.long
@pytest.mark.parametrize("document", sorted({block.document for block in ON_TOUR}), ids=name_of)
def test_every_other_document_runs_from_top_to_bottom(tour: Tour, document: Path) -> None:
    shell = copy(tour.session)
    ran = [pair for block in ON_TOUR if block.document == document for pair in run(block, shell)]

    assert [] == [(step.command, printed) for step, printed in ran if not step.matches(printed)]


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        *ON_THE_TOUR,
        *(pytest.param(command, marks=pytest.mark.exhaustive) for command in LONG_ON_THE_TOUR),
    ],
)
def test_every_inline_command_runs(tour: Tour, command: str) -> None:
    tour.session.run(re.sub(r"\bD\b", DAY, command))


@pytest.mark.long
@pytest.mark.parametrize("block", QUERIES, ids=str)
def test_every_query_returns_rows(tour: Tour, block: Block) -> None:
    answer = warehouse.query(Settings(data_dir=tour.session.folder / "data" / "tour"), block.text)

    assert answer.num_rows > 0


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.parametrize("command", SHORTENED.values())
def test_every_measurement_runs_shortened(command: str, tmp_path: Path) -> None:
    Session(tmp_path, {}, timeout_seconds=500).run(f". .venv/bin/activate\n{command}")


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_document_is_plain_markdown(document: Path) -> None:
    assert document.read_text(encoding="utf-8").startswith(("# ", "```{include}"))


def _is_directive(block: Block) -> bool:
    return block.language.startswith("{")
