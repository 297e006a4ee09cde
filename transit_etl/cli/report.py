"""The command `report`: pages that people look at."""

from datetime import date
from typing import Annotated

import typer

from transit_etl.cli import output
from transit_etl.cli.options import FROM, TO, Json
from transit_etl.cli.progress import spinner
from transit_etl.settings import load_settings


def report(  # noqa: PLR0917 - Typer passes options by name
    first: Annotated[date | None, FROM] = None,
    last: Annotated[date | None, TO] = None,
    lines: Annotated[
        list[str] | None,
        typer.Option(
            "--line",
            metavar="LINE",
            help="Write the page of this line alone, by number or code; of several, also how they differ.",
        ),
    ] = None,
    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="PERIOD",
            help="Compare with this period too: 2026-02, 2026-W10, 2026-03-02 or 2026-03-02_2026-03-08.",
        ),
    ] = "",
    is_printed: Annotated[
        bool, typer.Option("--pdf", help="Write the overview as PDF too; needs Chromium.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write the report of a period as pages that open from disk: data/reports/performance/index.html.

    Without dates it writes those of the last date that is over, of its week and of its month. Files that did
    not change are left alone.

    Example: transit-etl report --from 2026-03-02 --to 2026-03-08
    """
    from transit_etl.export_settings import export_settings, report_folder
    from transit_etl.identity import part_of
    from transit_reports import ReportRequest, write_operators, write_reports

    settings = load_settings()
    folder = report_folder(settings)
    with spinner("writing pages"):
        asked = ReportRequest(
            first=first, last=last, lines=lines or (), against=against, is_printed=is_printed,
            languages=settings.report_languages.split(","),
        )  # fmt: skip
        written = write_reports(export_settings(settings), folder, asked)
        if part_of(settings):
            write_operators(folder.parent, asked.languages)
    if as_json:
        output.print_json(written)
        return
    for each in written:
        output.print_text(each.answer)
        output.print_step(
            "pages", f"{each.n_pages}, {each.n_changed} of {each.n_files} files changed: {each.page}"
        )
