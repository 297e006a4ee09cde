"""The profile of the build lets dbt open further connections after DuckDB has moved rows out of memory."""

import re
from pathlib import Path

import yaml
from dbt.adapters.duckdb.credentials import DuckDBCredentials
from dbt.adapters.duckdb.environments.local import LocalEnvironment

from transit_etl.warehouse.describing.dbt_manifest import PROJECT


def test_a_connection_opens_after_another_has_moved_rows_out_of_memory(tmp_path: Path) -> None:
    text = (PROJECT / "profiles.yml").read_text(encoding="utf-8")
    set_here = {"BUILD_PROCESSORS": "2", "BUILD_MEMORY": "60%"}
    text = re.sub(
        r"\"\{\{ env_var\('(\w+)'.*?\}\}\"",
        lambda found: set_here.get(found[1], f"{tmp_path}/{found[1].lower()}"),
        text,
    )
    profile = {**yaml.safe_load(text)["transit"]["outputs"]["build"], "database": "build_database"}
    environment = LocalEnvironment(DuckDBCredentials.from_dict({**profile, "threads": 1}))
    cursor = environment.handle().cursor()  # type: ignore[no-untyped-call]
    cursor.execute("set memory_limit = '50MB'")
    cursor.execute("create temp table large as select hash(n) as value from range(20000000) as numbers(n)")
    assert any((tmp_path / "build_scratch").iterdir())

    environment.handle().cursor().execute("select 1")  # type: ignore[no-untyped-call]
