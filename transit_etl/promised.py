"""Names the schemas of the warehouse, and says which of them analysts are promised."""

SCHEMAS = ("core", "marts", "quality", "headline")  # names without a schema are searched in this order
NAMED = "named"  # the same tables once more, with names after codes; made when the warehouse is published
LISTED = ("headline", "core", "marts", "quality", NAMED)
WORKING = "intermediate"  # the working tables of a build, promised to nobody
# The working tables that are published all the same: the timetable feed is made of them.
EXPORTED_WORKING = tuple(
    f"{WORKING}.{name}" for name in ("leg_stops", "line_travel_times", "scheduled_calls")
)


def original_schema(schema: str) -> str:
    """Return the schema that a variant's schema is made like (`marts` for `marts_ruleset_2`), else itself."""
    built = (*SCHEMAS, WORKING)
    return next((each for each in built if schema.startswith(f"{each}_")), schema)
