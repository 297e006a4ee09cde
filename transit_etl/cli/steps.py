"""The commands for each step of the way from an answer of the upstream to the published warehouse."""

from datetime import date, datetime
from typing import Annotated

import typer

from transit_base.errors import TransitError
from transit_etl.cli import output
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
)
from transit_etl.cli.progress import building, collecting, spinner, staging
from transit_etl.paths import operators_on
from transit_etl.settings import Engine, load_settings


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
        raise TransitError(
            f"there is no raw file of {first} to {last} in {settings.data_dir.absolute()}; "
            "if a backup has them, `transit-etl restore` brings them back"
        )
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


def build(  # noqa: PLR0917 - Typer passes options by name
    first: Annotated[date | None, FROM] = None,
    last: Annotated[date | None, TO] = None,
    ruleset: Annotated[int | None, typer.Option(help="Build a variant under this ruleset.")] = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(
            "--as-of", metavar="INSTANT", parser=moment, help="Build a variant of what was known at it."
        ),
    ] = None,
    target: Annotated[
        Engine | None, typer.Option(help="What builds: duckdb or spark. [default: TRANSIT_BUILD_TARGET]")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            help="How many processes build dates at the same time. [default: TRANSIT_BUILD_WORKERS]",
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
    asked = {"build_target": target, "build_workers": workers}
    settings = load_settings(**{name: value for name, value in asked.items() if value is not None})
    with building() as on_progress:
        if variant.suffix:
            report = build_variant(
                settings, variant, first_date=first, last_date=last, on_progress=on_progress
            )
        else:
            report = run(settings, first_date=first, last_date=last, on_progress=on_progress)
    output.print_report(report, as_json=as_json)


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
