"""The commands that say how an installation is, and what is wrong with it."""

import time
from pathlib import Path
from typing import Annotated

import typer

from transit_etl.cli import output
from transit_etl.cli.options import EXIT_FAILED, Json
from transit_etl.cli.progress import spinner
from transit_etl.settings import load_settings

WATCH_SECONDS = 5.0


def verify(
    *,
    repairs: Annotated[
        bool, typer.Option("--repair/--no-repair", help="Make damaged lake files again from raw.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Check that no file has changed by itself, and make damaged lake files again from raw.

    The first time a file is seen its checksum goes into the checksum list, data/checksums.jsonl; from then on
    the file must not change. What is published must be what was recorded when it was published. Fails if a
    raw file, or what is published, is damaged, missing or cannot be read, or if raw cannot replace a damaged
    lake file; warns of a damaged export.

    Example: transit-etl verify
    """
    from transit_etl.operations import verify as run

    with spinner("verifying"):
        report = run(load_settings(), repairs=repairs)
    output.print_report(report, as_json=as_json)
    if report.is_failure:
        raise typer.Exit(EXIT_FAILED)


def status(
    *,
    watches: Annotated[
        bool, typer.Option("--watch", help="Show it anew every few seconds, until an interrupt.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the state at this moment: requests of the last hour, coverage, windows, age of the warehouse.

    The requests are counted from the raw files while they are written. Where operators.toml names several
    operators, the state is that of TRANSIT_OPERATOR, with a line for each of the others.

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
            show_status(found, output.out, [read_status(each) for each in settings.others])
        if not watches:
            return
        time.sleep(WATCH_SECONDS)


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

    problems = examine_and_record(load_settings(), sends_alerts=alerts).all_problems
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
