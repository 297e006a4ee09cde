"""Writes the page for whoever gets an export: what it is, how much was seen, what the columns mean."""

from collections.abc import Iterator, Sequence

from transit_etl.exports.coverage import SEEN, points
from transit_etl.exports.manifest import Manifest
from transit_etl.exports.source import Table


def readme_of(manifest: Manifest, tables: Sequence[Table]) -> str:
    """Return the page of an export in Markdown."""
    return "\n".join(_lines(manifest, tables)) + "\n"


def _lines(manifest: Manifest, tables: Sequence[Table]) -> Iterator[str]:
    yield f"# {manifest.title}\n"
    if not manifest.is_complete:
        yield "**Incomplete.** Too little is known of the period; it was exported all the same:\n"
        yield from (f"- {reason}" for reason in manifest.incomplete)
        yield ""
    yield from _facts(manifest)
    yield ""
    yield from (f"- {note}" for note in (*_GENERAL, *manifest.notes))
    yield "\n## Files\n"
    yield "| file | table | rows | bytes |"
    yield "|---|---|---:|---:|"
    for file in manifest.files:
        yield f"| `{file.path}` | {file.table} | {file.n_rows} | {file.n_bytes} |"
    for table in tables:
        yield f"\n## {table.place}\n"
        yield f"{table.meaning}\n"
        yield "| column | type | unit | meaning |"
        yield "|---|---|---|---|"
        for column in table.columns:
            yield f"| `{column.name}` | {column.type.lower()} | {column.unit} | {_cell(column.meaning)} |"


UNKNOWN = "An empty value is unknown; it is never a missing service."
INTERVALS = (
    "A figure that is estimated has a 95 % interval from `low` to `high`: about 95 of 100 such intervals "
    "contain the true value, and about 5 do not. Cite the figure with both ends."
)
HARD_BOUNDS = (
    "Other columns with `low` and `high` are hard bounds of what was polled: the true value certainly lies "
    "between them. The meaning of a column says which of the two it is."
)
_GENERAL = (
    UNKNOWN,
    INTERVALS,
    HARD_BOUNDS,
    "`sha256sum --check SHA256SUMS` tells whether the files arrived as they were sent.",
    "`manifest.json` says the same as this page, and the rest, for programs.",
)


def _facts(manifest: Manifest) -> Iterator[str]:
    coverage = manifest.coverage
    yield f"- Format: {manifest.format}. Service dates: {manifest.first_date} to {manifest.last_date}."
    yield f"- Publisher: {manifest.publisher}. Licence: {manifest.licence}."
    yield f"- Instants are UTC; the operator's local time is {manifest.timezone}."
    if coverage.get("share") is not None:
        yield f"- {coverage['share']:.1%} {SEEN[coverage['of']]}."
    if coverage.get("estimated_on_time_share_width") is not None:
        yield (
            "- The share on time of all passages due, seen or not, is estimated: its 95 % interval is "
            f"{points(coverage['estimated_on_time_share_width'])} wide."
        )
    if coverage.get("on_time_share_width") is not None:
        yield (
            "- What the polls alone prove leaves it open within "
            f"{points(coverage['on_time_share_width'])}, "
            f"and a delay within {coverage['delay_width_seconds'] or 0:.0f} seconds on average."
        )
    versions = ", ".join(f"{name} {_listed(value)}" for name, value in manifest.versions.items())
    yield f"- Versions: {versions}."


def _listed(value: object) -> str:
    return str(value).strip("[]")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
