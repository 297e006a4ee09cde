"""What commands print, for people and as JSON."""

import json
import unicodedata
from dataclasses import dataclass
from datetime import UTC, date, datetime
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.conftest import RunCli
from transit_etl.cli import output


@dataclass(frozen=True)
class Report:
    """A report as the commands return them."""

    n_files: int
    first_date: date | None
    allowance_share: float
    errors: list[str]


@dataclass(frozen=True)
class Flags:
    """Flags of a report."""

    is_stopped: bool
    is_given_up: bool


REPORT = Report(n_files=3, first_date=None, allowance_share=0.957, errors=["a [red] file", "another"])


def test_a_report_has_a_label_per_field_and_leaves_out_what_is_empty(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output.print_report(REPORT, as_json=False)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]

    assert ["files 3", "allowance used 95.7%", "errors a [red] file", "another"] == lines


def test_a_flag_is_named_only_where_it_holds(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_report(Flags(is_stopped=True, is_given_up=False), as_json=False)

    assert "stopped yes" == " ".join(capsys.readouterr().out.split())


def test_a_report_as_json_has_every_field_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_report(REPORT, as_json=True)

    assert json.loads(capsys.readouterr().out) == {
        "n_files": 3,
        "first_date": None,
        "allowance_share": 0.957,
        "errors": ["a [red] file", "another"],
    }


def test_json_writes_dates_instants_and_paths_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_json([date(2026, 3, 2), datetime(2026, 3, 2, 8, tzinfo=UTC), Path("data")])

    assert ["2026-03-02", "2026-03-02T08:00:00+00:00", "data"] == json.loads(capsys.readouterr().out)


HOSTILE = st.text(max_size=30) | st.sampled_from(
    ["[/red]", "[red]x", ":smile:", "\x1b]0;title\x07", "\x1b[31m", "\x9b31m", "\u202e", "\ud83d", "[link=x]"]
)


@given(HOSTILE, HOSTILE)
@settings(max_examples=40, deadline=None)
def test_text_of_the_upstream_reaches_the_terminal_without_anything_it_obeys(text: str, other: str) -> None:
    console = output.PlainConsole(width=4096)
    console.file = StringIO()
    with patch.object(output, "out", console), patch.object(output, "err", console):
        output.print_report(Report(1, None, 0.5, [text, other]), as_json=False)
        output.print_fields({text: other})
        output.print_text(text)
        output.print_error(text)
        output.print_json([text])
    shown = console.file.getvalue()

    shown.encode()
    assert [] == [char for char in shown if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"]


@pytest.mark.parametrize("text", ["[/red]", "[bold]x[/]", ":smile:"])
def test_markup_and_emoji_codes_are_printed_as_they_are(
    capsys: pytest.CaptureFixture[str], text: str
) -> None:
    output.print_text(text)
    output.print_error(text)
    shown = capsys.readouterr()

    assert text in shown.out
    assert text in shown.err


def test_the_status_of_an_empty_installation_can_be_read_by_people_and_programs(cli: RunCli) -> None:
    assert "nothing yet" in cli("status").stdout
    assert json.loads(cli("status", "--json").stdout)["published_at"] is None


def test_staging_nothing_is_no_failure(cli: RunCli) -> None:
    done = cli("stage", "--json")

    assert done.returncode == 0
    assert 0 == json.loads(done.stdout)["windows"]
