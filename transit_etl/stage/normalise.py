"""Turns one finished raw window into Arrow tables under the lake's schemas, vectorised in DuckDB."""

import json
import logging
from dataclasses import replace
from datetime import UTC, datetime

import duckdb
import pyarrow as pa

from transit_etl.api.classification import NOT_JSON, judge_body
from transit_etl.api.exchange import Outcome
from transit_etl.endpoints import ENDPOINTS
from transit_etl.lake_schemas import DATASETS
from transit_etl.service_day import offsets
from transit_etl.settings import CollectSettings
from transit_etl.stage import raw
from transit_etl.stage.bodies import as_read
from transit_etl.stage.connection import connect, define_zone, sql
from transit_etl.stage.normalised import LeftOut, Normalised, Piece, SetAside
from transit_etl.stage.raw import NEAR, RawWindow
from transit_etl.stage.raw_lines import read_parts

_log = logging.getLogger(__name__)

# A legal passage takes seven commas, about 150 bytes and, while it is staged, about 1 KB of memory.
_COMMAS_PER_ROW, _BYTES_PER_ROW = 8, 200
_BYTES_PER_ROW_AT_ONCE = 30  # of parts of a large file: an answer of 8 MiB is one of its own by default
_MEMORY_KB_PER_ROW, _LEAST_MEMORY_MB = 8, 256
_LONGEST_REASON = 500
_MOST_ROWS = {row.dataset: row.most_rows for row in ENDPOINTS.values() if row.dataset and row.most_rows}


class TooManyRowsError(Exception):
    """More rows are listed than staging holds at once."""

    def __init__(self, n_rows: int, limit: int, what: str) -> None:
        super().__init__(f"{n_rows:,} rows are listed, more than {limit:,}, {what}")


class UnfitLinesError(Exception):
    """Some lines of a raw file are no rows of its window."""


