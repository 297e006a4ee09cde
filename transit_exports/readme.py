"""Writes the page for whoever gets an export: what it is, how much was seen, what the columns mean."""

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from transit_exports.citation import rules_of
from transit_exports.coverage import known_of
from transit_exports.manifest import Manifest
from transit_exports.source import Table


def readme_of(manifest: Manifest, tables: Sequence[Table]) -> str:
    """Return the page of an export in Markdown."""
    return "\n".join(_lines(manifest, tables)) + "\n"


def _lines(manifest: Manifest, tables: Sequence[Table]) -> Iterator[str]:
    yield f"# {manifest.title}\n"
    yield from (f"{table.meaning}\n" for table in tables)
    if not manifest.is_complete:
        yield "**Incomplete.** Too little is known of the period; it was exported all the same:\n"
        yield from (f"- {reason}" for reason in manifest.incomplete)
        yield ""
    if manifest.errors:
        yield "**Not valid.** A public validator finds errors:\n"
        yield from (f"- {error}" for error in manifest.errors)
        yield ""
    yield from (f"- {fact}" for fact in _facts(manifest))
    yield "\n## Files\n"
    yield "| file | table | rows | bytes |"
    yield "|---|---|---:|---:|"
    for file in manifest.files:
        n_rows = f"{file.n_rows:,}" if file.table else ""
        yield f"| [{file.path}]({quote(file.path)}) | {file.table} | {n_rows} | {file.n_bytes:,} |"
    yield "\n## How to read them\n"
    yield from (f"- {note}" for note in (*rules_of(tables), *manifest.notes, *_GENERAL))
    if known := known_of(manifest.coverage):
        yield "\n## How much is known\n"
        yield from (f"- {sentence}" for sentence in known)
    yield "\n## How to cite\n"
    yield f"> {citation(manifest)}"
    for table in tables:
        yield f"\n## {table.place}\n"
        yield "| column | type | unit | meaning |"
        yield "|---|---|---|---|"
        for column in table.columns:
            yield f"| `{column.name}` | {column.type.lower()} | {column.unit} | {_cell(column.meaning)} |"


_GENERAL = (
    "`sha256sum --check SHA256SUMS` tells whether the files arrived as they were sent.",
    "`manifest.json` says the same as this page, and the rest, for programs.",
)


def citation(manifest: Manifest) -> str:
    """Return the reference to a dataset: publisher, year, title, version, date, identifier and licence."""
    return (
        f"{manifest.publisher} ({manifest.modified_at[:4]}): {manifest.title}. Version {manifest.version}, "
        f"{manifest.first_date} to {manifest.last_date}. {manifest.identifier}. Licence: {manifest.licence}."
    )


def _facts(manifest: Manifest) -> Iterator[str]:
    yield f"Service dates: {manifest.first_date} to {manifest.last_date}. Format: {manifest.format}."
    yield f"Version: {manifest.version}; its data are of {manifest.modified_at}."
    yield f"Publisher: {manifest.publisher}{_address(manifest.publisher_url)}. Licence: {manifest.licence}."
    if manifest.contact:
        yield f"Questions: <{manifest.contact}>."
    yield f"Instants are UTC; the operator's local time is {manifest.timezone}."
    made_by = {name: value for name, value in manifest.versions.items() if name != "build"}
    yield f"Made by: {', '.join(f'{name} {_listed(value)}' for name, value in made_by.items())}."


def _address(url: str) -> str:
    return f", <{url}>" if url else ""


def _listed(value: object) -> str:
    return str(value).strip("[]")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
