"""Names the schemas of the warehouse, and says which of them analysts are promised."""

SCHEMAS = ("core", "marts", "quality", "headline")  # names without a schema are searched in this order
NAMED = "named"  # the same tables once more, with names after codes; made when the warehouse is published
LISTED = ("headline", "core", "marts", "quality", NAMED)
DETAIL_FOLDER = "transit_detail_folder"  # variable of DuckDB: where the files of detail were moved to
RECENT = "recent_"  # begins the schemas of the rows that a table with files of detail has in the file itself
WORKING = "intermediate"  # the working tables of a build, promised to nobody
# The working tables that are published all the same: the timetable feed is made of them.
EXPORTED_WORKING = tuple(
    f"{WORKING}.{name}" for name in ("leg_stops", "line_travel_times", "scheduled_calls")
)


def original_schema(schema: str) -> str:
    """Return the schema that another is made like: `marts` for `marts_ruleset_2`, `core` for `recent_core`.

    Any other schema is its own.
    """
    built = (*SCHEMAS, WORKING)
    if schema.removeprefix(RECENT) in built:
        return schema.removeprefix(RECENT)
    return next((each for each in built if schema.startswith(f"{each}_")), schema)