class Normaliser:
    """Normalises windows one after another on its own DuckDB connection and threads."""

    def __init__(self, settings: CollectSettings, threads: int) -> None:
        self._settings = settings
        self._threads = threads
        self._max_rows = settings.stage_max_rows
        self._connection = self._open()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def normalise(self, window: RawWindow) -> Normalised:
        """Read a window; RawFileError names the file if it is damaged.

        A window that is small and sound is read at once. Any other is read in parts: a part that fails is
        halved until the answers and lines at fault are alone, and those are set aside.
        """
        size = raw.check_whole(window.path)
        endpoint = ENDPOINTS.get(window.endpoint)  # a folder may be of an endpoint that was removed
        normalised = Normalised(window, None if endpoint is None else endpoint.dataset)
        max_bytes, max_commas = _BYTES_PER_ROW * self._max_rows, _COMMAS_PER_ROW * self._max_rows
        if size.n_bytes <= max_bytes and size.n_commas <= max_commas:
            try:
                raw.load(self._connection, window.path, sql("raw"))
                self._check_lines(window)
                normalised.add(self._piece(normalised))
            except OSError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, only what causes it is set aside
                _log.info("reading %s in parts: %s", window.name, error)
                self._reopen()
            else:
                return normalised
        for part in read_parts(window, _BYTES_PER_ROW_AT_ONCE * self._max_rows, max_commas):
            normalised.lines_aside += [
                SetAside(None, junk.reason, json.dumps(junk.line)) for junk in part.junk
            ]
            self._add_part(normalised, part.rows)
        return normalised

    def _add_part(self, normalised: Normalised, lines: pa.Table) -> None:
        """Add some lines; if that fails, each half of them, down to a single line, which is set aside."""
        if lines.num_rows == 0:
            return
        try:
            piece = self._piece_of(normalised, lines)
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, only what causes it is set aside
            self._reopen()
            middle = lines.num_rows // 2
            if middle == 0:
                self._set_aside(normalised, lines, error)
            else:
                self._add_part(normalised, lines.slice(0, middle))
                self._add_part(normalised, lines.slice(middle))
        else:
            normalised.add(piece)

    def _set_aside(self, normalised: Normalised, line: pa.Table, error: Exception) -> None:
        """Set an answer aside and keep its row in the ledger; if that fails too, set the line aside."""
        index = line.schema.get_field_index("body")
        without_body = line.set_column(index, "body", pa.nulls(1, line.schema.field(index).type))
        row = without_body.to_pylist()[0]
        aside = SetAside(row["request_id"], one_line(error), json.dumps(row, default=str))
        try:
            piece = self._piece_of(normalised, without_body)
        except OSError:
            raise
        except Exception:  # noqa: BLE001 - the first error is the reason
            self._reopen()
            normalised.lines_aside.append(aside)
        else:
            normalised.add(replace(piece, unread=None))
            normalised.answers_aside.append(aside)

    def _piece_of(self, normalised: Normalised, lines: pa.Table) -> Piece:
        self._connection.register("lines", lines)
        self._connection.execute(sql("raw_part"))
        self._connection.unregister("lines")
        return self._piece(normalised)

    def _piece(self, normalised: Normalised) -> Piece:
        """Normalise what table `raw` holds."""
        self._set_zone(normalised.window)
        self._judge_again()
        dataset = normalised.dataset
        if dataset is None:
            self._connection.execute(
                "create or replace temp table answers as select '' as request_id, 0 as n_rows"
            )
            return Piece(self._table("requests"))
        self._read_alike()
        rows = self._table(dataset)
        left_out = self._junk_legs() if dataset == "timetables" else None
        unread = raw.arrow(self._connection, sql("unread"))
        return Piece(self._table("requests"), rows, unread, left_out)

    def _table(self, dataset: str) -> pa.Table:
        *steps, query = sql(dataset).split(";\n")
        for step in steps:
            self._connection.execute(step)
        if steps:
            self._check_size(dataset)
        return raw.arrow(self._connection, query).cast(DATASETS[dataset])

    def _check_lines(self, window: RawWindow) -> None:
        """Raise UnfitLinesError if a line is not of this window, or of another time."""
        midnight = datetime.combine(window.day, datetime.min.time())
        n_unfit = self._connection.execute(
            """
            select count(*) from raw
            where request_id is null or operator is distinct from $operator
                or "window" is distinct from $window
                or dated_at not between $first and $last
            """,
            {
                "operator": window.operator, "window": window.name,
                "first": midnight - NEAR, "last": midnight + NEAR,
            },
        ).fetchall()[0][0]  # fmt: skip
        if n_unfit:
            raise UnfitLinesError(f"{n_unfit} lines are no rows of this window")

    def _check_size(self, dataset: str) -> None:
        """Raise TooManyRowsError before the rows of the answers are made, if there are too many."""
        n_rows, n_longest = self._connection.execute(
            "select coalesce(sum(n_rows), 0)::bigint, coalesce(max(n_rows), 0) from answers"
        ).fetchall()[0]
        if n_rows > self._max_rows:
            raise TooManyRowsError(n_rows, self._max_rows, "the value of TRANSIT_STAGE_MAX_ROWS")
        if n_longest > (most := _MOST_ROWS.get(dataset, n_longest)):
            raise TooManyRowsError(n_longest, most, f"the most that a credible answer of {dataset} lists")

    def _judge_again(self) -> None:
        """Judge bodies that were not usable when they came as they are judged now.

        What cannot be read of those that were usable is set aside, so that they need no second judgement.
        """
        bodies = self._connection.execute(
            """
            select rowid, endpoint, outcome, body from raw
            where body is not null and (
                outcome in ($wrong_shape, $error_row) or (outcome = $not_json and starts_with(error, $read))
            )
            """,
            {
                "wrong_shape": Outcome.WRONG_SHAPE, "error_row": Outcome.ERROR_ROW,
                "not_json": Outcome.NOT_JSON, "read": NOT_JSON,
            },
        ).fetchall()  # fmt: skip
        verdicts = [
            (number, judge_body(endpoint, body.encode()), outcome)
            for number, endpoint, outcome, body in bodies
            if endpoint in ENDPOINTS
        ]
        changed = [(now.outcome, now.reason, number) for number, now, then in verdicts if now.outcome != then]
        if changed:
            self._connection.executemany(
                """
                update raw set outcome = $1, error = $2, is_read = may_hold_rows($1, api_version, body)
                where rowid = $3
                """,
                changed,
            )

    def _read_alike(self) -> None:
        """Write the bodies anew that Python and DuckDB would read differently."""
        bodies = self._connection.execute(
            "select rowid, body from raw where is_read and not has_shape"
        ).fetchall()
        written = [(alike, number) for number, body in bodies if (alike := as_read(body)) is not body]
        if written:
            self._connection.executemany("update raw set body = ? where rowid = ?", written)

    def _set_zone(self, window: RawWindow) -> None:
        """Define the offsets around the instants of the lines."""
        found = self._connection.execute("select min(dated_at), max(dated_at) from raw")
        first, last = found.fetchall()[0]
        if first is None:
            first = last = datetime.combine(window.day, datetime.min.time())
        near = offsets(self._settings.zone, first.replace(tzinfo=UTC) - NEAR, last.replace(tzinfo=UTC) + NEAR)
        define_zone(self._connection, near)

    def _junk_legs(self) -> LeftOut:
        query = "select count(*), count(*) filter (is_junk) from legs where is_leg"
        n_legs, n_junk = self._connection.execute(query).fetchall()[0]
        reason = "A leg without a description is filler of the upstream; its departures are no service."
        return LeftOut("junk_leg", reason, n_legs, n_junk)

    def _open(self) -> duckdb.DuckDBPyConnection:
        connection = connect(self._settings)
        connection.execute(f"set threads = {self._threads}")
        # Without a place on disk: what does not fit is halved, and what does not fit alone is set aside.
        memory_mb = max(_LEAST_MEMORY_MB, self._max_rows * _MEMORY_KB_PER_ROW // 1024)
        connection.execute(f"set memory_limit = '{memory_mb}MB'; set temp_directory = ''")
        return connection

    def _reopen(self) -> None:
        """Open another connection: after some errors DuckDB refuses any further use of one."""
        self._connection.close()
        self._connection = self._open()


def one_line(error: Exception) -> str:
    """Write an error in one line of bounded length: its type and what it says."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}"[:_LONGEST_REASON]
