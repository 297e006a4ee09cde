"""The page of the state at this moment, read in the background so that it is answered at once."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from transit_base.errors import first_line
from transit_etl.operations import Examination, ago, examine, last_answer
from transit_etl.settings import FolderSettings, Settings
from transit_exports.rendering import render

FRESH_SECONDS = 10.0  # a state older than this is read again
FIRST_SECONDS = 0.1  # how long the first request waits for a state; no other waits
SOON_SECONDS = 1.0  # when a page is to be loaded again that has no state, or one of long ago
_MOST_LINES = 12
_GIGABYTE = 1e9


@dataclass(frozen=True, slots=True)
class _State:
    """What was read last: the state or why there is none, and when, on a clock that only advances."""

    read_at: float
    found: Examination | None
    error: str = ""


class LivePage:
    """The page, with the state that it was read from; one thread at a time reads it anew."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reader: threading.Thread | None = None
        self._state: _State | None = None

    def html(self, settings: FolderSettings) -> str:
        """Return the page with the last state that was read; an older one is read anew meanwhile.

        The request that begins to read the first state waits for it, at most `FIRST_SECONDS`; no other waits.
        """
        is_first = self._state is None
        begun = self._begin_reading(settings)
        if begun is not None and is_first:
            begun.join(FIRST_SECONDS)
        state = self._state
        if state is None:
            return _page(seconds=SOON_SECONDS)
        age = time.monotonic() - state.read_at
        # Nobody looked for a while: the state that is being read now is shown as soon as it is there.
        seconds = SOON_SECONDS if age > 2 * FRESH_SECONDS else FRESH_SECONDS
        if state.found is None:
            return _page(error=state.error, seconds=seconds)
        operators = [_values(each) for each in (state.found, *state.found.others)]
        return _page(operators=operators, age=f"{age:.0f} s", seconds=seconds)

    def _begin_reading(self, settings: FolderSettings) -> threading.Thread | None:
        """Return the thread that this request started; None if none was needed, or one runs."""
        with self._lock:
            is_fresh = self._state is not None and time.monotonic() - self._state.read_at < FRESH_SECONDS
            if is_fresh or (self._reader is not None and self._reader.is_alive()):
                return None
            self._reader = threading.Thread(target=self._read, args=[settings], daemon=True)
            self._reader.start()
            return self._reader

    def _read(self, settings: Settings) -> None:
        try:
            found = examine(settings, asks=False)
        except Exception as error:  # noqa: BLE001 - the page says it, and tries again
            self._state = _State(time.monotonic(), None, first_line(error))
        else:
            self._state = _State(time.monotonic(), found)


def _page(*, seconds: float = FRESH_SECONDS, **values: Any) -> str:  # noqa: ANN401 - what the template shows
    empty = {
        "error": "",
        "age": "",
        "operators": [],
    }
    common = {
        "title": "Live state",
        "publisher": "transit-etl",
        "period": "live state",
        "root": "",
        "pages": [],
        "seconds": f"{seconds:.0f}",
    }
    return render("live.html", empty | common | values, "transit_airflow")


def _values(found: Examination) -> dict[str, Any]:
    status = found.status
    return {
        "operator": status.operator,
        "address": status.base_url,
        "now": f"{status.now:%Y-%m-%d %H:%M:%S} UTC",
        "problems": found.problems,
        "notices": [*_notices(found)],
        "facts": [*_facts(found)],
        "kinds": [
            {
                "name": each.kind,
                "n_last_minute": each.n_last_minute,
                "n_sent": each.n_sent,
                "n_good": each.n_good,
                "share": f"{100 * each.share:.0f} %",
                "last_good": last_answer(each.last_good_at, status.now),
            }
            for each in status.usage
        ],
        "lines": [
            {
                "name": each.line_number or each.line_code,
                "n_stops": each.n_stops,
                "share": f"{100 * each.share:.0f} %",
                "unseen": each.unseen,
                "since": last_answer(each.unseen_since, status.now),
            }
            for each in status.lines[:_MOST_LINES]
            if each.share < 1
        ],
    }


def _notices(found: Examination) -> Iterator[str]:
    status = found.status
    if status.rehearsals:
        when = ", ".join(map(str, status.rehearsals))
        yield f"This folder holds answers of a rehearsal, not of real buses, on a virtual clock: {when}."
    if not any(each.n_last_minute for each in status.usage):
        answered = max((each.last_good_at for each in status.usage if each.last_good_at), default=None)
        since = "hour" if not any(each.n_sent for each in status.usage) else "minute"
        yield (
            f"Nothing was asked in the last {since}: nobody polls now. "
            f"Last good answer: {last_answer(answered, status.now)}."
        )


def _facts(found: Examination) -> Iterator[tuple[str, str]]:
    status = found.status
    n_last_minute = sum(each.n_last_minute for each in status.usage)
    yield "Requests of the last minute", f"{n_last_minute} of {status.rate_per_minute}"
    n_covered = sum(line.n_seen == line.n_stops for line in status.lines)
    yield "Lines with an answer of every stop in the last hour", f"{n_covered} of {len(status.lines)}"
    if status.unseen is not None:
        yield (
            "Stop longest without an answer",
            f"{status.unseen}, {last_answer(status.unseen_since, status.now)}",
        )
    yield "Windows being written", f"{status.n_open}"
    waiting = ", ".join(f"{n} of {name}" for name, n in status.waiting.items())
    yield "Windows waiting to be staged", waiting or "none"
    for dataset, n_rows in found.day.n_rows.items():
        set_aside = found.day.n_set_aside.get(dataset, 0)
        quarantined = f", {set_aside:,} in quarantine" if set_aside else ""
        yield f"Rows of {dataset} in the last day", f"{n_rows:,}{quarantined}"
    yield "Last build", _when(status.built_at, status.real_now)
    yield "Last publication", _when(status.published_at, status.real_now)
    if status.audit is not None:
        yield "Audit", str(status.audit)
    yield "Free on the disk", f"{status.free_bytes / _GIGABYTE:,.0f} GB"


def _when(at: datetime | None, now: datetime) -> str:
    return "never" if at is None else ago(at, now)
