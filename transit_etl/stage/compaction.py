"""Merges a closed day's windows into one file per dataset."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from transit_base.files import repair_folder, replace_folder, replacement_of
from transit_base.listing import passing_over
from transit_etl.identity import claim
from transit_etl.lake_reading import UNREADABLE, windows_of
from transit_etl.lake_schemas import DATASETS, IN_ORDER_OF_WRITING, older_schema
from transit_etl.paths import DAY_STEM, lake_file, lake_files, operators_on
from transit_etl.settings import FolderSettings
from transit_etl.stage.lake import day_lock, staged_windows, write_table

# Columns that a merged file is sorted by. The sort is stable, so rows of one answer keep their order.
_SORT_KEYS = {"requests": ("planned_at", "request_id"), "validation_results": ("window",)}
_ANSWER_KEYS = ("received_at", "request_id")


def compact(settings: FolderSettings, day: date) -> int:
    """Merge a closed UTC day's staged windows into one file per dataset; return how many files were merged.

    Rows do not change. Windows staged later are merged by the next call. Running it again changes nothing,
    and finishes or clears away what a killed run left. An operator of which a file cannot be read is an error
    once those of the others are merged.
    """
    claim(settings)
    merged = 0
    with passing_over() as unlisted:
        operators = operators_on(settings.data_dir, day)
    errors: list[Exception] = list(unlisted.values())
    for operator in operators:
        try:
            with day_lock(settings.data_dir, operator, day):
                merged += compact_operator(settings.data_dir, operator, day)
        except UNREADABLE as error:
            errors.append(error)
    if errors:
        raise errors[0]
    return merged


def compact_operator(data_dir: Path, operator: str, day: date) -> int:
    """Merge one operator's day below a data folder; the caller holds its lock. Return the number of files."""
    staged = staged_windows(data_dir, operator, day)
    # Until the merged `requests` list a window, its own file marks it as staged; so `requests` come last.
    return sum(_compact_folder(data_dir, operator, name, day, staged) for name in IN_ORDER_OF_WRITING)


def _compact_folder(data_dir: Path, operator: str, dataset: str, day: date, staged: set[str]) -> int:
    target = lake_file(data_dir, operator, dataset, day, DAY_STEM)
    folder = target.parent
    repair_folder(folder)
    # The window of a file that is not marked as staged is incomplete: staging will write it again.
    files = [
        path
        for path in lake_files(data_dir, dataset, operator, day)
        if path.stem in staged or path.stem == DAY_STEM
    ]
    if not files or [path.stem for path in files] == [DAY_STEM]:
        return 0
    write_table(replacement_of(folder) / target.name, _merged(files, dataset), sorted(windows_of(files)))
    replace_folder(replacement_of(folder), folder)
    return len(files)


def _merged(files: Sequence[Path], dataset: str) -> pa.Table:
    tables = [_with_added_columns(pq.read_table(path, partitioning=None), dataset) for path in files]
    return pa.concat_tables(tables).sort_by(
        [(key, "ascending") for key in _SORT_KEYS.get(dataset, _ANSWER_KEYS)]
    )


def _with_added_columns(table: pa.Table, dataset: str) -> pa.Table:
    """Return a table under the columns of its dataset; those that an older version lacked are null."""
    schema = DATASETS[dataset]
    if table.schema.equals(older_schema(dataset)):
        table = pa.concat_tables([schema.empty_table(), table], promote_options="default")
    return table.cast(schema)
