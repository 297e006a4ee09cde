"""What a page shows: figures with their intervals, and tables of them, as text for people and as CSV."""

import csv
import io
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from math import ceil, floor
from typing import Any, Literal, Self

from markupsafe import Markup

from transit_base.cited import cited
from transit_reports.language import NO_BREAK, _, language, moment, number, signed, weekday_and_day
from transit_reports.queries import Row

FEWEST_UNITS = 50  # of a figure that has a place or is compared, as in the practice of transit surveys
N_SHADES = 5
Kind = Literal["text", "count", "share", "seconds", "minutes", "date", "time", "difference"]
_MINUTE = 60  # seconds
_HOUR, _DAY = 60, 1440  # minutes


class TextIn(str):
    """A text of the published file in a language of its own: that of upstream, or English words of checks."""

    __slots__ = ("language",)
    language: str

    def __new__(cls, text: str, language: str) -> Self:
        """Make a text in the language of a tag of BCP 47; `und` where it is not known."""
        made = super().__new__(cls, text)
        made.language = language
        return made


def language_of(value: object) -> str:
    """Return the language of a text that has one of its own, where it is known and not that of the page."""
    return value.language if isinstance(value, TextIn) and value.language not in {language(), "und"} else ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: the name in the rows, its title, and how its values are written.

    The title is English, and translated where it is shown.
    A column with `bounds` has the ends of a 95 % interval, or else bounds, in `{name}_low` and
    `{name}_high`. `link` names the column with the address behind the text.
    """

    name: str
    title: str
    kind: Kind = "text"
    bounds: Literal["", "interval", "bounds"] = ""
    link: str = ""

    @property
    def is_number(self) -> bool:
        """Tell whether values are aligned at the right."""
        return self.kind not in {"text", "date", "time"}

    @property
    def names(self) -> list[str]:
        """The columns of the CSV file."""
        return [self.name, f"{self.name}_low", f"{self.name}_high"] if self.bounds else [self.name]

    def text(self, row: Row) -> str:
        """Return the value in a row as text, with its interval."""
        value = row.get(self.name)
        if not self.bounds:
            return written(value, self.kind)
        return with_ends(
            value, row.get(f"{self.name}_low"), row.get(f"{self.name}_high"), self.kind, self.bounds
        )


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart or a table with all that a reader needs of it.

    name:       of its CSV file and of the address on the page.
    reading:    one sentence of what the numbers say.
    citation:   the sentence to cite.
    drawing:    the chart, if there is one; the table is then folded away.
    definition: the section of the page of definitions.
    """

    name: str
    title: str
    reading: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    sql: str
    definition: str
    citation: str = ""
    drawing: Markup | None = None
    most_rows: int = 1000

    @property
    def shown(self) -> Sequence[Row]:
        """The rows on the page; the CSV file has all."""
        return self.rows[: self.most_rows]

    def csv(self) -> str:
        """Return all rows as CSV; an unknown value is empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = [name for column in self.columns for name in column.names]
        writer.writerow(names)
        writer.writerows([_plain(row.get(name)) for name in names] for row in self.rows)
        return text.getvalue()


def _plain(value: Any) -> Any:  # noqa: ANN401 - what a query gives
    if isinstance(value, float):
        return f"{value:.6g}"
    # A spreadsheet would take such a text for a formula.
    return f"'{value}" if isinstance(value, str) and value[:1] in {"=", "+", "-", "@", "\t", "\r"} else value


def written(value: Any, kind: Kind) -> str:  # noqa: ANN401, PLR0911 - what a query gives; a line for each kind
    """Return a value as text; one that is not known is a dash."""
    match value, kind:
        case None, _:
            return "–"
        case datetime(), _:
            return moment(value)
        case date(), _:
            return weekday_and_day(value)
        case _, "share":
            return f"{number(100 * value)}{_unit(kind)}"
        case _, "difference":
            return f"{signed(100 * value)}{_unit(kind)}"
        case _, "seconds":
            return f"{clock(value)}{_unit(kind)}"
        case _, "minutes":
            return duration(round(value))
        case _, "count":
            return number(value)
        case _:
            return str(value)


def clock(seconds: float) -> str:
    """Return seconds as minutes and seconds, such as 4:05."""
    sign, whole = ("−" if round(seconds) < 0 else ""), abs(round(seconds))
    return f"{sign}{whole // _MINUTE}:{whole % _MINUTE:02}"


def duration(minutes: int) -> str:
    """Return whole minutes as hours and minutes, such as 2 h 5 min; from two days on, as days and hours."""
    if minutes >= 2 * _DAY:
        parts = ((minutes // _DAY, _("d")), (minutes % _DAY // _HOUR, "h"))
    else:
        parts = ((minutes // _HOUR, "h"), (minutes % _HOUR, "min"))
    shown = [f"{number(n)}{NO_BREAK}{unit}" for n, unit in parts if n]
    return NO_BREAK.join(shown) or f"0{NO_BREAK}min"


def with_ends(value: Any, low: Any, high: Any, kind: Kind, bounds: str) -> str:  # noqa: ANN401 - what a query gives
    """Return a figure with its 95 % interval in round brackets, or bounds in square ones.

    All are rounded as they are cited.
    """
    if bounds == "bounds":
        return bounds_text(low, high, kind)
    if low is None or high is None or value is None:
        return written(value, kind)
    figure, *ends = figure_and_ends(value, low, high, kind)
    joined = (
        _("{low} to {high}").replace(" ", NO_BREAK) if low < 0 or kind == "difference" else "{low}–{high}"
    )
    return f"{figure}{_unit(kind)} ({joined.format(low=ends[0], high=ends[1])})"


def bounds_text(low: Any, high: Any, kind: Kind) -> str:  # noqa: ANN401 - what a query gives
    """Return bounds in square brackets; without an upper one it says so, without both it is a dash.

    They are rounded outwards. Durations have no brackets where both bounds are the same.
    """
    if low is None:
        return "–"
    if kind == "minutes":
        return _duration_bounds(low, high)
    if high is None:
        least = figure_and_ends(low, low, low + 1, kind)[1]
        return _("[{least} or more]", least=f"{least}{_unit(kind)}")
    texts = figure_and_ends(low, low, high, kind)[1:]
    return f"[{'–'.join(dict.fromkeys(texts))}{_unit(kind)}]"


def _duration_bounds(low: float, high: float | None) -> str:
    step = _HOUR if low >= 2 * _DAY else 1
    least = duration(floor(low / step) * step)
    if high is None:
        return _("[{least} or more]", least=least)
    step = _HOUR if high >= 2 * _DAY else 1
    most = duration(ceil(high / step) * step)
    return least if least == most else f"[{least} – {most}]"


def figure_and_ends(value: float, low: float, high: float, kind: Kind) -> tuple[str, str, str]:
    """Return a figure and both ends of its interval as text without a unit, rounded as they are cited."""
    *numbers, decimals = cited(value, low, high, "wait_seconds" if kind == "seconds" else "share")
    if len({*numbers}) == 1 and numbers[0].is_integer():
        decimals = 0  # zeros would say nothing
    figure, least, most = (_short(each, kind, max(decimals, 0)) for each in numbers)
    return figure, least, most


def _short(value: float, kind: Kind, decimals: int) -> str:
    if kind == "difference":
        return signed(value, decimals)
    return clock(value) if kind == "seconds" else number(value, decimals)


def _unit(kind: Kind) -> str:
    """Return the unit of a kind, with a space that does not break a line."""
    match kind:
        case "share":
            return f"{NO_BREAK}%"
        case "difference":
            return f"{NO_BREAK}{_('points')}"
        case "seconds":
            return f"{NO_BREAK}min"
        case _:
            return ""


def heat_class(share: float) -> str:
    """Return the class of a share in a table or a map: of the lowest, the one that stands out most."""
    return f"q{min(int((1 - share) * N_SHADES), N_SHADES - 1)}"


def heat_classes() -> list[tuple[str, str]]:
    """Return each class with the shares that it stands for, the highest first."""
    ends = [number(100 * step / N_SHADES) for step in range(N_SHADES, -1, -1)]
    return [(f"q{n}", f"{ends[n + 1]}–{ends[n]}{_unit('share')}") for n in range(N_SHADES)]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A row with its place among all: the first and the last that its interval leaves open."""

    row: Row
    first: int
    last: int

    @property
    def text(self) -> str:
        """The place, such as `3` or `3–17`."""
        return f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"


def ranked(rows: Sequence[Row], name: str, *, worst_is_low: bool) -> list[Ranked]:
    """Order rows from the worst by the near end of their interval: the end that lies on the better side.

    A row is surely worse than another only where their intervals do not meet; the first place of a row is
    one more than there are surely worse ones.
    """
    low, high, n_rows = f"{name}_low", f"{name}_high", len(rows)
    lows, highs = sorted(row[low] for row in rows), sorted(row[high] for row in rows)

    def placed(row: Row) -> Ranked:
        n_below, n_above = bisect_left(highs, row[low]), n_rows - bisect_right(lows, row[high])
        n_worse, n_better = (n_below, n_above) if worst_is_low else (n_above, n_below)
        return Ranked(row, n_worse + 1, n_rows - n_better)

    def order(row: Row) -> tuple[float, float]:
        return (row[high], row[low]) if worst_is_low else (-row[low], -row[high])

    return [placed(row) for row in sorted(rows, key=order)]
