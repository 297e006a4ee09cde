"""The command line, its commands by what they are for."""

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated

import typer

from transit_base.errors import TransitError
from transit_base.files import in_words
from transit_etl.cli import output
from transit_etl.cli.backup import backup, prune, restore, sync
from transit_etl.cli.config import config
from transit_etl.cli.contract import contract
from transit_etl.cli.diff import diff
from transit_etl.cli.emulator import emulator_app
from transit_etl.cli.export import export
from transit_etl.cli.extras import what_to_install
from transit_etl.cli.folder import folder
from transit_etl.cli.health import check, metrics, status, verify
from transit_etl.cli.options import EXIT_FAILED, MARKUP
from transit_etl.cli.recipe import recipe
from transit_etl.cli.rehearse import rehearse
from transit_etl.cli.report import report
from transit_etl.cli.run import run_round
from transit_etl.cli.sql import describe, sql, tables
from transit_etl.cli.steps import build, collect, compact, publish, reprocess, stage
from transit_etl.cli.trip import trip
from transit_etl.settings import load_settings

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=MARKUP,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        output.print_text(f"transit-etl {version('transit-etl')}")
        raise typer.Exit


@app.callback()
def about(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Poll a public-transport interface within its request allowance; turn the answers into a warehouse.

    Settings are TRANSIT_* variables, or lines of `.env` or `transit-etl.toml`; `transit-etl config` has all.
    Without any, the upstream is an emulator on this machine.
    """


_COLLECT, _TRY = "Collect, build, publish", "Try it on an emulated network"
_GROUPS: dict[str, tuple[Callable[..., None], ...]] = {
    _COLLECT: (collect, stage, reprocess, build, publish),
    "Ask the warehouse": (sql, recipe, trip, tables, describe),
    "Report, export, compare": (report, export, contract, diff),
    "Operate": (status, check, metrics, config, folder, compact, verify, sync, backup, restore, prune),
    _TRY: (rehearse,),
}
app.command("run", rich_help_panel=_COLLECT)(run_round)
for group, commands in _GROUPS.items():
    for command in commands:
        app.command(rich_help_panel=group)(command)
app.add_typer(emulator_app, name="emulator", rich_help_panel=_TRY)


def main() -> None:
    """Run the command line; an error written for the user is one clear line and a non-zero exit.

    What the encoding of a terminal or a file lacks is written as an escape.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except TransitError as error:
        output.print_error("; ".join(filter(None, (str(error), _why_tables_are_missing(error)))))
        sys.exit(EXIT_FAILED)
    except OSError as error:
        output.print_error(in_words(error))
        sys.exit(EXIT_FAILED)
    except ModuleNotFoundError as error:
        advice = what_to_install(error)
        if advice is None:
            raise
        output.print_error(advice)
        sys.exit(EXIT_FAILED)


def _why_tables_are_missing(error: TransitError) -> str | None:
    """Say what to do where a table or column is missing because the published file is of other models."""
    import duckdb

    if not isinstance(error.__cause__, duckdb.CatalogException | duckdb.BinderException):
        return None
    with suppress(TransitError, ModuleNotFoundError):  # the models come with the extra `build`
        from transit_etl.warehouse import outdated

        return outdated(load_settings())
    return None
