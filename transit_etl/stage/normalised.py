"""The tables of one normalised window, put together from pieces, and what of it could not be staged."""

from dataclasses import dataclass, field, replace
from functools import reduce

import pyarrow as pa

from transit_etl.lake_schemas import DATASETS
from transit_etl.stage.pieces import Pieces
from transit_etl.stage.raw import RawWindow


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many rows normalising left out by design, for the validation results."""

    rule: str
    reason: str
    n_rows: int
    n_left_out: int

    def plus(self, other: "LeftOut") -> "LeftOut":
        """Return the counts of both."""
        return replace(self, n_rows=self.n_rows + other.n_rows, n_left_out=self.n_left_out + other.n_left_out)


@dataclass(frozen=True, slots=True)
class SetAside:
    """An answer that cannot be staged, or a line of the raw file that is no row, and why.

    `line` is what the quarantine keeps of it: of an answer its row in the ledger, without the body.
    """

    request_id: str | None
    reason: str
    line: str


@dataclass(frozen=True, slots=True)
class Piece:
    """The tables of some lines of a window."""

    requests: pa.Table
    rows: pa.Table | None = None
    unread: pa.Table | None = None
    left_out: LeftOut | None = None


@dataclass(slots=True)
class Normalised:
    """The tables of one window: its requests, and the rows of its dataset if it has one, in pieces.

    `unread` holds `request_id` and `line` (the raw line as JSON) of good answers that gave no list of rows;
    `answers_aside` and `lines_aside` what could not be staged at all.
    """

    window: RawWindow
    dataset: str | None
    requests: pa.Table = field(default_factory=DATASETS["requests"].empty_table)
    rows: Pieces = field(default_factory=Pieces)
    unread: Pieces = field(default_factory=Pieces)
    left_out: list[LeftOut] = field(default_factory=list)
    answers_aside: list[SetAside] = field(default_factory=list)
    lines_aside: list[SetAside] = field(default_factory=list)

    def add(self, piece: Piece) -> None:
        """Add the tables of some of the window's lines; requests stay in the order of their instants."""
        if self.requests.num_rows == 0:
            self.requests = piece.requests
        else:
            both = pa.concat_tables([self.requests, piece.requests])
            self.requests = both.sort_by([("planned_at", "ascending"), ("request_id", "ascending")])
        if piece.rows is not None:
            self.rows.append(piece.rows)
        if piece.unread is not None:
            self.unread.append(piece.unread)
        if piece.left_out is not None:
            self.left_out = [reduce(LeftOut.plus, [*self.left_out, piece.left_out])]
