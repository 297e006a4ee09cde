"""Finds the lines that a user means by a code or a public number."""

from transit_base.errors import TransitError
from transit_etl.queries import query
from transit_etl.settings import FolderSettings

_CODES = """
select distinct line_code from core.lines
where lower(getvariable('line')) in (lower(line_code), lower(line_number))
order by line_code
"""


class NoLineError(TransitError):
    """The published file has no such line."""


def codes_of(settings: FolderSettings, line: str) -> list[str]:
    """Return the codes of the lines that have, or once had, this code or number; NoLineError if none has."""
    codes = [str(code) for code in query(settings, _CODES, {"line": line}).column("line_code").to_pylist()]
    if not codes:
        raise NoLineError(f"there is no line {line!r}; `core.latest_lines` has the lines")
    return codes
