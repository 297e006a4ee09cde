"""The commands that serve the emulated upstream, and write its list of stops and its ground truth."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from transit_etl.cli import world
from transit_etl.cli.options import FROM, MARKUP, TO, names_among
from transit_etl.cli.output import print_text
from transit_etl.cli.progress import spinner
from transit_etl.cli.world import Actuals, Faults, Gtfs, Ids, Revisions, Seed, Size, TripIds

emulator_app = typer.Typer(invoke_without_command=True, rich_markup_mode=MARKUP)


@emulator_app.command("serve")  # what the group does without a command, for who expects a verb
@emulator_app.callback()
def emulator(
    context: typer.Context,
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8400,
    size: Annotated[Size, typer.Option(help="A built-in network.")] = Size.SMALL,
    gtfs: Gtfs = None,
    actuals: Actuals = None,
    seed: Seed = 1,
    token: Annotated[
        list[str] | None, typer.Option(help="A valid token; may be repeated. demo-token unless given.")
    ] = None,
    segment: Annotated[str, typer.Option(help="The operator's name in version 0 paths.")] = "amt",
    log: Annotated[Path | None, typer.Option(help="A file that gets one JSON line per answer.")] = None,
    ids: TripIds = Ids.STABLE,
    revisions: Revisions = False,
    faults: Faults = None,
) -> None:
    """Serve the emulated upstream, versions 1 and 0, until interrupted.

    Example: transit-etl emulator --port 8400 --gtfs feed.zip
    """
    if context.invoked_subcommand:
        return
    served = world.build(size, gtfs, actuals, seed, ids, has_revisions=revisions)
    from transit_emulator.app import DEFAULT_TOKEN, create_app
    from transit_emulator.server import serve

    app = create_app(
        served,
        tokens=token or [DEFAULT_TOKEN],
        segment=segment,
        log=log,
        faults=world.faults(faults),
    )
    network = served.network
    text = (
        f"serving {network.name}, {len(network.lines)} lines, {len(network.stops)} stops, until interrupted: "
        f"TRANSIT_BASE_URL=http://{host}:{port}/api/v1/"
    )
    serve(app, host=host, port=port, on_listening=lambda: print_text(text))


@emulator_app.command("stops")
def emulator_stops(
    *,
    out: Annotated[Path, typer.Option(dir_okay=False, help="The CSV file.")],
    size: Annotated[Size, typer.Option(help="A built-in network.")] = Size.SMALL,
    gtfs: Gtfs = None,
    actuals: Actuals = None,
) -> None:
    """Write names and places of the stops, which the interface does not tell: a file for TRANSIT_STOPS_FILE.

    Example: transit-etl emulator stops --out data/stops.csv
    """
    emulated = world.build(size, gtfs, actuals, 1, Ids.STABLE, has_revisions=False)
    from transit_emulator.networks.stops_file import write_stops

    print_text(write_stops(emulated.network, out))


@emulator_app.command("truth")
def emulator_truth(
    *,
    first: Annotated[date, FROM],
    last: Annotated[date, TO],
    out: Annotated[Path, typer.Option(file_okay=False, help="The folder of the Parquet files.")],
    size: Annotated[Size, typer.Option(help="A built-in network.")] = Size.SMALL,
    gtfs: Gtfs = None,
    actuals: Actuals = None,
    seed: Seed = 1,
    ids: TripIds = Ids.STABLE,
    revisions: Revisions = False,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Of passages,timetables,events,news,plant,network: those to write."
        ),
    ] = None,
    counterfactual: Annotated[
        bool, typer.Option("--counterfactual", help="Add when buses would have passed without any event.")
    ] = False,
) -> None:
    """Write what really happened on some service dates: passages, events, news and what was published when.

    Example: transit-etl emulator truth --from 2026-03-02 --to 2026-03-03 --out /tmp/truth
    """
    if last < first:
        raise typer.BadParameter(f"the first date {first} is after the last date {last}")
    with spinner("writing the ground truth"):
        emulated = world.build(size, gtfs, actuals, seed, ids, has_revisions=revisions)
        from transit_emulator.truth import SUBJECTS, write_truth

        subjects = names_among(SUBJECTS, only) if only else SUBJECTS
        files = write_truth(emulated, first, last, out, only=subjects, has_counterfactual=counterfactual)
    for file in files:
        print_text(file)
