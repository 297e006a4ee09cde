"""The command `diff`: what changed between two published files, and why."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transit_etl.cli import output
from transit_etl.cli.options import Format, Json
from transit_etl.settings import load_settings

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_SHOWN = 20  # rows of a part, where all parts are shown


class Part(StrEnum):
    """What can be asked for alone."""

    PUBLICATIONS = "publications"
    COLUMNS = "columns"
    DATES = "dates"
    ROWS = "rows"
    FIGURES = "figures"
    LINES = "lines"


_TITLES = {
    Part.PUBLICATIONS: "the two files",
    Part.COLUMNS: "tables and columns",
    Part.DATES: "service dates, and what they were built from that differs",
    Part.ROWS: "rows by table and date",
    Part.FIGURES: "figures of the network by month, with the part of each cause",
    Part.LINES: "figures of lines by month, with the part of each cause",
}


def diff(  # noqa: PLR0917 - Typer passes options by name
    before: Annotated[Path, typer.Argument(help="A published file, such as a copy of an earlier one.")],
    after: Annotated[
        Path | None, typer.Argument(help="The later file; without it, that of the data folder.")
    ] = None,
    part: Annotated[Part | None, typer.Option("--part", help="Write this part alone, whole.")] = None,
    as_format: Annotated[Format | None, typer.Option("--format", "-f", help="How to write the rows.")] = None,
    to_file: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", dir_okay=False, help="Write into a file, in one step."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare two published files: which figures changed, and by which cause.

    A figure changes by new data, another ruleset or other models; where several of them changed for a date,
    their parts are not separated.

    Example: transit-etl diff earlier.duckdb
    """
    from transit_etl.cli.formats import chosen, write
    from transit_etl.cli.progress import spinner
    from transit_etl.paths import published_database
    from transit_etl.warehouse import compare

    form = chosen(Format.JSON if as_json else as_format, to_file)
    later = after or published_database(load_settings().data_dir)
    with spinner("comparing"):
        found = compare(before, later)
    for note in found.notes:
        output.print_error(note, is_failure=False)
    if part or to_file or form is not Format.TABLE:
        write(
            [found.parts[each] for each in ([part] if part else Part) if each in found.parts], form, to_file
        )
    else:
        _show(found.parts)


def _show(parts: "dict[str, pa.Table]") -> None:
    """Print the first rows of every part that has any."""
    from transit_etl.cli.formats import write

    shown = {each: parts[each] for each in Part if each in parts and parts[each].num_rows}
    for each, rows in shown.items():
        output.print_text(_TITLES[each])
        first = rows.slice(0, _MOST_SHOWN)
        with_values = [name for name in first.column_names if first[name].null_count < first.num_rows]
        write([first.select(with_values)], Format.TABLE, None)
        if rows.num_rows > _MOST_SHOWN:
            output.print_text(f"the first {_MOST_SHOWN} of {rows.num_rows}: --part {each} shows all")
    if shown.keys() == {Part.PUBLICATIONS}:
        output.print_text("nothing else differs")
