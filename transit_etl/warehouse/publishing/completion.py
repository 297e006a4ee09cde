"""Completes the file to publish, so that it is enough by itself: described, and with names after codes."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import duckdb

from transit_base.promised import NAMED, RECENT, original_schema
from transit_base.quoting import sql_text
from transit_etl.identity import ServiceDays, service_days
from transit_etl.queries import query
from transit_etl.settings import BuildSettings, Engine, FolderSettings
from transit_etl.warehouse.building import dbt
from transit_etl.warehouse.building.operators import record_operators
from transit_etl.warehouse.database import open_to_write
from transit_etl.warehouse.describing.contract import CONTRACT_VERSION
from transit_etl.warehouse.describing.dbt_manifest import Manifest
from transit_etl.warehouse.describing.dictionary import (
    ColumnEntry,
    Dictionary,
    FoundColumn,
    TableEntry,
    create_tables,
    found_columns,
    read_dictionary,
    write_dictionary,
)

# What is shown after a code: the table with the names, its column of the code, the names, and their prefix.
_NAMES_OF = {
    "line_code": ("core.latest_lines", "line_code", ("line_number", "line_name"), ""),
    "stop_code": ("core.stops", "stop_code", ("stop_name", "latitude", "longitude"), ""),
    "from_stop_code": ("core.stops", "stop_code", ("stop_name", "latitude", "longitude"), "from_"),
    "to_stop_code": ("core.stops", "stop_code", ("stop_name", "latitude", "longitude"), "to_"),
}
_MACROS = {
    "macro seconds_between": "Seconds from one instant to another, with their fraction.",
    "macro add_seconds": "An instant moved by a number of seconds.",
    "macro local_time": "The local time of an operator, which need not be named if single, at a UTC instant.",
    "macro service_date": (
        "The service date of an operator, which need not be named if single, that a UTC instant belongs to."
    ),
    "macro table on_time_share": (
        "One row per operator, service_date, line_code, direction and service_hour: visits, and the shares "
        "of them that are on time where a delay from `early` to `late` seconds is. Counts add up, not shares."
    ),
    "macro table punctuality_between": (
        "One row per operator and value of `key`, an expression of line_code, direction, service_date and "
        "service_hour: punctuality on the service dates from `from_date` to `to_date`, with intervals."
    ),
    "macro table stop_punctuality_between": (
        "One row per operator and stop_code: punctuality of the passages at the stop on the service dates "
        "from `from_date` to `to_date`, with intervals."
    ),
    "macro table rulesets_between": (
        "One row per operator, ruleset and value of `key`, an expression of line_code, direction and "
        "service_date: every ruleset side by side on the service dates from `from_date` to `to_date`."
    ),
    "macro table direction_names": (
        "One row per operator, line_code and direction: `line`, the public number, and `towards`, the place "
        "that its buses show."
    ),
    "macro table network_waits_between": (
        "One row per operator with frequent service: waits on the service dates from `from_date` to "
        "`to_date`, with intervals."
    ),
    "macro table line_waits_between": (
        "One row per operator, line_code and direction with frequent service: waits on the service dates "
        "from `from_date` to `to_date`, with intervals."
    ),
    "macro table stop_waits_between": (
        "One row per operator, stop_code, line_code and direction with frequent service: waits on the "
        "service dates from `from_date` to `to_date`, with intervals."
    ),
    "macro table travel_times_between": (
        "One row per operator, line_code, direction and two stops: how long buses took between them on the "
        "service dates from `from_date` to `to_date`, with intervals."
    ),
    "macro table predictions_between": (
        "One row per operator, value of `key` (an expression of line_code, service_date and service_hour) "
        "and horizon bucket: how accurate predictions were from `from_date` to `to_date`, with intervals."
    ),
}
_RELATIONS = """
select 'table', schema_name, table_name from duckdb_tables() where database_name = current_database()
union all
select 'view', schema_name, view_name from duckdb_views()
where database_name = current_database() and not internal
"""
_COLUMNS = """
select schema_name, table_name, column_name from duckdb_columns()
where database_name = current_database() and not internal
"""
_PUBLICATION = """
create or replace table quality.publication as
select
    ?::uuid as publication_id, ?::timestamp as published_at, ? as version, ? as contract_version,
    builds.build_number, builds.fingerprint,
    operators.operator, operators.timezone, operators.service_day_cutoff,
    days.first_date, days.last_date, requests.last_received_at, files.n_lake_files, files.lake_bytes,
    rulesets.rulesets
