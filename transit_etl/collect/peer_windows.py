"""Reads what other workers land while they land it, so that each learns from the answers of all."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import zstandard

from transit_etl.api.exchange import Answer
from transit_etl.clock import Clock
from transit_etl.collect.isolation import learn
from transit_etl.collect.raw.windows import recent_windows
from transit_etl.collect.replay import answers_in
from transit_etl.collect.sources import Source
from transit_etl.paths import finished_raw_file

READ_EVERY_SECONDS = 2.0
_CHUNK_BYTES = 65_536
_log = logging.getLogger(__name__)


class _Tail:
    """The whole lines that were added to a raw file, open or finished, since it was last read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_over = False
        self._file = path.open("rb")
        self._decoder = zstandard.ZstdDecompressor().decompressobj()
        self._rest = b""

    def lines(self) -> Iterator[bytes]:
        while not self.is_over and (chunk := self._file.read(_CHUNK_BYTES)):
            *lines, self._rest = (self._rest + self._decoder.decompress(chunk)).split(b"\n")
            yield from lines
            self.is_over = self._decoder.eof

    def close(self) -> None:
        self.is_over = True
        self._file.close()


class PeerWindows:
    """The passage windows that other workers of one data folder write, from now on.

    Windows that are finished already are left out: `replay` reads them. One that is being written is read
    from its beginning. Use it with `with`.
    """

    def __init__(self, data_dir: Path, operator: str, worker: str, clock: Clock) -> None:
        self._data_dir = data_dir
        self._operator = operator
        self._own = f"-passages-{worker}"
        self._clock = clock
        self._finished = {path.name for path in self._recent() if finished_raw_file(path) == path}
        self._tails: dict[str, _Tail] = {}
        self._open_new()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for tail in self._tails.values():
            tail.close()

    def new_answers(self) -> Iterator[Answer]:
        """Yield the answers landed by others since the last call, oldest first.

        A damaged file is read up to the damage.
        """
        self._open_new()
        answers = [answer for tail in self._tails.values() for answer in self._read(tail)]
        for name in [name for name, tail in self._tails.items() if tail.is_over]:
            self._tails.pop(name).close()
            self._finished.add(name)
        yield from sorted(answers, key=lambda answer: answer.received_at)

    def _open_new(self) -> None:
        for path in self._recent():
            name = finished_raw_file(path).name
            if name in self._finished or name in self._tails or self._own in name:
                continue
            try:
                self._tails[name] = _Tail(path)
            except OSError:  # renamed or gone since it was listed: the next look finds it
                continue

    def _recent(self) -> list[Path]:
        return recent_windows(self._data_dir, self._operator, self._clock.now(), "passages")

    def _read(self, tail: _Tail) -> list[Answer]:
        answers: list[Answer] = []
        try:
            for answer in answers_in(tail.lines()):
                answers.append(answer)  # noqa: PERF402 - those before the damage are kept
        except (OSError, zstandard.ZstdError, ValueError) as error:
            _log.warning("stopped reading %s, which is damaged: %s", tail.path.name, error)
            tail.is_over = True
        return answers


@asynccontextmanager
async def learning_from(peers: PeerWindows, source: Source, clock: Clock) -> AsyncIterator[None]:
    """Let a source that workers share learn from the answers of the others until the context ends."""
    if not source.is_shared:
        yield
        return

    async def keep_learning() -> None:
        while True:
            learn(source, peers.new_answers())
            await clock.sleep(READ_EVERY_SECONDS)

    task = asyncio.create_task(keep_learning())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
