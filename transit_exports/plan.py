"""What an export is made of and what is known of it before anything is written."""

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache, cached_property
from importlib import metadata
from typing import Any

from transit_base.promised import NAMED
from transit_base.stamps import stamp
from transit_exports.changes import changed_months
from transit_exports.coverage import Coverage, coverage_of, kind_of, what_is_missing
from transit_exports.formats import FORMATS, Format
from transit_exports.manifest import File, Manifest, digest_of
from transit_exports.periods import period_of
from transit_exports.request import ExportError, Request
from transit_exports.source import Source, Table

_LONGEST_NAME = 200  # of a folder, in characters
FEEDS = "feeds"  # the group of datasets that are no tables of the warehouse
_KEYWORDS = ("public transport", "punctuality", "service quality")
_LAYOUT = 5  # of the files and their contents; another number makes incremental exports write all of them


@cache
def version(package: str) -> str:
    """Return the version of an installed package; reading it takes milliseconds."""
    return metadata.version(package)


def dataset_name(request: Request) -> str:
    """Return the name of the folder of an export: its tables, format and dates, if any are asked for."""
    tables = [_tables(request)] if request.names else []
    name = "-".join([*tables, request.format, *_dates(request)])
    if len(name) > _LONGEST_NAME and not request.output:
        raise ExportError("so many tables make no name of a folder: name one with --output")
    return name[:_LONGEST_NAME]


def subject_of(request: Request) -> str:
    """Return the name of a dataset that is the same in each format: its tables and dates; a feed has one."""
    return "-".join([_tables(request) if request.names else request.format, *_dates(request)])


def _tables(request: Request) -> str:
    return "+".join(sorted(set(map(_short, request.names))))


def _dates(request: Request) -> list[str]:
    has_dates = request.first is not None or request.last is not None
    dates = [str(request.first or "start"), str(request.last or "end")] if has_dates else []
    return dates + ([stamp(request.at)] if request.at else [])


def _short(name: str) -> str:
    """Return the name of a table without its schema, but for views with names; it names a folder."""
    schema, _, short = name.strip().lower().rpartition(".")
    short = f"{NAMED}_{short}" if schema == NAMED else short
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

    def __init__(self, request: Request, source: Source) -> None:
        self.request, self.source = request, source
        self.form, self.name = format_of(request), dataset_name(request)
        self.tables: Sequence[Table] = self.form.tables(source, request)
        self.period = period_of(request, source.publication)
        kind = self.form.needs if self.form.is_feed else kind_of(source, [*self.tables])
        self.coverage: Coverage = coverage_of(source, kind, self.period)
        self.missing = [*what_is_missing(source, self.coverage, self.period), *self.form.lacks(source)]
        if self.missing and not request.allows_incomplete:
            raise ExportError(
                f"too little is known from {self.period.first} to {self.period.last}: "
                f"{'; '.join(self.missing)}; --allow-incomplete exports it all the same, marked"
            )
        self.parts = self.form.plan(source, request, self.period)

    def is_in(self, before: Manifest) -> bool:
        """Tell whether an export has all that this one would have: nothing was built since."""
        is_same = before.signature == self.signature and list(before.incomplete) == self.missing
        return is_same and changed_months(self.source, before, self.period) == set()

    @cached_property
    def signature(self) -> str:
        """A digest of all that decides what the files say, apart from the rows."""
        source = self.source
        given = [
            _LAYOUT, version("transit-etl"), source.publication.fingerprint,
            source.feed_url, source.settings.language, self.request.neutralises_formulas,
            self.description,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(given).encode()).hexdigest()

    @cached_property
    def description(self) -> dict[str, Any]:
        """The fields of the manifest that say what the dataset is, whatever rows it has."""
        source, operator = self.source, self.source.publication.operator
        return {
            "dataset": self.name,
            "subject": subject_of(self.request),
            "identifier": self._identifier(),
            "group": self._group(),
            "title": f"{self._contents()}{self._moment()}, {source.publisher}",
            "format": self.form.name,
            "media_type": self.form.media_type,
            "timezone": source.publication.timezone,
            "publisher": source.publisher,
            "publisher_url": source.settings.publisher_url,
            "contact": source.settings.contact,
            "licence": source.settings.licence,
            "keywords": [*_KEYWORDS, operator, *self.form.keywords],
            "bounds": source.bounds,
            "tables": [_table_entry(table) for table in self.tables],
            "notes": list(self.form.notes),
        }

    def manifest(
        self, files: Sequence[File], before: Manifest | None, errors: Sequence[str] = ()
    ) -> Manifest:
        """Return the manifest of the export with these files; one with the same data has the same version."""
        publication = self.source.publication
        published_at = f"{publication.published_at.isoformat(timespec='seconds')}Z"
        digest = digest_of(files)
        is_same = before is not None and before.digest == digest and before.modified_at
        modified_at = before.modified_at if before is not None and is_same else published_at
        return Manifest(
            **self.description,
            first_date=str(self.period.first),
            last_date=str(self.period.last),
            is_complete=not self.missing,
            incomplete=self.missing,
            coverage=self.coverage.as_fields(),
            versions={
                "code": version("transit-etl"),
                "build": publication.build_number,
                "models": publication.fingerprint[:12],
                "rulesets": list(publication.rulesets),
                "schema": self.signature[:12],
            },
            version=f"{modified_at[:10]}-{digest[:8]}",
            modified_at=modified_at,
            published_at=published_at,
            files=files,
            errors=errors,
            signature=self.signature,
        )

    def _group(self) -> str:
        """Return the schema of the first table, also of one that is exported with names; feeds have none."""
        return FEEDS if self.form.is_feed else self.source.table(self.tables[0].name).schema

    def _identifier(self) -> str:
        """Return the address of the dataset in the index, or its name among those of the operator."""
        subject, address = subject_of(self.request), self.source.settings.address
        return f"{address}#{subject}" if address else f"{self.source.publication.operator}/{subject}"

    def _moment(self) -> str:
        return f", {self.request.at:%Y-%m-%d %H:%M} UTC" if self.request.at else ""

    def _contents(self) -> str:
        return ", ".join(table.title for table in self.tables) or self.form.contents


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
