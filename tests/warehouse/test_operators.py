"""Two operators in one warehouse: nothing of one is changed by the other, whatever codes they share."""

import shutil
from pathlib import Path

import duckdb
import pytest

from benchmarks.engines import compare_builds
from tests.warehouse.rehearsed import Rehearsed
from transit_etl import paths, warehouse
from transit_etl.lake_schemas import DATASETS
from transit_etl.quoting import quoted_name, sql_text

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("warehouse")]
# The other operator is far west, and answers less often.
MINUTES_WEST = 437
KEPT_SHARE = 0.8


@pytest.mark.timeout(900)
def test_the_figures_of_an_operator_are_those_of_a_warehouse_with_it_alone(
    rehearsed: Rehearsed, tmp_path: Path
) -> None:
    alone = rehearsed.settings.data_dir
    both = rehearsed.settings.model_copy(update={"data_dir": tmp_path / "data"})
    for name in ("lake", "raw"):
        shutil.copytree(alone / name, both.data_dir / name)
    _add_operator(both.data_dir, rehearsed.settings.operator, "other")
    warehouse.build(both)

    compared = list(compare_builds(alone, both.data_dir, rehearsed.settings.operator))

    assert {} == {each.table: each.differences for each in compared if each.differences}
    assert sum(each.n_rows for each in compared) > 10_000
    with duckdb.connect(paths.build_database(both.data_dir), read_only=True) as connection:
        rows = connection.execute("select operator, count(*) from core.stop_visits group by all").fetchall()
    assert {"other", rehearsed.settings.operator} == {
        operator for operator, n_visits in rows if n_visits > 100
    }


def _add_operator(data: Path, operator: str, other: str) -> None:
    """Write an operator's rows into the lake once more as another's, later by hours, and fewer of them."""
    for dataset in DATASETS:
        for path in paths.lake_files(data, dataset, operator):
            copy = Path(str(path).replace(f"operator={operator}/", f"operator={other}/"))
            copy.parent.mkdir(parents=True, exist_ok=True)
            duckdb.execute(_of_other(path, copy, other))


def _of_other(path: Path, copy: Path, other: str) -> str:
    rows = f"read_parquet({sql_text(str(path))}, hive_partitioning = false)"
    selected = []
    for column, kind, *_ in duckdb.execute(f"describe from {rows}").fetchall():
        name = quoted_name(column)
        if kind.startswith("TIMESTAMP"):
            selected.append(f"{name} + interval {MINUTES_WEST} minute as {name}")
        elif column == "draws":  # whom the audit draws depends on the operator's name
            selected.append(f"cast(null as varchar) as {name}")
        elif column in {"request_id", "window"}:
            selected.append(f"{sql_text(other)} || {name} as {name}")
        else:
            selected.append(f"{sql_text(other)} as {name}" if column == "operator" else name)
    kept = f"where hash(request_id) % 100 < {100 * KEPT_SHARE}" if "/dataset=passages/" in str(path) else ""
    copied = f"select {', '.join(selected)} from {rows} {kept}"
    return f"copy ({copied}) to {sql_text(str(copy))} (format parquet, compression zstd)"
