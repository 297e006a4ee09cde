"""The command that rehearses days in virtual time, and what it prints of them."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from transit_etl.cli import world
from transit_etl.cli.options import EXIT_FAILED, EXIT_STOPPED, Json, instant, names_among
from transit_etl.cli.output import fields_of, print_error, print_fields, print_json
from transit_etl.cli.progress import rehearsing
from transit_etl.cli.world import Actuals, Faults, Gtfs, Ids, Revisions, Seed, Size, TripIds
from transit_etl.endpoints import REHEARSED
from transit_etl.settings import BadSettingError, CollectSettings, FolderSettings, PolicyName, load_settings

if TYPE_CHECKING:
    from pathlib import Path

    import httpx2

    from transit_emulator.world import World
    from transit_etl.rehearsal import RehearsalReport


def rehearse(
    *,
    start: Annotated[
        str, typer.Option(metavar="INSTANT", help="An instant, or a date: the start of its service day.")
    ],
    hours: Annotated[float, typer.Option(help="Hours to rehearse, from the start.", min=0.01)] = 24,
    only: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Of {','.join(REHEARSED)}: those to rehearse.")
    ] = ",".join(REHEARSED),
    rate: Annotated[int | None, typer.Option(help="Requests per minute.", min=1, max=6000)] = None,
    policy: Annotated[PolicyName | None, typer.Option(help="How the next stop to poll is chosen.")] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="A server that accepts X-Emulated-Now.")
    ] = None,
    size: Annotated[Size | None, typer.Option(help="In this process, on a built-in network.")] = None,
    gtfs: Gtfs = None,
    actuals: Actuals = None,
    seed: Seed = 1,
    ids: TripIds = Ids.STABLE,
    revisions: Revisions = False,
    faults: Faults = None,
    as_json: Json = False,
) -> None:
    """Run the real collector, request budget and staging over hours or days of emulated time, in minutes.

    Asks an emulator over HTTP (TRANSIT_BASE_URL or --base-url), or in this process with --size, --gtfs or
    --actuals. The lake is the same as that of a collector; build it next. After an interruption the same
    command continues. Without passages (--only) months take minutes. Fails if the upstream refused a request
    (429) and no injected fault was the reason.

    Example: transit-etl rehearse --start 2026-03-02 --hours 24 --size small
    """
    from transit_etl.rehearsal import rehearse as run

    given = {"rate_per_minute": rate, "policy": policy, "base_url": base_url}
    settings = load_settings(**{name: value for name, value in given.items() if value is not None})
    transport = None
    if size or gtfs or actuals:
        if base_url:
            raise typer.BadParameter("--base-url names a server; --size, --gtfs and --actuals need none")
        emulated = world.build(size or Size.SMALL, gtfs, actuals, seed, ids, has_revisions=revisions)
        transport = _in_process(emulated, settings, faults)
    elif faults or seed != 1 or ids is not Ids.STABLE or revisions:
        raise typer.BadParameter("--seed, --ids, --revisions and --faults need --size, --gtfs or --actuals")
    with rehearsing() as bar:
        try:
            report = run(
                settings,
                start_instant(start, settings),
                hours,
                transport=transport,
                only=names_among(REHEARSED, only),
                in_two_processes=True,
                on_progress=bar.update,
            )
        except KeyboardInterrupt:
            where = f" at {_text(bar.now)} (virtual time)" if bar.now else ""
            print_error(f"interrupted{where}; the same command continues from there", is_failure=False)
            raise typer.Exit(EXIT_STOPPED) from None
    _print(report, as_json=as_json)
    if report.is_failure:
        raise typer.Exit(EXIT_FAILED)


def start_instant(text: str, settings: FolderSettings) -> datetime:
    """Read a date as the start of that service day, a local time, or an instant with its offset."""
    start = instant(text)
    if not isinstance(start, datetime):
        start = datetime.combine(start, settings.service_day_cutoff)
    return start if start.tzinfo else start.replace(tzinfo=settings.zone)


def _in_process(
    emulated: "World", settings: CollectSettings, faults: "Path | None"
) -> "httpx2.AsyncBaseTransport":
    """Return a transport to an emulator in this process, whose limit is the rate of the settings."""
    import httpx2

    from transit_emulator.app import DEFAULT_TOKEN, create_app

    zone = emulated.network.zone.key
    if zone != settings.timezone:
        raise BadSettingError(f"the network is in the time zone {zone}: set TRANSIT_TIMEZONE={zone}")
    token = settings.token.get_secret_value() if settings.token else DEFAULT_TOKEN
    app = create_app(
        emulated,
        tokens=[token],
        segment=settings.operator_segment,
        limit_without_token=settings.rate_per_minute,
        limit_with_token=settings.rate_per_minute,
        faults=world.faults(faults),
    )
    return httpx2.ASGITransport(app)


def _print(report: "RehearsalReport", *, as_json: bool) -> None:
    """Print what was rehearsed, how fast, and where the time was spent; reasons to fail go to stderr."""
    if as_json:
        extra = {"times_real_time": report.times_real_time, "is_failure": report.is_failure}
        print_json({**fields_of(report), **extra})
    elif report.virtual_seconds:
        print_fields(_labelled(report))
    else:
        print_fields({"rehearsed": f"until {_text(report.end)}: nothing was left to rehearse"})
    for sentence in [*_refusals(report), *report.errors]:
        print_error(sentence)


def _labelled(report: "RehearsalReport") -> dict[str, str]:
    total = sum(report.outcomes.values())
    outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in report.outcomes.items())
    spent = sorted(report.seconds_spent.items(), key=lambda part: -part[1])
    parts = (f"{name} {seconds / max(1e-9, report.real_seconds):.0%}" for name, seconds in spent)
    period = f"{_text(report.start)} to {_text(report.end)}"
    return {
        "rehearsed": f"{period}: {_duration(report.virtual_seconds)}",
        "took": f"{_duration(report.real_seconds)}: {report.times_real_time:,.0f} times real time",
        "requests": f"{total:,}: {outcomes}",
        "allowance": f"{report.allowance_share:.1%} used",
        "refused": f"{report.n_refused} requests (429); those by injected faults are not counted",
        "time spent": ", ".join(parts),
        "rejected": "\n".join(report.rejected),
    }


def _refusals(report: "RehearsalReport") -> Iterator[str]:
    if report.n_refused:
        requests = "1 request" if report.n_refused == 1 else f"{report.n_refused} requests"
        yield f"failed: the upstream refused {requests} (429), and no injected fault was the reason"


def _duration(seconds: float) -> str:
    """Write a duration as `24 s` or `4 h 0 min 30 s`."""
    minutes, seconds = divmod(round(seconds), 60)
    if not minutes:
        return f"{seconds} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min {seconds} s" if hours else f"{minutes} min {seconds} s"


def _text(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC"
