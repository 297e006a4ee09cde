"""Two operators in one warehouse: nothing of one is changed by the other, whatever codes they share."""

import shutil
from pathlib import Path

import duckdb
import pytest

from benchmarks.engines import compare_builds
from benchmarks.repeated_days import copy_rows
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

    def changed(column: str, kind: str) -> str | None:
        name = quoted_name(column)
        if kind.startswith("TIMESTAMP"):
            return f"{name} + interval {MINUTES_WEST} minute"
        if column == "draws":  # whom the audit draws depends on the operator's name
            return "cast(null as varchar)"
        if column in {"request_id", "window"}:
            return f"{sql_text(other)} || {name}"
        return sql_text(other) if column == "operator" else None

    for dataset in DATASETS:
        kept = f"hash(request_id) % 100 < {100 * KEPT_SHARE}" if dataset == "passages" else "true"
        for path in paths.lake_files(data, dataset, operator):
            copy = Path(str(path).replace(f"operator={operator}/", f"operator={other}/"))
            copy_rows(str(path), copy, changed, kept)
