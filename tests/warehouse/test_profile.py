"""The profile of the build lets dbt open further connections after DuckDB has moved rows out of memory."""

from pathlib import Path

import yaml
from dbt.adapters.duckdb.credentials import DuckDBCredentials
from dbt.adapters.duckdb.environments.local import LocalEnvironment
from dbt.config.renderer import ProfileRenderer
from dbt_common.context import set_invocation_context

from transit_etl.warehouse.models import PROJECT


def test_a_connection_opens_after_another_has_moved_rows_out_of_memory(tmp_path: Path) -> None:
    set_invocation_context(
        {
            "BUILD_DATABASE": str(tmp_path / "build.duckdb"),
            "BUILD_SCRATCH": str(tmp_path / "scratch"),
        }
    )
    profile = yaml.safe_load((PROJECT / "profiles.yml").read_text())["transit"]["outputs"]["build"]
    credentials = DuckDBCredentials.from_dict({**ProfileRenderer().render_data(profile), "database": "build"})
    environment = LocalEnvironment(credentials)
    cursor = environment.handle().cursor()  # type: ignore[no-untyped-call]
    cursor.execute("set memory_limit = '50MB'")
    cursor.execute("create temp table large as select hash(n) as value from range(20000000) as numbers(n)")
    assert any((tmp_path / "scratch").iterdir())

    environment.handle().cursor().execute("select 1")  # type: ignore[no-untyped-call]
