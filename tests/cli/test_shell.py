"""The console: what ends an input, what is completed, what is answered."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from transit_etl.cli.shell import Names, converse, is_complete
from transit_etl.paths import published_database, query_history
from transit_etl.settings import Settings

NAMES = Names([("core.stop_visits", "passed_at"), ("marts.headways", "ewt_seconds"), ("local_time(", None)])


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a small published warehouse."""
    settings = Settings(data_dir=tmp_path)
    path = published_database(tmp_path)
    path.parent.mkdir()
    with duckdb.connect(path) as connection:
        connection.execute("""
            create schema core; create schema quality;
            create table core.lines as select '015-00' as line_code;
            create table quality.dictionary_columns (
                schema_name varchar, table_name varchar, column_name varchar, unit varchar, source varchar
            );
        """)
    return settings


@pytest.fixture
def typed() -> Iterator[PipeInput]:
    """Give what the user types, to a terminal that nobody looks at."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


def _completions(text: str) -> list[str]:
    return [each.text for each in NAMES.get_completions(Document(text), CompleteEvent())]


@pytest.mark.parametrize(
    "text",
    ["select 1;", "select 1 ;\n", "", " ", "tables", "describe core.lines", "QUIT", "format csv;"],
)
def test_enter_ends_an_input_after_a_semicolon_or_a_command(text: str) -> None:
    assert is_complete(text)


@pytest.mark.parametrize("text", ["select 1", "select 1;\nselect", "describe", "from tables", "describe a b"])
def test_enter_goes_on_with_a_query_that_is_not_finished(text: str) -> None:
    assert not is_complete(text)


def test_schemas_tables_columns_functions_and_keywords_are_completed() -> None:
    assert ["core."] == _completions("from core")
    assert ["core.stop_visits"] == _completions("from core.st")
    assert ["stop_visits"] == _completions("from stop_")
    assert ["passed_at", "partition"] == _completions("select pa")
    assert ["ewt_seconds"] == _completions("select h.e")
    assert ["local_time("] == _completions("select local")
    assert [] == _completions("select ")


def test_queries_of_several_lines_and_commands_are_answered(
    settings: Settings, typed: PipeInput, capsys: pytest.CaptureFixture[str]
) -> None:
    typed.send_text("select line_code\r from lines;\rformat csv\rdescribe lines\rfrom nowhere;\rquit\r")
    converse(settings, None)
    shown = capsys.readouterr()

    assert "│ 015-00    │" in shown.out
    assert "line_code,varchar" in shown.out
    assert 1 == len(shown.err.splitlines())
    assert "nowhere does not exist" in shown.err


def test_what_was_typed_is_kept_for_the_next_time_and_for_nobody_else(
    settings: Settings, typed: PipeInput
) -> None:
    typed.send_text("select 41 + 1;\r\x04")
    converse(settings, None)
    history = query_history(settings.data_dir)

    assert "select 41 + 1;" in history.read_text(encoding="utf-8")
    assert 0 == history.stat().st_mode & 0o007


def test_an_interrupt_drops_the_input_and_stays(
    settings: Settings, typed: PipeInput, capsys: pytest.CaptureFixture[str]
) -> None:
    typed.send_text("select wrong\x03select 1 as one;\rexit\r")
    converse(settings, None)

    assert "one" in capsys.readouterr().out
