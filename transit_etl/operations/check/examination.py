"""Runs every check of an installation, from its settings to its published file."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from transit_base.errors import first_line
from transit_base.files import in_words
from transit_base.listing import passing_over
from transit_etl.operations.check import data, failed_runs, machine, upstream
from transit_etl.operations.check.alerts import send_alerts
from transit_etl.operations.check.problem import Problem
from transit_etl.operations.status import Status, read_status
from transit_etl.operations.status.lake import LastDay, last_day
from transit_etl.settings import Settings


@dataclass(frozen=True, slots=True)
class Examination:
    """The state of an operator, its rows of the last day, and what is wrong with it or the installation.

    `others` are the other operators of the installation, each only with problems of its own. What the
    installation and an operator have in common is a problem of the first.
    """

    status: Status
    day: LastDay
    problems: list[Problem]
    others: tuple["Examination", ...] = ()

    @property
    def all_problems(self) -> list[Problem]:
        """Everything that is wrong; what is wrong with another operator begins with its name."""
        named = [each.named(problem) for each in self.others for problem in each.problems]
        return [*self.problems, *named]

    def named(self, problem: Problem) -> Problem:
        """Return a problem with the name of the operator in its name and text."""
        operator = self.status.operator
        return Problem(f"{problem.name}_{operator}", f"{operator}: {problem.text}")


def check(settings: Settings, *, sends_alerts: bool = False) -> list[Problem]:
    """Return everything that is wrong, in the order of the way from the upstream to the published file.

    One request is sent, within the allowance, unless the upstream gave a usable answer a moment ago. With
    `sends_alerts`, the addresses of `alert_urls` are told what is new and what is over.
    """
    return examine(settings, sends_alerts=sends_alerts).all_problems


def examine(settings: Settings, *, sends_alerts: bool = False, asks: bool = True) -> Examination:
    """Find what is wrong, as `check` does, and return also what it was found in.

    With `sends_alerts` people are told also of an error that lets nothing be found. Without `asks` no request
    is sent.
    """
    try:
        with passing_over():  # the status names it
            found = _examine(settings, asks=asks)
    except Exception as error:
        if sends_alerts:
            what = in_words(error) if isinstance(error, OSError) else first_line(error)
            blind = Problem("check", f"`transit-etl check` cannot see what is wrong: {what}")
            send_alerts(settings, [blind], are_all=False)
        raise
    alerts = _alerts(settings, found.all_problems) if sends_alerts else []
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
    known = {problem.text for problem in found}
    others = tuple(_of_other(each, known, asks=asks) for each in settings.others)
    return Examination(status, day, found, others)


def _of_other(settings: Settings, known: Collection[str], *, asks: bool) -> Examination:
    """Examine another operator of the installation; texts of problems that are known are left out."""
    status = read_status(settings)
    day = last_day(settings, status.now)
    found = [
        *machine.named_files(settings),
        *upstream.problems(settings, status, asks=asks),
        *data.problems(settings, status, day),
    ]
    return Examination(status, day, [problem for problem in found if problem.text not in known])
