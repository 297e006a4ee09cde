"""Runs every check of an installation, from its settings to its published file."""

from transit_etl.check import data, machine, upstream
from transit_etl.check.alerts import send_alerts
from transit_etl.check.problem import Problem
from transit_etl.settings import Settings
from transit_etl.status import read_status


def check(settings: Settings, *, sends_alerts: bool = False) -> list[Problem]:
    """Return everything that is wrong, in the order of the way from the upstream to the published file.

    One request is sent, within the allowance, unless the upstream gave a usable answer a moment ago. With
    `sends_alerts`, the addresses of `alert_urls` are told what is new and what is over.
    """
    status = read_status(settings)
    found = [
        *machine.problems(settings),
        *upstream.problems(settings, status),
        *data.problems(settings, status),
    ]
    return [*found, *send_alerts(settings, found)] if sends_alerts else found
