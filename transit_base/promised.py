"""Names the schemas of the warehouse, and says which of them analysts are promised."""

from collections.abc import Iterable
from difflib import get_close_matches

SCHEMAS = ("core", "marts", "quality", "headline")  # names without a schema are searched in this order
NAMED = "named"  # the same tables once more, with names after codes; made when the warehouse is published
LISTED = ("headline", "core", "marts", "quality", NAMED)
DETAIL_FOLDER = "transit_detail_folder"  # variable of DuckDB: where the files of detail were moved to
RECENT = "recent_"  # begins the schemas of the rows that a table with files of detail has in the file itself
WORKING = "intermediate"  # the working tables of a build, promised to nobody
# The working tables that are published all the same: those that the timetable feed is made of, and the
# lake files, by which two published files are compared.
EXPORTED_WORKING = tuple(
    f"{WORKING}.{name}" for name in ("built_files", "leg_stops", "line_travel_times", "scheduled_calls")
)


def hint_at(name: str, places: Iterable[str]) -> str:
    """Return the end of a message that no table has this name: those with one like it, or where to look.

    `places` are the names of the tables with their schemas. A name that several of them have is told once, of
    the first of LISTED.
    """
    rank = {schema: number for number, schema in enumerate(LISTED)}
    by_name: dict[str, str] = {}
    for place in sorted(places, key=lambda each: rank.get(each.partition(".")[0], len(rank))):
        by_name.setdefault(place.partition(".")[2], place)
    near = [by_name[each] for each in get_close_matches(name.rpartition(".")[2], by_name, n=2)]
    return f": is it {' or '.join(near)}?" if near else "; transit-etl tables lists them"


def original_schema(schema: str) -> str:
    """Return the schema that another is made like: `marts` for `marts_ruleset_2`, `core` for `recent_core`.

    Any other schema is its own.
    """
    built = (*SCHEMAS, WORKING)
    if schema.removeprefix(RECENT) in built:
        return schema.removeprefix(RECENT)
    return next((each for each in built if schema.startswith(f"{each}_")), schema)
