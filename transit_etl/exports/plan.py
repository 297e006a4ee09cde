"""What an export is made of and what is known of it before anything is written."""

import hashlib
import json
import re
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from transit_etl import paths
from transit_etl.exports.changes import changed_months
from transit_etl.exports.coverage import Coverage, coverage_of, kind_of, what_is_missing
from transit_etl.exports.formats import FORMATS, Format
from transit_etl.exports.manifest import File, Manifest
from transit_etl.exports.periods import period_of
from transit_etl.exports.request import ExportError, Request
from transit_etl.exports.source import Source, Table
from transit_etl.settings import Settings

_LONGEST_NAME = 200  # of a folder, in characters
_LAYOUT = 3  # of the files and their contents; another number makes incremental exports write all of them


def dataset_name(request: Request) -> str:
    """Return the name of the folder of an export: its tables, format and dates, if any are asked for."""
    tables = "+".join(sorted(set(map(_short, request.names))))
    dates = [str(request.first or "start"), str(request.last or "end")] if _has_dates(request) else []
    dates += [paths.window_stamp(request.at)] if request.at else []
    name = "-".join([*([tables] if tables else []), request.format, *dates])
    if len(name) > _LONGEST_NAME and not request.output:
        raise ExportError("so many tables make no name of a folder: name one with --output")
    return name[:_LONGEST_NAME]


def _has_dates(request: Request) -> bool:
    return request.first is not None or request.last is not None


def _short(name: str) -> str:
    """Return the name of a table without its schema; it names a folder."""
    short = name.strip().lower().rpartition(".")[2]
    if not re.fullmatch(r"\w+", short, re.ASCII):
        raise ExportError(f"there is no table {name!r} to export; transit-etl tables lists them")
    return short


def format_of(request: Request) -> Format:
    """Return the format that is asked for, or ExportError if it does not fit the rest of the request."""
    form = FORMATS.get(request.format)
    if form is None:
        raise ExportError(f"{request.format!r} is not one of {', '.join(map(repr, FORMATS))}")
    if form.is_feed and request.names:
        raise ExportError(f"{form.name} has tables of its own: name none")
    if request.at and not form.is_of_moment:
        raise ExportError(f"{form.name} is of a period: give dates instead of an instant")
    if not form.is_feed and not request.names:
        raise ExportError(f"name the tables to export as {form.name}; transit-etl tables lists them")
    return form


class Plan:
    """An export as it will be: its tables, period, coverage and files.

    ExportError refuses it, such as where too little is known of the period.
    """

    def __init__(self, settings: Settings, request: Request, form: Format, source: Source, name: str) -> None:
        self.settings, self.request, self.form, self.source, self.name = (
            settings, request, form, source, name,
        )  # fmt: skip
        self.tables: Sequence[Table] = form.tables(source, request)
        self.period = period_of(request, source.publication)
        kind = form.needs if form.is_feed else kind_of(source, [*self.tables])
        self.coverage: Coverage = coverage_of(source, kind, self.period)
        self.missing = [*what_is_missing(source, self.coverage, self.period), *form.lacks(source)]
        if self.missing and not request.allows_incomplete:
            raise ExportError(
                f"too little is known from {self.period.first} to {self.period.last}: "
                f"{'; '.join(self.missing)}; --allow-incomplete exports it all the same, marked"
            )
        self.parts = form.plan(source, request, self.period)

    def is_in(self, before: Manifest) -> bool:
        """Tell whether an export has all that this one would have: nothing was built since."""
        is_same = before.signature == self.signature() and list(before.incomplete) == self.missing
        return is_same and changed_months(self.source, before, self.period) == set()

    def signature(self) -> str:
        """Return a digest of what decides how rows are written: format, options, columns, the code."""
        columns = [(each.place, column.name, column.type) for each in self.tables for column in each.columns]
        described = [
            _LAYOUT, version("transit-etl"), self.form.name, self.request.neutralises_formulas,
            self.source.publication.fingerprint, self.source.language, columns,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(described).encode()).hexdigest()

    def manifest(self, files: Sequence[File]) -> Manifest:
        """Return the manifest of the export with these files."""
        publication = self.source.publication
        return Manifest(
            dataset=self.name,
            title=f"{self._contents()} of {publication.operator}, {self.form.title}{self._moment()}",
            format=self.form.name,
            media_type=self.form.media_type,
            first_date=str(self.period.first),
            last_date=str(self.period.last),
            timezone=publication.timezone,
            is_complete=not self.missing,
            incomplete=self.missing,
            coverage=self.coverage.as_fields(),
            versions={
                "code": version("transit-etl"),
                "build": publication.build_number,
                "models": publication.fingerprint[:12],
                "rulesets": list(publication.rulesets),
                "schema": self.signature()[:12],
            },
            published_at=f"{publication.published_at.isoformat(timespec='seconds')}Z",
            publisher=self.source.publisher,
            licence=self.source.licence,
            tables=[_table_entry(table) for table in self.tables],
            files=files,
            signature=self.signature(),
            notes=self.form.notes,
        )

    def _moment(self) -> str:
        return f", {self.request.at:%Y-%m-%d %H:%M} UTC" if self.request.at else ""

    def _contents(self) -> str:
        return ", ".join(table.place for table in self.tables) or self.form.contents


def _table_entry(table: Table) -> dict[str, Any]:
    return {
        "name": table.place,
        "meaning": table.meaning,
        "key": list(table.key),
        "columns": [
            {"name": each.name, "type": each.type.lower(), "unit": each.unit, "meaning": each.meaning}
            for each in table.columns
        ],
    }
