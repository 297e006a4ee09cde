"""The command `export`: datasets that people take away."""

from datetime import date, datetime
from pathlib import Path
from typing import Annotated

import typer

from transit_etl.cli import output
from transit_etl.cli.options import EXIT_FAILED, FROM, TO, Json, moment
from transit_etl.cli.progress import exporting, spinner
from transit_etl.settings import load_settings

_HELP = """Of tables: parquet (the default), csv, jsonl, xlsx, geojson, geoparquet. Feeds with tables of
their own: tides, gtfs, gtfs-retrospective, gtfs-rt."""


def export(  # noqa: PLR0917 - Typer passes options by name
    tables: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Tables, with or without schema; none for a feed."),
    ] = None,
    first: Annotated[date | None, FROM] = None,
    last: Annotated[date | None, TO] = None,
    at: Annotated[
        datetime | None,
        typer.Option("--at", metavar="INSTANT", parser=moment, help="gtfs-rt: the alerts of an instant."),
    ] = None,
    as_format: Annotated[str | None, typer.Option("--format", "-f", metavar="FORMAT", help=_HELP)] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Write here instead of below data/exports."),
    ] = None,
    all_datasets: Annotated[
        bool, typer.Option("--all", help="Every table of core and marts, and every feed: what changed.")
    ] = False,
    allow_incomplete: Annotated[
        bool, typer.Option("--allow-incomplete", help="Export a period of which too little is known, marked.")
    ] = False,
    neutralise_formulas: Annotated[
        bool,
        typer.Option(
            "--neutralise-formulas",
            help="CSV: put ' before what a spreadsheet takes for a formula.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Export tables or a feed of the published warehouse, with a manifest and a page for who gets it.

    An export is a folder below data/exports, replaced in one step. Without dates it has all service dates
    that are over.

    Example: transit-etl export marts.punctuality --from 2026-03-02 --to 2026-03-31 --format csv
    """
    from transit_etl.clock import naive_utc
    from transit_etl.export_settings import export_settings
    from transit_exports import Request, all_requests, export_all
    from transit_exports import export as run

    settings = export_settings(load_settings())
    if all_datasets:
        if tables or first or last or at or folder:
            raise typer.BadParameter("--all takes every table and date: leave the others out")
        formats = [as_format] if as_format else []
        with exporting() as on_dataset:
            requests = all_requests(settings, formats, allows_incomplete=allow_incomplete)
            every = export_all(settings, requests, on_dataset=on_dataset)
        output.print_report(every, as_json=as_json)
        if not every.n_datasets:
            raise typer.Exit(EXIT_FAILED)
        return
    with spinner("exporting"):
        report = run(
            settings,
            Request(
                tuple(tables or ()),
                as_format or "parquet",
                first,
                last,
                at=naive_utc(at) if at else None,
                allows_incomplete=allow_incomplete,
                neutralises_formulas=neutralise_formulas,
                output=folder,
            ),
        )
    output.print_report(report, as_json=as_json)
