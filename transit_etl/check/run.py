"""Runs every check of an installation, from its settings to its published file."""

from transit_etl.check import data, machine, upstream
from transit_etl.check.problem import Problem
from transit_etl.settings import Settings
from transit_etl.status import read_status


def check(settings: Settings) -> list[Problem]:
    """Return everything that is wrong, in the order of the way from the upstream to the published file.

    One request is sent, within the allowance, unless the upstream gave a usable answer a moment ago.
    """
    status = read_status(settings)
    return [
        *machine.problems(settings),
        *upstream.problems(settings, status),
        *data.problems(settings, status),
    ]
