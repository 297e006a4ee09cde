"""Runs every check of an installation, from its settings to its published file."""

from dataclasses import dataclass, replace

from transit_etl.errors import first_line
from transit_etl.files import in_words
from transit_etl.operations.check import data, failed_runs, machine, upstream
from transit_etl.operations.check.alerts import send_alerts
from transit_etl.operations.check.problem import Problem
from transit_etl.operations.status import Status, read_status
from transit_etl.operations.status.lake import LastDay, last_day
from transit_etl.settings import Settings


@dataclass(frozen=True, slots=True)
class Examination:
    """The state of an installation, its rows of the last day, and everything that is wrong with it."""

    status: Status
    day: LastDay
    problems: list[Problem]


def check(settings: Settings, *, sends_alerts: bool = False) -> list[Problem]:
    """Return everything that is wrong, in the order of the way from the upstream to the published file.

    One request is sent, within the allowance, unless the upstream gave a usable answer a moment ago. With
    `sends_alerts`, the addresses of `alert_urls` are told what is new and what is over.
    """
    return examine(settings, sends_alerts=sends_alerts).problems


def examine(settings: Settings, *, sends_alerts: bool = False, asks: bool = True) -> Examination:
    """Find what is wrong, as `check` does, and return also what it was found in.

    With `sends_alerts` people are told also of an error that lets nothing be found. Without `asks` no request
    is sent.
    """
    try:
        found = _examine(settings, asks=asks)
    except Exception as error:
        if sends_alerts:
            what = in_words(error) if isinstance(error, OSError) else first_line(error)
            blind = Problem("check", f"`transit-etl check` cannot see what is wrong: {what}")
            send_alerts(settings, [blind], are_all=False)
        raise
    alerts = _alerts(settings, found.problems) if sends_alerts else []
    return replace(found, problems=[*found.problems, *alerts])


def _alerts(settings: Settings, found: list[Problem]) -> list[Problem]:
    """Tell people; return what is wrong with the alerts, also where nothing can be kept of them."""
    try:
        return send_alerts(settings, found)
    except OSError as error:
        return [Problem("alerts", f"nobody can be told: {in_words(error)}")]


def _examine(settings: Settings, *, asks: bool) -> Examination:
    status = read_status(settings)
    day = last_day(settings, status.now)
    found = [
        *machine.problems(settings, status),
        *upstream.problems(settings, status, asks=asks),
        *data.problems(settings, status, day),
        *failed_runs.problems(settings.data_dir, status.now),
    ]
    for operator in settings.operators:
        if operator != settings.operator:
            found += _of_other(settings.of(operator), found, asks=asks)
    return Examination(status, day, found)


def _of_other(settings: Settings, found: list[Problem], *, asks: bool) -> list[Problem]:
    """Return what is wrong with another operator of the installation, and was not found before."""
    status, known = read_status(settings), {problem.text for problem in found}
    of_other = [
        *machine.named_files(settings),
        *upstream.problems(settings, status, asks=asks),
        *data.problems(settings, status, last_day(settings, status.now)),
    ]
    return [
        replace(
            problem, name=f"{problem.name}_{settings.operator}", text=f"{settings.operator}: {problem.text}"
        )
        for problem in of_other
        if problem.text not in known
    ]