from (from quality.builds where outcome = 'passed' order by build_number desc limit 1) as builds
cross join (
    select min(service_date) as first_date, max(service_date) as last_date from core.service_days
) as days
cross join (select max(received_at) as last_received_at from core.requests) as requests
left join quality.operators on (select count(*) = 1 from quality.operators)
cross join (
    select count(*) as n_lake_files, sum(size_bytes)::bigint as lake_bytes from intermediate.built_files
) as files
cross join (
    select list(distinct rulesets.ruleset_version order by rulesets.ruleset_version) as rulesets
    from core.service_days
    left join quality.operators using (operator)
    cross join core.rulesets as rulesets
    where coalesce(
        rulesets.ruleset_version = operators.ruleset_version,
        service_date >= rulesets.valid_from_date and service_date < rulesets.valid_to_date
    )
) as rulesets
"""
_SAYS_WHO_MADE_IT = """
select 1 from duckdb_columns()
where schema_name = 'quality' and table_name = 'publication' and column_name = 'fingerprint'
"""
_MADE_BY = "select version, fingerprint from quality.publication"
_LOCAL_TIME = "timezone({zone}, timezone('UTC', instant))"
_SERVICE_DATE = f"cast({_LOCAL_TIME} - interval '{{cutoff}}' as date)"


def complete(
    path: Path, settings: BuildSettings, identity: str, built: Collection[FoundColumn], manifest: Manifest
) -> Dictionary:
    """Complete a file in place; return the dictionary of what it holds and of the working tables built.

    Statements about the file tell its publication by its identity. The manifest says what the models mean.
    """
    with open_to_write(path) as connection:
        connection.begin()
        record_operators(connection, settings)
        _write_publication(connection, settings, identity)
        create_tables(connection)
        dictionary = read_dictionary({*built, *found_columns(connection)}, manifest)
        _create_macros(connection, service_days(settings))
        dictionary = _create_named_views(connection, dictionary)
        write_dictionary(connection, dictionary)
        _comment(connection, dictionary)
        connection.commit()
        connection.execute("checkpoint")
    return dictionary


def outdated(settings: BuildSettings) -> str | None:
    """Say who made the published file and what to do, where other models than those installed did.

    Until they have built it, it may lack tables and columns that commands of this version read. The engine
    does not matter. NotPublishedError if there is no file.
    """
    says_so = query(settings, _SAYS_WHO_MADE_IT).num_rows > 0  # one of an older version may not
    made_by = query(settings, _MADE_BY).to_pylist()[0] if says_so else {"version": "?", "fingerprint": None}
    ours = version("transit-etl")
    if made_by["version"] != ours:
        who = f"version {made_by['version']}, this is {ours}"
    elif made_by["fingerprint"] not in _installed_models(settings):
        who = "other models than those of this version"
    else:
        return None
    return f"the published warehouse was made by {who}: run `transit-etl build` and `transit-etl publish`"


def _installed_models(settings: BuildSettings) -> set[str]:
    """Return the fingerprints of the models that are installed, as built by each engine."""
    return {dbt.fingerprint(settings.model_copy(update={"build_target": engine})) for engine in Engine}


def _write_publication(
    connection: duckdb.DuckDBPyConnection, settings: FolderSettings, identity: str
) -> None:
    now = settings.clock.now().replace(tzinfo=None)
    connection.execute(_PUBLICATION, [identity, now, version("transit-etl"), CONTRACT_VERSION])


def _create_macros(connection: duckdb.DuckDBPyConnection, operators: Mapping[str, ServiceDays]) -> None:
    """Create the macros; those on local time take an operator, or of a single one the instant alone."""
    for name, expression in (("local_time", _LOCAL_TIME), ("service_date", _SERVICE_DATE)):
        of_each = {
            operator: expression.format(zone=sql_text(days.timezone), cutoff=days.service_day_cutoff)
            for operator, days in operators.items()
        }
        cases = " ".join(f"when {sql_text(each)} then {sql}" for each, sql in of_each.items())
        needs = f"{name}(instant, operator): the file has {len(operators)} operators"
        alone = next(iter(of_each.values())) if len(of_each) == 1 else f"error({sql_text(needs)})"
        connection.execute(
            f"create or replace macro {name}(instant) as {alone}, "
            f"(instant, of_operator) as case of_operator {cases} end"
        )
    connection.execute(files("transit_etl.warehouse").joinpath("sql", "on_time_share.sql").read_text("utf-8"))
    found = connection.execute("select function_name from duckdb_functions() where not internal").fetchall()
    for macro, meaning in _MACROS.items():
        if (macro.rpartition(" ")[2],) in found:  # an older build lacks those of newer models
            connection.execute(f"comment on {macro} is {sql_text(meaning)}")


def _create_named_views(connection: duckdb.DuckDBPyConnection, dictionary: Dictionary) -> Dictionary:
    """Create a view `named.x` of every table x of core and marts with codes: the same rows, with names.

    Return the dictionary with these views.
    """
    connection.execute(f"create schema if not exists {NAMED}")
    tables: list[TableEntry] = []
    described = _entries_of_names(dictionary)
    for table in dictionary.tables:
        columns = {each.column_name: each for each in dictionary.columns_of(table)}
        place = f"{table.schema_name}.{table.table_name}"
        is_named = any(place == names[0] for names in _NAMES_OF.values())
        if table.schema_name in ("core", "marts") and columns.keys() & _NAMES_OF.keys() and not is_named:
            connection.execute(_named_view(table.table_name, place, [*columns]))
            meaning = f"{table.meaning} With names of lines and stops."
            tables.append(replace(table, schema_name=NAMED, meaning=meaning, is_promised=False))
            described |= {(table.table_name, name): entry for name, entry in columns.items()}
    views = [
        replace(
            described.get((view, name)) or described["", name],
            schema_name=NAMED, table_name=view, column_number=number, column_name=name, type=kind.lower(),
        )
        for _, view, name, kind, number in found_columns(connection, [NAMED])
    ]  # fmt: skip
    views.sort(key=lambda each: (each.table_name, each.column_number))
    return Dictionary([*dictionary.tables, *tables], [*dictionary.columns, *views])


def _entries_of_names(dictionary: Dictionary) -> dict[tuple[str, str], ColumnEntry]:
    """Return what describes each name that is shown after a code, of whatever table."""
    columns = {
        (f"{each.schema_name}.{each.table_name}", each.column_name): each for each in dictionary.columns
    }
    return {
        ("", prefix + name): columns[table, name]
        for table, _, names, prefix in _NAMES_OF.values()
        for name in names
        if (table, name) in columns  # an older build lacks tables of newer models
    }


def _named_view(name: str, place: str, columns: list[str]) -> str:
    selected: list[str] = []
    joins: list[str] = []
    for column in columns:
        selected.append(f'coded."{column}"')
        if column in _NAMES_OF:
            table, code, names, prefix = _NAMES_OF[column]
            shown = [each for each in names if prefix + each not in columns]
            selected += [f"{column}_names.{each} as {prefix}{each}" for each in shown]
            joins.append(
                f"left join {table} as {column}_names "
                f"on coded.operator = {column}_names.operator and coded.{column} = {column}_names.{code}"
            )
    return (
        f"create or replace view {NAMED}.{name} as select {', '.join(selected)} "
        f"from {place} as coded {' '.join(joins)}"
    )


def _comment(connection: duckdb.DuckDBPyConnection, dictionary: Dictionary) -> None:
    """Comment on every table, view and column; those of variants as their originals."""
    tables = {(each.schema_name, each.table_name): each.meaning for each in dictionary.tables}
    columns = {
        (each.schema_name, each.table_name, each.column_name): each.meaning for each in dictionary.columns
    }
    kinds = {(schema, name): kind for kind, schema, name in connection.execute(_RELATIONS).fetchall()}
    statements = []
    for (schema, name), kind in kinds.items():
        original = original_schema(schema)
        meaning = tables.get((original, name), "")
        if schema.startswith(RECENT):
            meaning = f"{meaning} Only its newest months: {original}.{name} has all."
        statements.append(f'comment on {kind} "{schema}"."{name}" is {sql_text(meaning)}')
    for schema, name, column in connection.execute(_COLUMNS).fetchall():
        meaning = columns.get((original_schema(schema), name, column), "")
        statements.append(f'comment on column "{schema}"."{name}"."{column}" is {sql_text(meaning)}')
    connection.execute(";\n".join(statements))
