"""The commands that copy data to another disk or an object store, and back, and remove what is old."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from transit_etl.cli import output
from transit_etl.cli.options import EXIT_FAILED, Json, day
from transit_etl.cli.progress import spinner
from transit_etl.settings import load_settings, load_with_sources

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
    from transit_etl.operations import back_up

    with spinner("backing up"):
        report = back_up(load_with_sources().settings, target, verifies=verifies)
    output.print_report(report, as_json=as_json)
    if report.damaged:
        raise typer.Exit(EXIT_FAILED)


def restore(source: Annotated[Path, _FOLDER], as_json: Json = False) -> None:
    """Put back what a backup has and the data folder has not, or has damaged.

    Each file is compared with its checksum. The settings are written if the project has none. What to do
    then is printed: `transit-etl stage`, `transit-etl build` and `transit-etl publish` make the rest again.

    Example: transit-etl restore /mnt/backup
    """
    from transit_etl.operations import restore as run

    loaded = load_with_sources()
    with spinner("restoring"):
        report = run(loaded.settings, source, loaded.project)
    output.print_report(report, as_json=as_json)
    if report.damaged:
        raise typer.Exit(EXIT_FAILED)


def sync(as_json: Json = False) -> None:
    """Share raw answers and the lake with other hosts through the object store of TRANSIT_LAKE_URL, now.

    Takes in what others published, sends finished raw files, then publishes the days of the lake that have
    changed here. Collecting, staging and building do the same before and after their work. Fails if the store
    does not answer, or has another file under the name of one of ours; what was not sent waits.

    Example: transit-etl sync
    """
    from transit_etl.store.sync import sync as run

    with spinner("comparing with the object store"):
        report = run(load_settings())
    output.print_report(report, as_json=as_json)
    if report.errors:
        raise typer.Exit(EXIT_FAILED)


def prune(
    before: Annotated[
        date | None,
        typer.Option(
            "--raw-before", metavar="DATE", parser=day, help="Also raw answers of the UTC days before."
        ),
    ] = None,
    saved_in: Annotated[
        Path | None, typer.Option("--backup", metavar="FOLDER", help="The backup that holds these.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Remove old quarantine and logs, and what killed processes left.

    TRANSIT_QUARANTINE_KEEP_DAYS and TRANSIT_LOGS_KEEP_DAYS say what is old; what was left, after a day. Raw
    answers are removed only with --raw-before or TRANSIT_RAW_KEEP_DAYS, and only if the backup has them
    whole; the days can then not be reprocessed until `transit-etl restore`.

    Example: transit-etl prune
    """
    from transit_etl.operations import prune as run
    from transit_etl.operations import release_old_raw, release_raw

    if (before is None) != (saved_in is None):
        raise typer.BadParameter("--raw-before and --backup go together: give both, or neither")
    settings = load_settings()
    fields = output.fields_of(run(settings))
    errors = fields.pop("errors")
    with spinner("comparing with the backup"):
        if before is not None and saved_in is not None:
            fields["n_raw_files"], n_bytes = release_raw(settings, saved_in, before)
        else:
            fields["n_raw_files"], n_bytes = release_old_raw(settings)
    fields["n_bytes"] += n_bytes
    if as_json:
        output.print_json({**fields, "errors": errors})
    else:
        numbers = {name.removeprefix("n_").replace("_", " "): str(n) for name, n in fields.items()}
        output.print_fields({**numbers, "errors": "\n".join(errors)})
    if errors:
        raise typer.Exit(EXIT_FAILED)
