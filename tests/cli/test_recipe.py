"""The command `recipe`, on a published warehouse of rehearsed hours."""

import json
from typing import Any

import pytest

from tests.cli.conftest import RunCli
from tests.warehouse.rehearsed import DAY, Rehearsed
from transit_etl.cli.recipe import recipes

NAME = "what_was_scheduled_and_what_ran"


def _rows(cli: RunCli, rehearsed: Rehearsed, *words: str) -> list[dict[str, Any]]:
    done = cli("recipe", *words, "--json", TRANSIT_DATA_DIR=str(rehearsed.settings.data_dir))
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def test_without_a_name_the_recipes_are_listed_with_what_they_take(cli: RunCli) -> None:
    rows = json.loads(cli("recipe", "--json").stdout)

    assert list(recipes()) == [row["recipe"] for row in rows]
    assert "--line --from --to" == next(row["options"] for row in rows if row["recipe"] == NAME)
    assert all(row["question"].endswith("?") for row in rows)


def test_a_line_is_known_by_its_number_and_by_its_code(cli: RunCli, rehearsed: Rehearsed) -> None:
    every = _rows(cli, rehearsed, NAME)
    by_number, by_code = (_rows(cli, rehearsed, NAME, "--line", line) for line in ("18", "018-00"))

    assert by_code == [row for row in every if row["line_code"] == "018-00"] != []
    assert by_number == [row for row in every if row["line_code"] in ("018-00", "018-01")]  # both have it


def test_only_the_dates_asked_for_are_counted(cli: RunCli, rehearsed: Rehearsed) -> None:
    assert _rows(cli, rehearsed, NAME) == _rows(cli, rehearsed, NAME, "--from", f"{DAY}", "--to", f"{DAY}")
    assert [] == _rows(cli, rehearsed, NAME, "--to", "2020-01-01")
    assert [] == _rows(cli, rehearsed, NAME, "--from", "2040-01-01")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["where_buses_bnch"], "is it where_buses_bunch"),
        (
            ["where_buses_bunch", "--ruleset", "uk_dft"],
            "does not take --ruleset: it takes --line, --from, --to",
        ),
        (["which_lines_did_not_run", "--from", "2026-03-02"], "it takes no option"),
        (["where_buses_bunch", "--line", "no'x"], "there is no line"),
    ],
)
def test_what_cannot_be_answered_is_told(
    cli: RunCli, rehearsed: Rehearsed, words: list[str], said: str
) -> None:
    done = cli("recipe", *words, TRANSIT_DATA_DIR=str(rehearsed.settings.data_dir))

    assert 1 == done.returncode
    assert said in done.stderr
