"""Writes small hand-made lakes: what a story says was polled and listed, as the lake's Parquet."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from tests import scalar_times
from transit_etl import paths, service_day
from transit_etl.lake_schemas import DATASETS

ROME = ZoneInfo("Europe/Rome")
CUTOFF = time(4)
TUESDAY = date(2026, 11, 10)
Row = dict[str, object]


@dataclass(frozen=True)
class Listed:
    """One passage as a stop lists it; `at` is local clock time of the story's day (past 24 h too)."""

    trip: str | None
    at: str
    line: str = "1"
    destination: str = "HARBOUR"
    is_theoretical: bool = False
    is_wrapped: bool = False
    is_full: bool = False
    extra: str | None = None


@dataclass(frozen=True)
class Event:
    """One entry of the service status; `since` is local clock time of the story's day."""

    event: str
    lines: tuple[str, ...]
    since: str
    message: str = "A diversion."
    category: str = "SG"


class Line(NamedTuple):
    """One entry of the lines list."""

    code: str
    number: str
    terminus_outbound: str
    terminus_inbound: str


class NewsItem(NamedTuple):
    """One entry of the news list; `published_at` is an instant (UTC, no zone mark)."""

    news_id: str
    title: str
    published_at: datetime | None = None


class Lake:
    """Collects the rows of a story and writes them as windows of one operator."""

    def __init__(self, data_dir: Path, operator: str = "testville", day: date = TUESDAY) -> None:
        self.data_dir, self.operator, self.day = data_dir, operator, day
        self._rows: dict[str, list[Row]] = {dataset: [] for dataset in DATASETS}
        self._n_requests = self._n_windows = 0
        self._write_schemas()

    def at(self, clock: str, day: date | None = None) -> datetime:
        """Return the instant (UTC, no zone mark) of local clock time on the story's day, or another."""
        seconds = service_day.parse_clock(clock)
        return (scalar_times.day_start(day or self.day, ROME) + timedelta(seconds=seconds)).replace(
            tzinfo=None
        )

    def request(
        self, endpoint: str, key: str, clock: str, *, outcome: str = "ok", n_rows: int | None = 0
    ) -> Row:
        """Add a ledger row; return the columns its answer's rows share."""
        self._n_requests += 1
        at = self.at(clock)
        answer: Row = {
            "operator": self.operator,
            "request_id": f"w/{self._n_requests:06d}",
            "window": "w",
            "received_at": None if outcome == "not_sent" else at,
        }
        self._rows["requests"].append(
            {
                **answer,
                **self._service_day(at),
                "endpoint": endpoint,
                "key": key,
                "api_version": 1,
                "planned_at": at,
                "sent_at": None if outcome == "not_sent" else at,
                "outcome": outcome,
                "is_good": outcome == "ok",
                "n_rows": n_rows if outcome == "ok" else None,
            }
        )
        return answer

    def poll(self, stop: str, clock: str, *listed: Listed, outcome: str = "ok", n_lost: int = 0) -> None:
        """Add an answer of a stop; `n_lost` of its rows went to quarantine."""
        answer = self.request("passages", stop, clock, outcome=outcome, n_rows=len(listed) + n_lost)
        at = self.at(clock)
        for number, one in enumerate(listed, start=1):
            predicted_at = self.at(one.at)
            self._rows["passages"].append(
                {
                    **answer,
                    **self._service_day(predicted_at),
                    "stop_code": stop,
                    "answered_at": at,
                    "observed_at": at,
                    "row_number": number,
                    "line_label": one.line,
                    "line_label_raw": one.line,
                    "is_slash_variant": one.line.endswith("/"),
                    "destination": one.destination,
                    "predicted_at": predicted_at,
                    "is_theoretical": one.is_theoretical,
                    "is_full": one.is_full,
                    "is_wrapped": one.is_wrapped,
                    "trip_id": one.trip,
                    "extra": one.extra,
                }
            )

    def lines(self, clock: str, *lines: Line) -> None:
        """Add an answer to the lines list."""
        answer = self.request("lines", "", clock, n_rows=len(lines))
        for number, line in enumerate(lines, start=1):
            self._rows["lines"].append(
                {
                    **answer,
                    "row_number": number,
                    "line_code": line.code,
                    "line_number": line.number,
                    "terminus_outbound": line.terminus_outbound,
                    "terminus_inbound": line.terminus_inbound,
                    "is_active": True,
                    "note": "",
                }
            )

    def stops(self, line: str, clock: str, **directions: Iterable[str]) -> None:
        """Add an answer to a line's stops: the stop codes of each direction, in order."""
        answer = self.request("stops", line, clock, n_rows=1)
        for direction, stops in directions.items():
            for position, stop in enumerate(stops, start=1):
                self._rows["line_stops"].append(
                    {
                        **answer,
                        "line_code": line,
                        "direction": direction,
                        "direction_key": direction,
                        "position": position,
                        "stop_sequence": 10 * position,
                        "stop_code": stop,
                    }
                )

    def timetable(
        self,
        line: str,
        clock: str,
        *departures: str,
        headsign: str = "HARBOUR",
        of: date | None = None,
        n_lost: int = 0,
    ) -> None:
        """Add an answer to a line's timetable of the day, or another: outbound departures, local clock.

        `n_lost` of its rows went to quarantine.
        """
        day = of or self.day
        key, n_rows = f"{line}/{day.isoformat()}", len(departures) + n_lost
        answer = self.request("timetables", key, clock, n_rows=n_rows)
        for number, departure in enumerate(departures, start=1):
            at = self.at(departure, day)
            self._rows["timetables"].append(
                {
                    **answer,
                    **self._service_day(at),
                    "line_code": line,
                    "service_date": day,
                    "service_code": "S1",
                    "is_slash_variant": False,
                    "headsign": headsign,
                    "direction": "outbound",
                    "departure_number": number,
                    "departure_text": departure,
                    "departure_at": at,
                }
            )

    def status(
        self, clock: str, *events: Event, outcome: str = "ok", category: str = "", n_rows: int | None = -1
    ) -> None:
        """Add an answer to the service status, of one category if given; n_rows if not theirs."""
        n_listed = len(events) if n_rows == -1 else n_rows
        answer = self.request("status", category, clock, outcome=outcome, n_rows=n_listed)
        for number, event in enumerate(events, start=1):
            self._rows["status"].append(
                {
                    **answer,
                    **self._service_day(self.at(clock)),
                    "category_asked": category or None,
                    "row_number": number,
                    "event": event.event,
                    "category": event.category,
                    "lines": list(event.lines),
                    "lines_kind": "array",
                    "message": event.message,
                    "started_at": self.at(event.since),
                }
            )

    def news(self, clock: str, *items: NewsItem, outcome: str = "ok", n_lost: int = 0) -> None:
        """Add an answer to the news list; `n_lost` of its rows went to quarantine."""
        answer = self.request("news", "", clock, outcome=outcome, n_rows=len(items) + n_lost)
        for number, item in enumerate(items, start=1):
            self._rows["news"].append({**answer, "row_number": number, **item._asdict()})

    def news_text(self, clock: str, news_id: str, content: str | None) -> None:
        """Add an answer to the full text of a news item."""
        answer = self.request("news_details", news_id, clock, n_rows=1)
        self._rows["news_details"].append({**answer, "news_id": news_id, "content": content})

    def validation(self, clock: str, dataset: str, expectation: str, *, is_success: bool) -> None:
        """Add the result of an expectation on a window of a dataset."""
        self._rows["validation_results"].append(
            {
                "operator": self.operator,
                "window": "w",
                "suite": dataset,
                "last_received_at": self.at(clock),
                "expectation": expectation,
                "rule": expectation,
                "scope": "row",
                "is_success": is_success,
                "n_rows": 1,
                "n_unexpected": 0 if is_success else 1,
            }
        )

    def write(self) -> list[Path]:
        """Write what was added since the last time, one file per dataset and UTC day of receipt."""
        self._n_windows += 1
        written = []
        for dataset, rows in self._rows.items():
            days: dict[date, list[Row]] = {}
            for row in rows:
                days.setdefault(_received_on(row), []).append(row)
            written += [self._write(dataset, day, some) for day, some in sorted(days.items())]
            rows.clear()
        return written

    def _write(self, dataset: str, day: date, rows: list[Row], name: str = "") -> Path:
        window = name or f"w{self._n_windows:03d}"
        path = paths.lake_file(self.data_dir, self.operator, dataset, day, window)
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, schema=DATASETS[dataset]), path)
        return path

    def _write_schemas(self) -> None:
        for dataset in DATASETS:
            self._write(dataset, date(1970, 1, 1), [], "schema")

    def _service_day(self, at: datetime) -> Row:
        instant = at.replace(tzinfo=UTC)
        day = service_day.service_date(instant, ROME, CUTOFF)
        seconds = round(scalar_times.service_seconds(instant, day, ROME))
        return {"service_date": day, "service_seconds": seconds, "service_hour": seconds // 3600}


def _received_on(row: Row) -> date:
    at = row.get("received_at") or row.get("planned_at") or row.get("last_received_at")
    assert isinstance(at, datetime)
    return at.date()


def write_rows(query: str, target: Path) -> None:
    """Write the rows of a query into a lake file, with the columns of the dataset that its path names."""
    schema = DATASETS[paths.partition_of(target)["dataset"]]
    target.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        rows = connection.sql(query).to_arrow_table()
    pq.write_table(rows.select(schema.names).cast(schema), target)
