"""The command that does the whole round: collect everything, stage, build, publish, say what was found."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from transit_base.errors import TransitError
from transit_etl import project
from transit_etl.cli.findings import find, labelled
from transit_etl.cli.options import EXIT_FAILED, EXIT_STOPPED, Json, duration
from transit_etl.cli.output import print_error, print_fields, print_json, print_step
from transit_etl.cli.progress import building, collecting, staging
from transit_etl.settings import Settings, load_settings

if TYPE_CHECKING:
    from transit_etl.collect import CollectReport


@dataclass(slots=True)
class Round:
    """What a round did; `found` is what the warehouse knows of the service date that is running."""

    requests: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    is_stopped: bool = False
    is_failure: bool = False
    rows: dict[str, int] = field(default_factory=dict)
    found: dict[str, Any] = field(default_factory=dict)

    def add(self, report: "CollectReport") -> None:
        """Take what a collection did; say it."""
        self.requests[report.dataset] = report.outcome_text
        self.is_stopped = self.is_stopped or report.is_stopped
        print_step(report.dataset, report.outcome_text)
        if report.is_failure:
            self.warnings.append(report.failure_text)
            self.is_failure = True


def run_round(
    seconds: Annotated[
        float | None, typer.Option("--for", metavar="DURATION", parser=duration, help="90s, 10m or 2h.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Do the whole round once: collect everything, stage, build and publish, and say what was found.

    Asks for the lines and some of their stops; then polls passages and status for one window
    (TRANSIT_WINDOW_SECONDS) or the duration given. Beside that it collects the other stops, timetables and
    news, within half of the allowance: of a large network the next run goes on with them. An interrupt ends
    the collecting alone: what was received is staged, built and published. Fails if a dataset had no usable
    answer.

    Example: transit-etl run --for 10m
    """
    settings, done = load_settings(), Round()
    _collect_lines(settings, done)
    if not done.is_stopped:
        _collect_all(settings, done, seconds or settings.window_seconds)
    try:
        _stage(settings, done)
        _build(settings, done)
    except KeyboardInterrupt:
        print_error(
            "interrupted; nothing that was received is lost: `transit-etl stage`, `transit-etl build` and "
            "`transit-etl publish` go on from here",
            is_failure=False,
        )
        raise typer.Exit(EXIT_STOPPED) from None
    if as_json:
        print_json(asdict(done))
    else:
        print_fields(dict(_labelled(done)))
    for warning in done.warnings:
        print_error(warning)
    if done.is_stopped:
        raise typer.Exit(EXIT_STOPPED)
    if done.is_failure:
        raise typer.Exit(EXIT_FAILED)


def _collect_lines(settings: Settings, done: Round) -> None:
    """Collect the lines; without them nothing else can be asked for."""
    from transit_etl.collect import collect
    from transit_etl.collect.known_network import NothingKnownError
    from transit_etl.stage.repair import repairing

    done.add(repairing(collect, NothingKnownError)(settings, "lines"))
    _stop_if_failed(done)
    _stage(settings, done)


def _collect_all(settings: Settings, done: Round, seconds: float) -> None:
    """Poll, and collect stops, timetables and news meanwhile."""
    from transit_etl.collect import collect_round
    from transit_etl.collect.known_network import NothingKnownError
    from transit_etl.stage.repair import repairing

    with collecting() as on_progress:
        collect = repairing(collect_round, NothingKnownError)
        stage = partial(_stage, settings, done, is_shown=False)  # the progress of polling is being shown
        reports = collect(settings, seconds, stage, on_progress=on_progress)
    for report in reports:
        done.add(report)
    if "passages" not in done.requests:
        _stop_if_failed(done)


def _stop_if_failed(done: Round) -> None:
    if done.is_failure:
        raise TransitError(done.warnings[-1])


def _stage(settings: Settings, done: Round, *, is_shown: bool = True) -> None:
    from transit_etl.stage import stage

    with staging() if is_shown else nullcontext() as on_progress:
        report = stage(settings, on_progress=on_progress)
    for name, count in report.rows.items():
        done.rows[name] = done.rows.get(name, 0) + count
    done.warnings += [*report.rejected, *report.errors]
    done.is_failure = done.is_failure or not report.is_clean


def _build(settings: Settings, done: Round) -> None:
    from transit_etl.warehouse import build, publish

    with building() as on_progress:
        report = build(settings, on_progress=on_progress)
    print_step(
        "build", f"{report.n_models} models and {report.n_checks} checks of {report.n_dates} service dates"
    )
    print_step("publish", publish(settings))
    done.found = find(settings)


def _labelled(done: Round) -> Iterator[tuple[str, str]]:
    yield "staged", ", ".join(f"{count:,} {name}" for name, count in done.rows.items())
    yield from labelled(done.found)
    yield "next", next_steps(is_stopped=done.is_stopped)


def next_steps(*, is_stopped: bool) -> str:
    """Say how to go on; only a checkout has `make up`."""
    has_make = project.is_checkout(project.INSTALLED_IN)
    longer = (
        "`make up` collects without a pause" if has_make else "`transit-etl run --for 8h` polls for longer"
    )
    how_it_is = "" if is_stopped else "; `transit-etl status` and `check` say how it is"
    return f"`transit-etl run` goes on; {longer}{how_it_is}"
