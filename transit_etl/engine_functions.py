"""The functions of models and staging that are written in SQL: `sql/engines` has a file for each engine."""

import re
from collections.abc import Iterable

from transit_base.installed import part_of_project


def function_statements(engine: str) -> dict[str, str]:
    """Return the statements that create the functions in `duckdb` or `spark`, by name, as the file has them.

    Those that a function calls stand before it.
    """
    path = part_of_project("sql") / "engines" / f"{engine}.sql"
    statements = path.read_text(encoding="utf-8").rstrip().removesuffix(";").split(";\n\n")
    return {re.findall(r"^create or replace \w+ (\w+)\(", each, re.MULTILINE)[0]: each for each in statements}


def called_functions(queries: Iterable[str]) -> list[str]:
    """Return the statements that create the functions which queries call in DuckDB, in their order there."""
    called, statements = "\n".join(queries), []
    for name, statement in reversed(function_statements("duckdb").items()):
        if re.search(rf"\b{name}\(", called):
            called += statement
            statements.append(statement)
    return statements[::-1]
