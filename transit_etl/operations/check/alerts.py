"""Tells people of each problem once, and once when it is over: by mail, webhook, or what Apprise reaches."""

import hashlib
import logging
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter

from transit_base.files import locked
from transit_etl.kept_facts import keep, recall
from transit_etl.operations.check.problem import UPSTREAM, Problem
from transit_etl.operations.status import span
from transit_etl.paths import alerts_file
from transit_etl.settings import FolderSettings, Settings

# Problems with which the upstream gives no usable answer.
_NO_ANSWER = {"token", "address", "allowance", "proxy", "certificate", "network", "server", "environment"}
_QUIET = logging.getLogger("apprise")  # its messages hold addresses, and with them passwords


@dataclass(slots=True)
class _Told:
    """A problem that some addresses were told of; an address is known by its hash.

    `since` is when it began; unknown of what was told by an earlier version.
    """

    text: str
    addresses: set[str] = field(default_factory=set)
    since: datetime | None = None


_STATE = TypeAdapter(dict[str, _Told])


def send_alerts(settings: Settings, problems: list[Problem], *, are_all: bool = True) -> list[Problem]:
    """Tell every address of `alert_urls` what is new and what is over; return what is wrong with the alerts.

    Nothing is told twice: what an address was told is kept in the data folder. A message that cannot be sent
    is tried again with the next check. Unless the problems `are_all`, none of the others counts as over.
    """
    addresses = _addresses(settings)
    if not addresses:
        return []
    _QUIET.setLevel(logging.CRITICAL)
    path = alerts_file(settings.data_dir)
    now = settings.clock.now()
    lasting = {problem.name for problem in problems}
    failed: set[str] = set()
    with locked(path.with_suffix(".lock")):
        told = recall(path, _STATE) or {}
        lasting |= set() if are_all else told.keys()
        for known in told.values():
            known.addresses &= set(addresses)  # one that was taken out of the settings is told nothing more
        for problem in problems:
            told.setdefault(problem.name, _Told(problem.text, since=problem.since or now))
        for key, address in addresses.items():
            for name, known in told.items():
                is_over = name not in lasting
                if key not in failed and (key in known.addresses) == is_over:
                    title = f"{name} {_end(name, known, lasting, now)}" if is_over else name
                    if _send(settings, address, title, known.text, is_over=is_over):
                        known.addresses ^= {key}
                        _remember(path, told)
                    else:
                        failed.add(key)
        _remember(path, {name: each for name, each in told.items() if name in lasting or each.addresses})
    if not failed:
        return []
    n_all = len(addresses)
    return [Problem("alerts", f"{len(failed)} of {n_all} addresses of TRANSIT_ALERT_URLS take no message")]


def _remember(path: Path, told: dict[str, _Told]) -> None:
    """Keep who was told, also on a full disk: what is kept is small, and mostly fits into its old place.

    Where nothing can be kept, people are told again by the next check: better than never.
    """
    try:
        keep(path, _STATE, told)
    except OSError:
        with suppress(OSError), path.open("r+b") as file:
            file.write(_STATE.dump_json(told))
            file.truncate()


def _addresses(settings: Settings) -> dict[str, str]:
    """Return the addresses by hash, in their order."""
    urls = settings.alert_urls.get_secret_value().split() if settings.alert_urls else []
    return {hashlib.sha256(url.encode()).hexdigest()[:12]: url for url in urls}


def _end(name: str, known: _Told, lasting: set[str], now: datetime) -> str:
    """Say that a problem is over, and after how long."""
    how = "answers again" if name == UPSTREAM and not lasting & _NO_ANSWER else "is over"
    return how if known.since is None else f"{how} after {span(now - known.since)}"


def _send(settings: FolderSettings, address: str, title: str, text: str, *, is_over: bool) -> bool:
    import apprise  # noqa: PLC0415 - it takes a third of a second, and there is seldom something to tell

    target = apprise.Apprise()
    if not target.add(address):
        return False
    where = f"transit-etl {settings.operator} on {socket.gethostname()}"
    kind = apprise.NotifyType.SUCCESS if is_over else apprise.NotifyType.FAILURE
    body = f"It was: {text}" if is_over else text
    return bool(
        target.notify(
            body=body, title=f"{where}: {title}", notify_type=kind, body_format=apprise.NotifyFormat.TEXT
        )
    )
