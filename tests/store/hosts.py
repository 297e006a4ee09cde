"""Hosts that share a store: each with a data folder, in which tiny windows are landed, staged, compacted."""

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from transit_base.files import clear_away
from transit_etl.collect.raw.rawfile import write_finished
from transit_etl.lake_reading import WINDOWS_KEY
from transit_etl.lake_schemas import DATASETS, QUARANTINE
from transit_etl.paths import (
    DAY_STEM,
    all_lake_files,
    lake_file,
    lake_files,
    quarantine_files,
    raw_file,
    raw_files,
    restaging_dir,
)
from transit_etl.settings import Settings
from transit_etl.stage.compaction import compact, compact_operator
from transit_etl.stage.lake import day_lock, waiting_windows, write_window
from transit_etl.stage.pieces import Pieces
from transit_etl.stage.raw import RawWindow, finished_windows
from transit_etl.stage.runner import _replace_day
from transit_etl.store.days import SyncReport
from transit_etl.store.sync import sync

OPERATOR = "x"
TODAY = date(2026, 11, 20)
AT = datetime.combine(TODAY, time(8), UTC)


@dataclass
class Host:
    """One of the machines that share a lake."""

    settings: Settings

    @property
    def root(self) -> Path:
        """The data folder."""
        return self.settings.data_dir

    def land(self, name: str, day: date = TODAY) -> str:
        """Finish a raw file; return the name of its window."""
        window = f"{day:%Y%m%d}T080000Z-passages-{name}"
        path = raw_file(self.root, OPERATOR, "passages", day, window)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_finished(path, [json.dumps({"window": window}).encode() + b"\n"])
        return window

    def stage(self) -> None:
        """Stage what waits, as the real stager writes it."""
        for window in waiting_windows(self.root):
            with day_lock(self.root, OPERATOR, window.day):
                _write(self.root, window, version=1)

    def compact(self, day: date = TODAY) -> None:
        """Merge the windows of a day."""
        compact(self.settings, day)

    def restage(self, version: int, day: date = TODAY) -> None:
        """Stage a day again under another reading, as `restage` does, from the raw files that are here."""
        windows = [each for each in finished_windows(self.root) if each.day == day]
        staged = {row["window"] for row in self.rows("requests")}
        if not windows or staged - {each.name for each in windows}:
            return
        with day_lock(self.root, OPERATOR, day):
            root = restaging_dir(self.root, OPERATOR, day)
            clear_away(root)
            for window in windows:
                _write(root, window, version)
            if lake_file(self.root, OPERATOR, "requests", day, DAY_STEM).exists():
                compact_operator(root, OPERATOR, day)
            _replace_day(root, self.root, OPERATOR, day)
            shutil.rmtree(root)

    def sync(self) -> SyncReport:
        """Compare with the store."""
        return sync(self.settings)

    def rows(self, dataset: str) -> list[dict[str, object]]:
        """Return the rows of a dataset of the lake."""
        return _rows(lake_files(self.root, dataset, OPERATOR))

    def counts(self, dataset: str = "requests") -> Counter[str]:
        """Count the rows of a dataset by window."""
        return Counter(str(row["window"]) for row in self.rows(dataset))

    def versions(self) -> dict[str, set[object]]:
        """Return under which readings the rows of each window were made; more than one would be a mixture."""
        found: dict[str, set[object]] = {}
        quarantined = _rows(quarantine_files(self.root, OPERATOR))
        for row in (*self.rows("requests"), *self.rows("passages")):
            found.setdefault(str(row["window"]), set()).add(str(row["request_id"]).rpartition("/")[2])
        for row in quarantined:
            found.setdefault(str(row["window"]), set()).add(str(row["request_id"]).rpartition("/")[2])
        return found

    def files(self) -> dict[str, bytes]:
        """Return every file of the lake and the quarantine with its bytes."""
        paths = (*all_lake_files(self.root, OPERATOR), *quarantine_files(self.root, OPERATOR))
        return {str(path.relative_to(self.root)): path.read_bytes() for path in paths}

    def times(self) -> dict[str, int]:
        """Return when each file of the lake was changed last."""
        return {
            str(path.relative_to(self.root)): path.stat().st_mtime_ns
            for path in all_lake_files(self.root, OPERATOR)
        }

    def raw(self) -> set[str]:
        """Return the names of the raw files."""
        return {path.name for path in raw_files(self.root)}

    def merged(self, day: date = TODAY) -> list[str]:
        """Return the windows that the compacted file of a day holds."""
        path = lake_file(self.root, OPERATOR, "requests", day, DAY_STEM)
        found: list[str] = json.loads((pq.read_schema(path).metadata or {})[WINDOWS_KEY])
        return found


def host(folder: Path, url: str | None, **more: object) -> Host:
    """Make a host with an empty data folder."""
    return Host(Settings.model_validate({"data_dir": folder, "operator": OPERATOR, "lake_url": url, **more}))


def _write(root: Path, window: RawWindow, version: int) -> None:
    """Write the tables of a window; which datasets it has follows from its name."""
    ids = [
        {"operator": OPERATOR, "window": window.name, "request_id": f"{window.name}/{n}/{version}"}
        for n in (1, 2)
    ]
    tables = {"requests": _table("requests", ids)}
    if window.name[-1] not in "05":
        tables["passages"] = _table("passages", ids[:version])
    bad = [{"window": window.name, "request_id": ids[0]["request_id"], "rule": "r", "row": "{}"}]
    quarantine = (
        {"passages": Pieces(pa.Table.from_pylist(bad, schema=QUARANTINE))} if window.name[-1] in "246" else {}
    )
    write_window(root, window, tables, quarantine)


def _table(dataset: str, rows: list[dict[str, str]]) -> Pieces:
    return Pieces(pa.Table.from_pylist(rows, schema=DATASETS[dataset]))


def _rows(paths: Iterable[Path]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for path in paths:
        rows += pq.read_table(path, partitioning=None, columns=["window", "request_id"]).to_pylist()
    return rows
