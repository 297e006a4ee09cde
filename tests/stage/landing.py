"""Lands raw windows in a data folder line by line, and looks at what became of them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from transit_etl.collect.raw.rawfile import write_finished
from transit_etl.paths import raw_file
from transit_etl.settings import Settings
from transit_etl.stage.raw import arrow

AT = datetime(2026, 11, 20, 8, tzinfo=UTC)
DAY = AT.date()
OPERATOR = "x"


def utc_text(instant: datetime) -> str:
    """Write an instant as raw files hold it."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@dataclass
class Folder:
    """A data folder under test: put raw windows in, look at what the lake and the quarantine hold."""

    settings: Settings

    def land(
        self,
        endpoint: str,
        answers: Sequence[tuple[str, object]],
        *,
        at: datetime = AT,
        worker: str = "a",
        operator: str = OPERATOR,
        **fields: object,
    ) -> str:
        """Land a window of (key, body) answers, bodies as JSON values or exact text; return its name."""
        window = f"{at:%Y%m%dT%H%M%SZ}-{endpoint}-{worker}"
        lines = []
        for number, (key, body) in enumerate(answers, start=1):
            text = body if isinstance(body, str) or body is None else json.dumps(body, separators=(",", ":"))
            line = {
                "request_id": f"{window}/{number}", "window": window, "operator": operator,
                "endpoint": endpoint, "key": key, "api_version": 1, "planned_at": utc_text(at),
                "sent_at": utc_text(at), "received_at": utc_text(at), "outcome": "ok", "http_status": 200,
                "elapsed_ms": 12.5, "attempts": 1, "error": None,
                "n_bytes": None if text is None else len(text), "body": text, "body_base64": None,
            }  # fmt: skip
            lines.append(json.dumps(line | fields).encode() + b"\n")
        path = raw_file(self.settings.data_dir, operator, endpoint, at.date(), window)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_finished(path, lines)
        return window

    def raw_path(self, endpoint: str, window: str, day: date = DAY) -> Path:
        """Say where a window's raw file is."""
        return raw_file(self.settings.data_dir, OPERATOR, endpoint, day, window)

    def rows(self, dataset: str, order: str = "all") -> list[dict[str, Any]]:
        """Read a dataset of the lake."""
        return self._read("lake", dataset, order).to_pylist()

    def quarantine(self, dataset: str) -> list[dict[str, Any]]:
        """Read what left a dataset, by request and rule."""
        folder = self.settings.data_dir / "quarantine" / f"operator={OPERATOR}" / f"dataset={dataset}"
        found = (
            self._read("quarantine", dataset, "request_id, rule, row").to_pylist()
            if any(folder.rglob("*.parquet"))
            else []
        )
        return [row | {"row": json.loads(row["row"])} for row in found]

    def files(self) -> dict[str, bytes]:
        """Return every file of the lake and the quarantine with its bytes."""
        root = self.settings.data_dir
        return {
            path.relative_to(root).as_posix(): path.read_bytes()
            for top in ("lake", "quarantine")
            for path in sorted((root / top).rglob("*"))
            if path.is_file()
        }

    def _read(self, top: str, dataset: str, order: str) -> pa.Table:
        glob = self.settings.data_dir / top / "operator=*" / f"dataset={dataset}" / "date=*" / "*.parquet"
        query = f"from read_parquet('{glob}', hive_partitioning = false) order by {order}"
        with duckdb.connect() as connection:
            return arrow(connection, query)


def passage(**changes: object) -> dict[str, Any]:
    """Make a passage that keeps every rule at 08:00 UTC: five minutes ahead, local time 09:05."""
    plain = {
        "linea": "018", "destinazione": "PRA&apos;  PALMARO", "orario": "09:05:00", "attesa": "5'",
        "teorico": False, "id_corsa": "77", "pieno": False,
    }  # fmt: skip
    return plain | changes


def answer(*passages: object, **changes: object) -> dict[str, Any]:
    """Make a passage answer of stop 0001 at 08:00 UTC."""
    plain = {"codice_fermata": "0001", "timestamp": "2026-11-20T08:00:00.000Z", "passaggi": list(passages)}
    return plain | changes


def line(code: str, number: str = "18", **changes: object) -> dict[str, Any]:
    """Make an entry of the lines list."""
    plain = {
        "codice": code, "numero": number, "capolinea_andata": "A", "capolinea_ritorno": "B",
        "attiva": True, "note": "",
    }  # fmt: skip
    return plain | changes
