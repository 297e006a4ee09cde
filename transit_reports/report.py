"""All that the pages of a report are made from: the published file, asked about one period."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from transit_exports.source import Source
from transit_reports.figures import TextIn
from transit_reports.language import _, translated
from transit_reports.periods import ReportPeriod
from transit_reports.queries import Answer, Row, ask

LineKey = tuple[str, str]
_NO_FIGURES = dict.fromkeys(
    f"{name}{end}" for name in ("on_time", "early", "late", "mean_delay") for end in ("", "_low", "_high")
) | {"n_due": None, "observed_share": None}
_PLAIN = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True)
class Report:
    """The published file, open, and a period; each query is asked once.

    `lines` limits the pages to those of these lines, by public number or code; without any, every line and
    stop has one. `pages_there` are the addresses of the pages that were written before, and stay.
    """

    source: Source
    period: ReportPeriod
    lines: Sequence[str] = ()
    pages_there: frozenset[str] = frozenset()
    _answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    _parts: dict[tuple[str, tuple[str, ...]], dict[tuple[Any, ...], Answer]] = field(default_factory=dict)

    def ask(self, name: str, period: ReportPeriod | None = None) -> Answer:
        """Return the answer to a query of `sql` about the period, or another."""
        of = period or self.period
        if (name, of.name) not in self._answers:
            self.keep(name, of, ask(self.source.connection, name, of.dates))
        return self._answers[name, of.name]

    def keep(self, name: str, period: ReportPeriod, answer: Answer) -> None:
        """Keep an answer, so that the query is not asked."""
        self._answers[name, period.name] = answer

    def one(self, name: str, period: ReportPeriod | None = None) -> Row:
        """Return the first row of the answer to a query; an empty one if there is none."""
        rows = self.ask(name, period).rows
        return rows[0] if rows else {}

    def of(self, name: str, **values: str) -> Answer:
        """Return the part of an answer with these values of columns, and the query that gives it."""
        keys = tuple(values)
        if (name, keys) not in self._parts:
            self._parts[name, keys] = self.ask(name).by(*keys)
        return self._parts[name, keys].get(tuple(values.values())) or self.ask(name).none_of(**values)

    @cached_property
    def directions(self) -> Mapping[LineKey, tuple[str, str]]:
        """What each line and direction is called: its number, and where it goes."""
        found = self.source.rows("select line_code, direction, line, towards from direction_names()")
        return {(code, direction): (line, towards) for code, direction, line, towards in found}

    @cached_property
    def stops(self) -> Mapping[str, Row]:
        """The name and the place of each stop."""
        found = self.source.rows(
            "select stop_code, stop_name, latitude, longitude from core.stops where is_current"
        )
        return {
            code: {"name": name, "latitude": latitude, "longitude": longitude}
            for code, name, latitude, longitude in found
        }

    @cached_property
    def rules(self) -> Row:
        """The rules by which a passage is on time."""
        return self.one("ruleset")

    @property
    def rules_text(self) -> str:
        """The rules in a sentence."""
        return _(
            "on time: from {early} s early to {late} s late (ruleset {version})",
            early=self.rules["early_seconds"], late=self.rules["late_seconds"],
            version=self.rules["ruleset_version"],
        )  # fmt: skip

    @cached_property
    def _reasons(self) -> Mapping[str, str]:
        return dict(self.source.rows("select reason, words from core.null_reasons"))

    def reason(self, row: Row) -> str:
        """Say why a figure is not known."""
        reason = row.get("null_reason") or "nothing observed"
        return translated(self._reasons.get(reason, str(reason)))

    def told(self, rows: Sequence[Row], *names: str, language: str = "") -> list[dict[str, Any]]:
        """Return rows whose texts of these names are in a language: that of upstream if none is given."""
        code = language or self.source.settings.language
        return [
            {**row, **{name: TextIn(row[name], code) for name in names if row[name] is not None}}
            for row in rows
        ]

    @property
    def is_newest(self) -> bool:
        """Tell whether the period ends with the last date that is over."""
        return self.period.dates.last == self.source.publication.last_date

    def every_date(self, rows: Sequence[Row]) -> list[Row]:
        """Return a row for each date of the period; one without an answer has no figures."""
        known = {row["service_date"]: row for row in rows}
        return [known.get(day, _NO_FIGURES | {"service_date": day}) for day in self.period.days]

    def line_name(self, code: str, direction: str) -> str:
        """Return the public number of a line."""
        return self.directions.get((code, direction), (code, direction))[0]

    def towards(self, code: str, direction: str) -> str:
        """Return where a direction of a line goes."""
        return self.directions.get((code, direction), (code, direction))[1]

    def stop_name(self, code: str) -> str:
        """Return the name of a stop, with its code."""
        known = self.stops.get(code)
        return f"{known['name']} ({code})" if known and known["name"] else _("Stop {code}", code=code)

    def named(self, answer: Answer, root: str) -> list[dict[str, Any]]:
        """Return rows with `line`, `towards` and the address of the line's page."""
        return [
            {
                **row,
                "line": self.line_name(row["line_code"], row["direction"]),
                "towards": self.towards(row["line_code"], row["direction"]),
                "line_page": f"{root}{line_page(row['line_code'])}"
                if self.has_page(row["line_code"])
                else "",
            }
            for row in answer.rows
        ]

    def with_stops(self, rows: Sequence[Row], root: str) -> list[dict[str, Any]]:
        """Return rows with `stop`, the name of a stop, and the address of its page."""
        return [
            {
                **row,
                "stop": self.stop_name(row["stop_code"]),
                "stop_page": f"{root}{stop_page(row['stop_code'])}"
                if self._has_stop(row["stop_code"])
                else "",
            }
            for row in rows
        ]

    def has_page(self, code: str) -> bool:
        """Tell whether a line has a page."""
        return self.is_asked(code) or line_page(code) in self.pages_there

    @cached_property
    def _observed(self) -> set[str]:
        return {row["line_code"] for row in self.ask("lines").rows if row["observed_share"]}

    def _has_stop(self, code: str) -> bool:
        return not self.lines or stop_page(code) in self.pages_there

    def is_asked(self, code: str) -> bool:
        """Tell whether the page of a line is to be written; one of which nothing was observed has none."""
        if code not in self._observed:
            return False
        return not self.lines or not self.names_of(code).isdisjoint(self.lines)

    def names_of(self, code: str) -> set[str]:
        """Return by what a line may be asked for: its code, its name and its public number."""
        names = {self.line_name(code, "outbound"), self.line_name(code, "inbound")}
        return {code} | names | {name.partition(" (")[0] for name in names}


def line_page(code: str) -> str:
    """Return the address of a line's page."""
    return f"line/{folder_name(code)}/index.html"


def stop_page(code: str) -> str:
    """Return the address of a stop's page."""
    return f"stop/{folder_name(code)}/index.html"


def folder_name(code: str) -> str:
    """Return a code as the name of a folder: letters, digits, _ and -; others are written as ~ and hex."""
    return _PLAIN.sub(lambda found: "".join(f"~{byte:02x}" for byte in found[0].encode()), code) or "~"
