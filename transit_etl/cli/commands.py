"""The command line: one command for each step of the way from an answer to a figure."""

import json
import sys
from datetime import date, datetime
from typing import Annotated

import typer

from transit_etl.cli import output as show
from transit_etl.cli.emulator import emulator_app, rehearse
from transit_etl.cli.options import (
    COLLECTION,
    EXIT_FAILED,
    EXIT_STOPPED,
    FROM,
    TO,
    Json,
    day,
    duration,
    moment,
    query_text,
)
from transit_etl.errors import TransitError
from transit_etl.settings import load_settings

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(emulator_app, name="emulator")
app.command()(rehearse)


@app.callback()
def about() -> None:
    """Poll a public-transport interface within its allowance; turn the answers into a warehouse.

    Settings are TRANSIT_* environment variables; without any, the upstream is an emulator on this machine.
    """


@app.command()
def collect(
    dataset: Annotated[str, COLLECTION],
    seconds: Annotated[
        float | None, typer.Option("--for", metavar="DURATION", parser=duration, help="90s, 10m or 2h.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Ask the upstream for a dataset, within the allowance, and keep every answer in data/raw.

    Passages and status are polled for one window (TRANSIT_WINDOW_SECONDS) unless told for how long;
    the others until their list is done. An interrupt ends it early and keeps what was received.

    Example: transit-etl collect passages --for 10m
    """
    from transit_etl.collect import collect as run

    with show.collecting() as on_progress:
        report = run(load_settings(), dataset, seconds=seconds, on_progress=on_progress)
    show.report(report, as_json=as_json)
    if report.is_stopped:
        raise typer.Exit(EXIT_STOPPED)
    if report.is_failure:
        raise typer.Exit(EXIT_FAILED)


@app.command()
def stage(as_json: Json = False) -> None:
    """Read every finished raw window that is not in the lake yet: normalise, validate, store.

    Fails if a batch was rejected or a raw file could not be read; everything else is staged all the same.

    Example: transit-etl stage
    """
    from transit_etl.stage import stage as run

    with show.staging() as on_progress:
        report = run(load_settings(), on_progress=on_progress)
    show.report(report, as_json=as_json)
    if not report.is_clean:
        raise typer.Exit(EXIT_FAILED)


@app.command()
def reprocess(first: Annotated[date, FROM], last: Annotated[date, TO], as_json: Json = False) -> None:
    """Stage days of receipt again from the raw answers, which are never touched, and rebuild what they tell.

    Example: transit-etl reprocess --from 2026-03-02 --to 2026-03-03
    """
    from transit_etl.stage import restage
    from transit_etl.warehouse import build as rebuild

    settings = load_settings()
    with show.staging() as on_progress:
        report = restage(settings, first, last, on_progress=on_progress)
    show.report(report, as_json=as_json)
    if not report.is_clean:
        raise typer.Exit(EXIT_FAILED)
    with show.building() as on_build_progress:
        rebuild(settings, on_progress=on_build_progress)


@app.command()
def build(
    first: Annotated[date | None, FROM] = None,
    last: Annotated[date | None, TO] = None,
    ruleset: Annotated[int | None, typer.Option(help="Build beside the first, under this ruleset.")] = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(
            "--as-of", metavar="INSTANT", parser=moment, help="Build beside it what was known then."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Build and check the warehouse: what is new, or the service dates given.

    Under another ruleset, or as of a moment, it builds core and marts once more, into schemas of their own
    (marts_ruleset_2, marts_as_of_20260303t080000z), from nothing; publish shows them beside the first.

    Example: transit-etl build --from 2026-03-02 --to 2026-03-03
    """
    from transit_etl.warehouse import Variant, build_variant
    from transit_etl.warehouse import build as run

    variant = Variant(ruleset, as_of)
    with show.building() as on_progress:
        if variant.suffix:
            report = build_variant(
                load_settings(), variant, first_date=first, last_date=last, on_progress=on_progress
            )
        else:
            report = run(load_settings(), first_date=first, last_date=last, on_progress=on_progress)
    show.report(report, as_json=as_json)


@app.command()
def publish(as_json: Json = False) -> None:
    """Give analysts the last build that passed its checks, in one atomic step.

    Example: transit-etl publish
    """
    from transit_etl.warehouse import publish as run

    path = run(load_settings())
    typer.echo(json.dumps({"published": str(path)}) if as_json else path)


@app.command()
def compact(
    closed: Annotated[date, typer.Argument(metavar="DATE", parser=day, help="A UTC day that is over.")],
    as_json: Json = False,
) -> None:
    """Merge the windows of a closed day into one file per dataset, without changing a row.

    Example: transit-etl compact 2026-03-02
    """
    from transit_etl.stage import compact as run

    with show.busy("compacting"):
        merged = run(load_settings(), closed)
    typer.echo(json.dumps({"files_merged": merged}) if as_json else f"{merged} files merged")


@app.command()
def sql(
    statement: Annotated[str, typer.Argument(help="A query, a file of one (x.sql), or - to read it.")],
    as_json: Json = False,
) -> None:
    """Ask the published warehouse a question; nothing can be changed from here.

    Example: transit-etl sql "select line_code, count(*) n from core.stop_visits group by 1 order by n desc"
    """
    from transit_etl.warehouse import query

    show.table(query(load_settings(), query_text(statement)), as_json=as_json)


@app.command()
def status(as_json: Json = False) -> None:
    """Say how the allowance was used, what was seen, which stops were not, and how old the warehouse is.

    It reads the ledger of the last hour as it is being written, so it is about this moment.

    Example: transit-etl status
    """
    from transit_etl.status import read_status, show_status

    found = read_status(load_settings())
    if as_json:
        show.report(found, as_json=True)
    else:
        show_status(found, show.out)


def main() -> None:
    """Run the command line; an error written for the user is one clear line and a non-zero exit."""
    try:
        app()
    except (TransitError, OSError) as error:
        show.error(error)
        sys.exit(EXIT_FAILED)
