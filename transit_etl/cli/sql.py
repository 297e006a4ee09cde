"""The commands that ask the published warehouse: `sql`, `tables` and `describe`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from transit_etl.cli.options import Format, Json, query_text
from transit_etl.settings import load_settings

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", dir_okay=False, help="Write into a file, in one step."),
]
AsFormat = Annotated[
    Format | None,
    typer.Option("--format", "-f", help="How to write the rows; without it, what the file's ending says."),
]


def sql(
    statement: Annotated[
        str | None,
        typer.Argument(
            help="Queries, the name of a file that holds some (x.sql), or - for standard input; "
            "on a terminal, none opens the console."
        ),
    ] = None,
    as_format: AsFormat = None,
    output: Output = None,
    as_json: Json = False,
) -> None:
    """Query the published warehouse, read-only.

    Without a query it is a console with history, completion (Tab) and queries of several lines.

    Example: transit-etl sql "select line_code, count(*) n from core.stop_visits group by 1 order by n desc"
    """
    from transit_etl.cli.tables import ask

    settings = load_settings()
    form = asked_format(as_format, as_json=as_json)
    if statement is None and sys.stdin.isatty():
        from transit_etl.cli.shell import converse

        converse(settings, form)
    else:
        ask(settings, query_text(statement or "-"), form, output)


def tables(
    pattern: Annotated[
        str | None, typer.Argument(help="A part of the names to list, such as `headway` or `marts.`.")
    ] = None,
    as_format: AsFormat = None,
    output: Output = None,
    as_json: Json = False,
) -> None:
    """List the tables of the published warehouse, and what a row of each is.

    Example: transit-etl tables headway
    """
    from transit_etl.cli.formats import write
    from transit_etl.cli.tables import tables_like

    write([tables_like(load_settings(), pattern)], asked_format(as_format, as_json=as_json), output)


def describe(
    table: Annotated[str, typer.Argument(help="A table, with or without its schema.")],
    as_format: AsFormat = None,
    output: Output = None,
    as_json: Json = False,
) -> None:
    """List the columns of a table of the published warehouse: type, unit, source and meaning.

    Example: transit-etl describe core.stop_visits
    """
    from transit_etl.cli.tables import ask, columns_of, require_table

    settings = load_settings()
    require_table(settings, table)
    ask(settings, columns_of(table), asked_format(as_format, as_json=as_json), output)


def asked_format(asked: Format | None, *, as_json: bool) -> Format | None:
    """Return the format that `--json` or `--format` asks for, if any."""
    return Format.JSON if as_json else asked
