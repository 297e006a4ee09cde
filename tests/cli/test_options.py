"""How durations, dates and instants are read from the command line."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
import typer

from transit_etl.cli import options


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("2h", 7200), ("1.5m", 90)])
def test_a_duration_has_a_unit(text: str, seconds: float) -> None:
    assert seconds == options.duration(text)


@pytest.mark.parametrize("text", ["", "10", "0s", "-5m", "ten minutes", "5d"])
def test_another_text_is_not_a_duration(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a duration: write 90s, 10m or 2h"):
        options.duration(text)


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-02-30", "29.3.2026"])
def test_another_text_is_not_a_date(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a date: write 2026-03-29"):
        options.day(text)


def test_an_instant_may_be_a_date_or_have_no_offset() -> None:
    assert date(2026, 3, 29) == options.instant("2026-03-29")
    assert datetime(2026, 3, 29, 8) == options.instant("2026-03-29T08:00")  # noqa: DTZ001 - that is the point


def test_a_moment_has_an_offset() -> None:
    assert datetime(2026, 3, 29, 6, tzinfo=UTC) == options.moment("2026-03-29T08:00+02:00")
    with pytest.raises(typer.BadParameter, match="has no offset"):
        options.moment("2026-03-29T08:00")


def test_a_query_may_be_the_name_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "query.sql"
    path.write_text("select 1")

    assert "select 1" == options.query_text(str(path))
    assert "select 2" == options.query_text("select 2")
