"""Lands every planned request in raw files: its intent before sending, its row and exact body after that."""

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from transit_base.files import make_folder
from transit_etl.api.exchange import Answer, Outcome, Request
from transit_etl.clock import Clock
from transit_etl.collect.raw import ledger
from transit_etl.collect.raw.ledger import Planned
from transit_etl.collect.raw.rawfile import DataFolderError, RawFileTakenError, RawWriter
from transit_etl.paths import raw_file, window_name

SYNC_SECONDS = 1.0


def worker_name(machine: str = "") -> str:
    """Name this process among all that may write into the same data folder, or share its raw files.

    Containers repeat host names and process numbers: hosts that share an object store give their `machine`.
    """
    host = "".join(letter for letter in socket.gethostname().lower() if letter.isalnum())
    return "-".join(filter(None, [host[:12] or "host", machine, str(os.getpid())]))


@dataclass
class _OpenWindow:
    """A raw file that is being written, and the requests planned in it that have no row yet."""

    endpoint: str
    day: date
    name: str
    writer: RawWriter
    n_planned: int = 0
    outstanding: dict[str, Planned] = field(default_factory=dict)


class Landing:
    """The open windows of one collector: one per endpoint and UTC day of receipt.

    Call `plan` before sending, then exactly one of `land`, `skip` or `interrupt` for each request planned. A
    row has been written to the operating system when the call returns, and is on the disk a second later;
    `close` gives the files their final names. Any call raises DataFolderError when the folder cannot be
    written; the rows landed before stay valid, and the next recovery completes their window.
    """

    def __init__(self, data_dir: Path, operator: str, clock: Clock, worker: str) -> None:
        self.finished: list[Path] = []
        self._data_dir = data_dir
        self._operator = operator
        self._clock = clock
        self._worker = worker
        self._open: dict[str, _OpenWindow] = {}
        self._names: set[str] = set()
        self._closed = threading.Event()
        self._syncer = threading.Thread(target=self._sync_until_closed, name="landing-sync", daemon=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def plan(self, request: Request, planned_at: datetime | None = None) -> Planned:
        """Write down that a request is about to be sent, at `planned_at` or now, and give it its identity."""
        planned_at = planned_at or self._clock.now()
        with self._naming_the_folder():
            window = self._window(request.endpoint, _utc_day(planned_at))
            intent = ledger.planned(request, window.name, window.n_planned + 1, planned_at)
            window.writer.plan(ledger.intent_line(intent))
        window.n_planned += 1
        window.outstanding[intent.request_id] = intent
        return intent

    def land(self, intent: Planned, answer: Answer) -> None:
        """Write an answer into the window of its day of receipt; it may be planned in an earlier one."""
        with self._naming_the_folder():
            window = self._window(intent.endpoint, _utc_day(answer.received_at))
            window.writer.append(ledger.answered_row(self._operator, window.name, intent, answer))
            self._settle(intent)

    def skip(self, intent: Planned, reason: str, outcome: Outcome = Outcome.NOT_SENT) -> None:
        """Write that a planned request was not sent, and why."""
        planned_in = self._open[intent.window]
        with self._naming_the_folder():
            planned_in.writer.append(
                ledger.unsent_row(self._operator, planned_in.name, intent, reason, outcome)
            )
            self._settle(intent)

    def interrupt(self, intent: Planned) -> None:
        """Write that a request was sent and its answer not waited for."""
        planned_in = self._open[intent.window]
        with self._naming_the_folder():
            planned_in.writer.append(ledger.interrupted_row(self._operator, planned_in.name, intent))
            self._settle(intent)

    def sync(self) -> None:
        """Make everything landed so far durable."""
        for window in list(self._open.values()):
            window.writer.sync()

    def close(self) -> None:
        """Give every window its final name; requests without a row get an `interrupted` one."""
        self._closed.set()
        if self._syncer.is_alive():
            self._syncer.join()
        problems: list[DataFolderError] = []
        for window in list(self._open.values()):
            try:
                self._finalise(window)
            except DataFolderError as error:
                problems.append(error)
        if problems:
            raise problems[0]

    def _window(self, endpoint: str, day: date) -> _OpenWindow:
        for window in self._open.values():
            if (window.endpoint, window.day) == (endpoint, day):
                return window
        self._retire(endpoint)
        opened = self._open_window(endpoint, day)
        self._open[opened.name] = opened
        if not self._syncer.is_alive() and not self._closed.is_set():
            self._syncer.start()
        return opened

    def _open_window(self, endpoint: str, day: date) -> _OpenWindow:
        base = window_name(self._clock.now(), endpoint, self._worker)
        for number in count(1):
            name = base if number == 1 else f"{base}.{number}"
            if name in self._names:
                continue
            path = raw_file(self._data_dir, self._operator, endpoint, day, name)
            make_folder(path.parent)
            with contextlib.suppress(RawFileTakenError):
                opened = _OpenWindow(endpoint, day, name, RawWriter(path))
                self._names.add(name)
                return opened
        raise AssertionError("count never ends")

    def _retire(self, endpoint: str) -> None:
        """Finalise an endpoint's windows of other days in which every request has its row."""
        for window in list(self._open.values()):
            if window.endpoint == endpoint and not window.outstanding:
                self._finalise(window)

    def _settle(self, intent: Planned) -> None:
        """Note that a request has its row; a window of a past day is finalised with its last one."""
        planned_in = self._open[intent.window]
        del planned_in.outstanding[intent.request_id]
        newest = max(window.day for window in self._open.values() if window.endpoint == planned_in.endpoint)
        if not planned_in.outstanding and planned_in.day < newest:
            self._finalise(planned_in)

    def _finalise(self, window: _OpenWindow) -> None:
        with self._naming_the_folder():
            try:
                for intent in window.outstanding.values():
                    window.writer.append(ledger.interrupted_row(self._operator, window.name, intent))
            finally:
                window.outstanding.clear()
                self._open.pop(window.name, None)
                path = window.writer.finalise()
        if path is not None:
            self.finished.append(path)

    def _sync_until_closed(self) -> None:
        while not self._closed.wait(SYNC_SECONDS):
            self.sync()

    @contextlib.contextmanager
    def _naming_the_folder(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DataFolderError(self._data_dir, error) from error


def _utc_day(instant: datetime) -> date:
    return instant.astimezone(UTC).date()
