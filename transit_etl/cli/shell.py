"""The console of `transit-etl sql`: queries of several lines, with history and completion."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer

from transit_base.errors import TransitError
from transit_base.files import FILE_MODE, make_folder
from transit_base.promised import LISTED
from transit_etl import paths
from transit_etl.cli import output
from transit_etl.cli.options import Format
from transit_etl.cli.tables import TABLES, ask, columns_of, require_table
from transit_etl.queries import query
from transit_etl.settings import FolderSettings

HELP = """\
A query ends with a semicolon and may have several lines; Tab completes tables and columns.
  tables            the tables, and what a row of each is
  describe TABLE    the columns of a table
  format NAME       how to write rows: {formats}
  quit              leave; Ctrl-D too"""
_COMMAND = re.compile(r"\s*(tables|help|quit|exit|describe\s+[\w.]+|format\s+\w+)\s*;?\s*", re.IGNORECASE)
_WORD = re.compile(r"[\w.]*$")
_KEYWORDS = (
    "all", "and", "any", "as", "asc", "between", "by", "case", "cast", "count", "cross", "desc", "describe",
    "distinct", "else", "end", "except", "exclude", "exists", "explain", "false", "filter", "from", "full",
    "group", "having", "in", "inner", "interval", "is", "join", "left", "like", "limit", "max", "min", "not",
    "null", "offset", "on", "or", "order", "over", "partition", "qualify", "select", "show", "sum",
    "summarize", "then", "true", "union", "using", "values", "when", "where", "window", "with",
)  # fmt: skip
_NAMES = f"""
select schema_name || '.' || table_name as "table", column_name as "column" from duckdb_columns()
where list_contains({list(LISTED)}, schema_name)
union all
select distinct function_name || '(', null from duckdb_functions() where not internal
"""


class Console:
    """What the console keeps between two inputs: the format of its answers."""

    def __init__(self, settings: FolderSettings, form: Format | None) -> None:
        self._settings = settings
        self._format = form or Format.TABLE

    def answer(self, text: str) -> bool:
        """Answer a command or queries; return False when the console is to be left."""
        command = _COMMAND.fullmatch(text)
        words = command[1].split() if command else []
        match [word.lower() for word in words]:
            case ["quit" | "exit"]:
                return False
            case ["help"]:
                output.print_text(
                    HELP.format(formats=", ".join(each for each in Format if each != "parquet"))
                )
            case ["tables"]:
                self._ask(TABLES)
            case ["describe", table]:
                require_table(self._settings, table)
                self._ask(columns_of(table))
            case ["format", name]:
                self._choose(name)
            case _:
                self._ask(text)
        return True

    def _ask(self, text: str) -> None:
        ask(self._settings, text, self._format, None)

    def _choose(self, name: str) -> None:
        try:
            self._format = Format(name)
        except ValueError:
            raise TransitError(f"no format {name!r}: {', '.join(Format)}") from None


class Names(Completer):
    """Completes keywords, tables with and without their schema, and columns."""

    def __init__(self, names: Sequence[tuple[str, str | None]]) -> None:
        tables = {table for table, _ in names}
        columns = {column for _, column in names if column}
        self._qualified = sorted(tables)
        self._plain = sorted({table.rpartition(".")[2] for table in tables} | columns) + list(_KEYWORDS)
        self._schemas = sorted({f"{table.partition('.')[0]}." for table in tables if "." in table})
        self._columns = sorted(columns)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002
        """Yield what the word before the cursor may become; after the dot of an alias, columns."""
        found = _WORD.search(document.text_before_cursor)
        word = found[0] if found else ""
        before, dot, last = word.rpartition(".")
        if not dot:
            candidates, typed = [*self._schemas, *self._plain], word
        elif f"{before}." in self._schemas:
            candidates, typed = self._qualified, word
        else:
            candidates, typed = self._columns, last
        if typed or dot:
            for name in candidates:
                if name.lower().startswith(typed.lower()):
                    yield Completion(name, start_position=-len(typed))


def converse(settings: FolderSettings, form: Format | None) -> None:
    """Read and answer until the user leaves; what is wrong with an input is said in one line."""
    names = query(settings, _NAMES).to_pylist()  # fails before the first prompt where nothing is published
    session = _session(paths.query_history(settings.data_dir), [tuple(each.values()) for each in names])
    console = Console(settings, form)
    output.print_text(f"{paths.published_database(settings.data_dir)}, read-only; help for help")
    is_open = True
    while is_open:
        try:
            text = session.prompt("transit> ")
            is_open = not text.strip() or console.answer(text)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        except TransitError as error:
            output.print_error(error)


def is_complete(text: str) -> bool:
    """Tell whether Enter ends an input: after a semicolon, a command, or nothing."""
    return not text.strip() or text.rstrip().endswith(";") or _COMMAND.fullmatch(text) is not None


def _session(history: Path, names: Sequence[tuple[str, str | None]]) -> PromptSession[str]:
    make_folder(history.parent)
    history.touch(FILE_MODE)
    return PromptSession(
        history=FileHistory(history),
        completer=Names(names),
        complete_while_typing=False,
        lexer=PygmentsLexer(SqlLexer),
        multiline=True,
        key_bindings=_keys(),
        prompt_continuation="      -> ",
    )


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter", filter=Condition(lambda: is_complete(get_app().current_buffer.text)))
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return keys
