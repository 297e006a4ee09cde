"""The commands that need an emulated upstream: serve it, write its truth, rehearse against it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transit_etl.cli import output as show
from transit_etl.cli.options import EXIT_FAILED, EXIT_STOPPED, FROM, TO, Json, instant
from transit_etl.errors import TransitError
from transit_etl.settings import BadSettingError, PolicyName, Settings, load_settings

if TYPE_CHECKING:
    import httpx

    from transit_emulator.faults.definitions import Fault
    from transit_emulator.world import World

emulator_app = typer.Typer(invoke_without_command=True)


class MissingExtraError(TransitError):
    """A package that only the emulator needs is not installed; the message says what to install."""


class EmulatorInputError(TransitError):
    """The emulator cannot use a file or an option that it was given; the message says why."""


class Size(StrEnum):
    """The built-in networks."""

    SMALL = "small"
    CITY = "city"


class Ids(StrEnum):
    """What the trip ids of the emulator identify."""

    STABLE = "stable"
    VEHICLE = "vehicle"
    REUSED = "reused"


Gtfs = Annotated[
    Path | None, typer.Option(exists=True, dir_okay=False, help="Serve the network of a GTFS zip.")
]
Seed = Annotated[int, typer.Option(help="Delays, failures and news are functions of the seed.")]
TripIds = Annotated[Ids, typer.Option(help="What trip ids identify: trips, vehicles, or shared numbers.")]
Revisions = Annotated[
    bool,
    typer.Option("--revisions", help="Revise timetables, and notes and stops of lines, from time to time."),
]


@emulator_app.callback()
def emulator(
    context: typer.Context,
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8400,
    size: Annotated[Size, typer.Option(help="A built-in network.")] = Size.SMALL,
    gtfs: Gtfs = None,
    seed: Seed = 1,
    token: Annotated[
        list[str] | None, typer.Option(help="A valid token, may be repeated; demo-token unless given.")
    ] = None,
    segment: Annotated[str, typer.Option(help="The operator's name in version 0 paths.")] = "amt",
    log: Annotated[Path | None, typer.Option(help="A file that gets one JSON line per answer.")] = None,
    ids: TripIds = Ids.STABLE,
    revisions: Revisions = False,
    faults: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="A TOML or JSON file of faults to inject."),
    ] = None,
) -> None:
    """Serve the emulated upstream, versions 1 and 0, until interrupted.

    Example: transit-etl emulator --port 8400 --gtfs feed.zip
    """
    if context.invoked_subcommand:
        return
    world = _world(size, gtfs, seed, ids, has_revisions=revisions)
    from transit_emulator.app import DEFAULT_TOKEN, create_app
    from transit_emulator.server import serve

    served = create_app(
        world,
        tokens=token or [DEFAULT_TOKEN],
        segment=segment,
        log=log,
        faults=_faults(faults),
    )
    serve(served, host=host, port=port)


@emulator_app.command("truth")
def emulator_truth(
    *,
    first: Annotated[date, FROM],
    last: Annotated[date, TO],
    out: Annotated[Path, typer.Option(file_okay=False, help="Folder the Parquet files go to.")],
    size: Annotated[Size, typer.Option(help="A built-in network.")] = Size.SMALL,
    gtfs: Gtfs = None,
    seed: Seed = 1,
    ids: TripIds = Ids.STABLE,
    revisions: Revisions = False,
) -> None:
    """Write what really happened on some service dates: every scheduled and actual passage.

    Example: transit-etl emulator truth --from 2026-03-02 --to 2026-03-03 --out /tmp/truth
    """
    with show.busy("writing the truth"):
        world = _world(size, gtfs, seed, ids, has_revisions=revisions)
        from transit_emulator.truth import write_truth

        files = write_truth(world, first, last, out)
    for file in files:
        typer.echo(file)


def _world(size: Size, gtfs: Path | None, seed: int, ids: Ids, *, has_revisions: bool) -> "World":
    """Return the world of these options; raise MissingExtraError where the extra is not installed."""
    try:
        import_module("transit_emulator.server")  # imports every package of the extra
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"the emulator needs the package {error.name}: run pip install 'transit-etl[emulator]'"
        ) from error
    from transit_emulator.days.trip_ids import IdMode
    from transit_emulator.world import build_world

    with _emulator_messages():
        return build_world(size, gtfs, seed, IdMode(ids), has_revisions=has_revisions)


def _faults(path: Path | None) -> "Sequence[Fault]":
    from transit_emulator.faults.definitions import read_faults

    with _emulator_messages():
        return read_faults(path) if path else ()


@contextmanager
def _emulator_messages() -> Iterator[None]:
    """Turn an error of the emulator, which shares no class with the pipeline, into one for the user."""
    from transit_emulator.errors import EmulatorError

    try:
        yield
    except EmulatorError as error:
        raise EmulatorInputError(str(error)) from error


def rehearse(
    *,
    start: Annotated[
        str, typer.Option(metavar="INSTANT", help="An instant, or a date: the start of its service day.")
    ],
    hours: Annotated[float, typer.Option(help="Hours to rehearse, from the start.", min=0.01)] = 24,
    rate: Annotated[int | None, typer.Option(help="Requests a minute.", min=1, max=6000)] = None,
    policy: Annotated[
        PolicyName | None, typer.Option(help="How the next stop to ask about is chosen.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="A server that accepts X-Emulated-Now.")
    ] = None,
    size: Annotated[Size | None, typer.Option(help="Rehearse in process, on a built-in network.")] = None,
    gtfs: Gtfs = None,
    seed: Seed = 1,
    ids: TripIds = Ids.STABLE,
    revisions: Revisions = False,
    faults: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="In process: a file of faults to inject.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run the real collector, request budget and staging over hours or days of emulated time, in minutes.

    Asks an emulator over HTTP (TRANSIT_BASE_URL or --base-url), or in process with --size or --gtfs. The
    lake is the same as that of a collector; build it next. After an interruption the same command continues.
    Fails if the upstream refused a request (429) and no injected fault was the reason.

    Example: transit-etl rehearse --start 2026-03-02 --hours 24 --size small
    """
    from transit_etl.rehearsal import rehearse as run

    given = {"rate_per_minute": rate, "policy": policy, "base_url": base_url}
    settings = load_settings(**{name: value for name, value in given.items() if value is not None})
    transport = None
    if size or gtfs:
        if base_url:
            raise typer.BadParameter("--base-url names a server; --size and --gtfs rehearse without one")
        world = _world(size or Size.SMALL, gtfs, seed, ids, has_revisions=revisions)
        transport = _in_process(world, settings, faults)
    elif faults or seed != 1 or ids is not Ids.STABLE or revisions:
        raise typer.BadParameter("--seed, --ids, --revisions and --faults need --size or --gtfs")
    with show.rehearsing() as progress:
        try:
            report = run(
                settings,
                start_instant(start, settings),
                hours,
                transport=transport,
                in_two_processes=True,
                on_progress=progress.update,
            )
        except KeyboardInterrupt:
            show.stopped_rehearsal(progress.now)
            raise typer.Exit(EXIT_STOPPED) from None
    show.rehearsal(report, as_json=as_json)
    if report.is_failure:
        raise typer.Exit(EXIT_FAILED)


def _in_process(world: "World", settings: Settings, faults: Path | None) -> "httpx.AsyncBaseTransport":
    """Return a transport to an emulator in this process, whose limit is the rate of the settings."""
    import httpx

    from transit_emulator.app import DEFAULT_TOKEN, create_app

    zone = world.network.zone.key
    if zone != settings.timezone:
        raise BadSettingError(f"the network is in the time zone {zone}: set TRANSIT_TIMEZONE={zone}")
    token = settings.token.get_secret_value() if settings.token else DEFAULT_TOKEN
    app = create_app(
        world,
        tokens=[token],
        segment=settings.operator_segment,
        limit_without_token=settings.rate_per_minute,
        limit_with_token=settings.rate_per_minute,
        faults=_faults(faults),
    )
    return httpx.ASGITransport(app)


def start_instant(text: str, settings: Settings) -> datetime:
    """Return the instant of a text: an instant, a local time, or a date, whose service day starts then."""
    start = instant(text)
    if not isinstance(start, datetime):
        start = datetime.combine(start, settings.service_day_cutoff)
    return start if start.tzinfo else start.replace(tzinfo=settings.zone)
