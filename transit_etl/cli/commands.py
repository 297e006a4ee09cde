"""The commands, in the order of the way from an answer of the upstream to a figure in the warehouse."""

import sys
import time
from datetime import date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from transit_etl.cli import output
from transit_etl.cli.backup import backup, prune, restore
from transit_etl.cli.config import config
from transit_etl.cli.emulator import emulator_app
from transit_etl.cli.export import export
from transit_etl.cli.folder import folder
from transit_etl.cli.options import (
    COLLECTION,
    EXIT_FAILED,
    EXIT_STOPPED,
    FROM,
    MARKUP,
    TO,
    Json,
    day,
    duration,
    moment,
)
from transit_etl.cli.progress import building, collecting, spinner, staging
from transit_etl.cli.rehearse import rehearse
from transit_etl.cli.run import run_round
from transit_etl.cli.sql import describe, sql, tables
from transit_etl.errors import TransitError
from transit_etl.files import in_words
from transit_etl.paths import operators_on
from transit_etl.settings import load_settings

WATCH_SECONDS = 5.0

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


app.command("run")(run_round)
app.command()(config)
app.command()(folder)


@app.command()
def collect(
    dataset: Annotated[str, COLLECTION],
    seconds: Annotated[
        float | None, typer.Option("--for", metavar="DURATION", parser=duration, help="90s, 10m or 2h.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Request a dataset within the allowance, and keep every answer in data/raw.

    Passages and status are polled for one window (TRANSIT_WINDOW_SECONDS) or the duration given; the others
    until their list is done. An interrupt ends the collection early and keeps what was received. Fails if no
    answer is usable.

    Example: transit-etl collect passages --for 10m
    """
    from transit_etl.collect import collect as run
    from transit_etl.collect.known_network import NothingKnownError
    from transit_etl.stage.repair import repairing

    with collecting() as on_progress:
        report = repairing(run, NothingKnownError)(
            load_settings(), dataset, seconds=seconds, on_progress=on_progress
        )
    output.print_report(report, as_json=as_json)
    if report.is_stopped:
        raise typer.Exit(EXIT_STOPPED)
    if report.is_failure:
        raise TransitError(report.failure_text)


@app.command()
def stage(as_json: Json = False) -> None:
    """Normalise, validate and store every finished raw window that is not in the lake yet.

    An answer that cannot be staged is set aside, and `status` says so. Fails if a batch was rejected or a raw
    file could not be read; the other windows are staged all the same.

    Example: transit-etl stage
    """
    from transit_etl.stage import stage as run

    with staging() as on_progress:
        report = run(load_settings(), on_progress=on_progress)
    output.print_report(report, as_json=as_json)
    if not report.is_clean:
        raise typer.Exit(EXIT_FAILED)


@app.command()
def reprocess(first: Annotated[date, FROM], last: Annotated[date, TO], as_json: Json = False) -> None:
    """Stage days of receipt (UTC) again from the raw answers, and rebuild the service dates they touch.

    Analysts see the result after `transit-etl publish`. What was set aside is tried again. Fails if a batch
    was rejected or a raw file could not be read; the rest is staged and rebuilt all the same.

    Example: transit-etl reprocess --from 2026-03-02 --to 2026-03-03
    """
    from transit_etl.stage import restage
    from transit_etl.warehouse import build as rebuild

    if last < first:
        raise typer.BadParameter(f"--from {first} is after --to {last}")
    settings = load_settings()
    with staging() as on_progress:
        report = restage(settings, first, last, on_progress=on_progress)
    if not report.windows:
        raise TransitError(f"there is no raw file of {first} to {last} in {settings.data_dir.absolute()}")
    if not as_json:
        output.print_report(report, as_json=False)
    with building() as on_build_progress:
        built = rebuild(settings, on_progress=on_build_progress)
    if as_json:
        output.print_json({**output.fields_of(report), "build": built})
    else:
        output.print_report(built, as_json=False)
    if not report.is_clean:
        raise typer.Exit(EXIT_FAILED)


@app.command()
def build(
    first: Annotated[date | None, FROM] = None,
    last: Annotated[date | None, TO] = None,
    ruleset: Annotated[int | None, typer.Option(help="Build a variant under this ruleset.")] = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(
            "--as-of", metavar="INSTANT", parser=moment, help="Build a variant of what was known at it."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Build and check the warehouse: the service dates that changed, or those given.

    A variant has another ruleset, or only the answers received until an instant. It is built whole, into
    schemas of its own next to the others (marts_ruleset_2, marts_as_of_20260303t080000z), and published with
    them.

    Example: transit-etl build --from 2026-03-02 --to 2026-03-03
    """
    from transit_etl.warehouse import Variant, build_variant
    from transit_etl.warehouse import build as run

    if (first is None) != (last is None):
        raise typer.BadParameter("--from and --to go together: give both, or neither")
    variant = Variant(ruleset, as_of)
    with building() as on_progress:
        if variant.suffix:
            report = build_variant(
                load_settings(), variant, first_date=first, last_date=last, on_progress=on_progress
            )
        else:
            report = run(load_settings(), first_date=first, last_date=last, on_progress=on_progress)
    output.print_report(report, as_json=as_json)


@app.command()
def publish(as_json: Json = False) -> None:
    """Publish the last build to analysts, in one atomic step, if it passed its checks.

    Example: transit-etl publish
    """
    from transit_etl.warehouse import publish as run

    path = run(load_settings())
    if as_json:
        output.print_json({"published": path})
    else:
        output.print_text(path)


@app.command()
def compact(
    closed: Annotated[date, typer.Argument(metavar="DATE", parser=day, help="A UTC day that is over.")],
    as_json: Json = False,
) -> None:
    """Merge the windows of a day into one file per dataset, without changing a row.

    Example: transit-etl compact 2026-03-02
    """
    from transit_etl.stage import compact as run

    with spinner("compacting"):
        settings = load_settings()
        merged = run(settings, closed)
    if not operators_on(settings.data_dir, closed):
        raise TransitError(f"the lake has no file of {closed}")
    if as_json:
        output.print_json({"files_merged": merged})
    else:
        output.print_text(f"{merged} files merged")


@app.command()
def verify(
    *,
    repairs: Annotated[
        bool, typer.Option("--repair/--no-repair", help="Make damaged lake files again from raw.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Check that no file has changed by itself, and make damaged lake files again from raw.

    The first time a file is seen its checksum goes into the checksum list, data/checksums.jsonl; from then on
    the file must not change. Fails if a raw file, or the published warehouse, is damaged or missing;
    warns of a damaged export.

    Example: transit-etl verify
    """
    from transit_etl.operations import verify as run

    with spinner("verifying"):
        report = run(load_settings(), repairs=repairs)
    output.print_report(report, as_json=as_json)
    if report.is_failure:
        raise typer.Exit(EXIT_FAILED)


for command in (backup, restore, sql, tables, describe, export):
    app.command()(command)


@app.command()
def status(
    *,
    watches: Annotated[
        bool, typer.Option("--watch", help="Show it anew every few seconds, until an interrupt.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the state at this moment: requests of the last hour, coverage, windows, age of the warehouse.

    The requests are counted from the raw files while they are written.

    Example: transit-etl status
    """
    from transit_etl.operations import read_status, show_status

    settings = load_settings()
    while True:
        found = read_status(settings)
        if watches and output.out.is_terminal:
            output.out.clear()
        if as_json:
            output.print_json(found)
        else:
            show_status(found, output.out)
        if not watches:
            return
        time.sleep(WATCH_SECONDS)


@app.command()
def check(
    *,
    alerts: Annotated[
        bool, typer.Option("--alert", help="Tell TRANSIT_ALERT_URLS what is new and what is over.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Look for everything that is wrong: upstream, allowance, clock, disk, data, published file.

    Prints one line per problem, folded on a terminal, and fails if there is any. One request is sent, within
    the allowance, unless the upstream answered a moment ago. The TRANSIT_CHECK_ settings say what is
    tolerated.

    Example: transit-etl check
    """
    from transit_etl.operations import examine_and_record

    problems = examine_and_record(load_settings(), sends_alerts=alerts).problems
    if as_json:
        output.print_json({"is_healthy": not problems, "problems": problems})
    elif output.out.is_terminal:
        output.print_labelled((problem.name, problem.text) for problem in problems)
    else:
        for problem in problems:
            output.print_text(f"{problem.name}: {problem.text}")
    if problems:
        raise typer.Exit(EXIT_FAILED)
    if not as_json:
        output.print_text("nothing is wrong")


@app.command()
def metrics(
    file: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write this file instead, in one step."),
    ] = None,
) -> None:
    """Print what `status` and `check` find as metrics, in the text format of Prometheus.

    With TRANSIT_METRICS_FILE, `transit-etl check` writes them whenever it runs, and so does its DAG.

    Example: transit-etl metrics --output /var/lib/prometheus/node-exporter/transit.prom
    """
    from transit_etl.operations import examine, metrics_text, write_metrics

    settings = load_settings()
    found = examine(settings)
    if file is None:
        output.print_text(metrics_text(settings, found).rstrip())
    else:
        write_metrics(settings, found, file)


app.command()(prune)
app.command()(rehearse)
app.add_typer(emulator_app, name="emulator")


def main() -> None:
    """Run the command line; an error written for the user is one clear line and a non-zero exit."""
    try:
        app()
    except TransitError as error:
        output.print_error(error)
        sys.exit(EXIT_FAILED)
    except OSError as error:
        output.print_error(in_words(error))
        sys.exit(EXIT_FAILED)
