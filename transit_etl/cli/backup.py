"""The commands that copy what cannot be made again to another disk, and back."""

from pathlib import Path
from typing import Annotated

import typer

from transit_etl.cli import output
from transit_etl.cli.options import EXIT_FAILED, Json
from transit_etl.cli.progress import spinner
from transit_etl.settings import load_with_sources

_FOLDER = typer.Argument(metavar="FOLDER", help="A folder of another disk, or of another machine, mounted.")


def backup(
    target: Annotated[Path, _FOLDER],
    *,
    verifies: Annotated[
        bool, typer.Option("--verify", help="Read all files of the backup and compare their checksums.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Copy new raw answers, the settings (without secrets) and some state to another disk.

    Everything else is made from these. Files are copied with their checksums, never a damaged one; nothing is
    deleted there. Collecting may go on meanwhile. Fails if a file is damaged, here or there.

    Example: transit-etl backup /mnt/backup
    """
    from transit_etl.backup import backup as run

    with spinner("backing up"):
        report = run(load_with_sources().settings, target, verifies=verifies)
    output.print_report(report, as_json=as_json)
    if report.damaged:
        raise typer.Exit(EXIT_FAILED)


def restore(source: Annotated[Path, _FOLDER], as_json: Json = False) -> None:
    """Put back what a backup has and the data folder has not, or has damaged.

    Each file is compared with its checksum. The settings are written if the project has none. What to do
    then is printed: `transit-etl stage`, `transit-etl build` and `transit-etl publish` make the rest again.

    Example: transit-etl restore /mnt/backup
    """
    from transit_etl.backup import restore as run

    loaded = load_with_sources()
    with spinner("restoring"):
        report = run(loaded.settings, source, loaded.project)
    output.print_report(report, as_json=as_json)
    if report.damaged:
        raise typer.Exit(EXIT_FAILED)
