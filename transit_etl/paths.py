"""Says where every file lives below the data folder, and where the project's own rules and models are."""

import hashlib
import os
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path, PurePath

from transit_base.listing import files_below, listed, passing_over
from transit_base.stamps import stamp

RAW_SUFFIX = ".jsonl.zst"
DAY_STEM = "day"  # of the file that holds a compacted day
DETAIL = "detail"  # the folder of the Parquet files beside a published file
REHEARSAL_WORKER = "rehearsal"  # ends the names of the windows of a rehearsal
NO_OPERATOR = "none"  # of the lake files without rows that keep every dataset readable
_OPEN_SUFFIX = ".part"
_DATASET_FILES = ("operator=*", "dataset=*", "date=*", "*.parquet")  # below the lake, and quarantine
_INTENTS_SUFFIX = ".planned.part"


def misplaced_folders(data_dir: Path) -> list[Path]:
    """List the folders that stand where a file of ours belongs, sorted: a hand or a copy put them there."""
    single = (identity_file, checksum_list, build_database, published_database)
    places = (
        (raw_dir(data_dir), ("operator=*", "endpoint=*", "date=*", f"*{RAW_SUFFIX}")),
        (raw_dir(data_dir), ("operator=*", "endpoint=*", "date=*", f"*{_OPEN_SUFFIX}")),
        (lake_dir(data_dir), _DATASET_FILES),
        (quarantine_dir(data_dir), _DATASET_FILES),
        (state_dir(data_dir), ("*.json",)),
        (state_dir(data_dir), ("*.lock",)),
        (state_dir(data_dir), ("*-locks", "*.lock")),
    )
    found = [path for place in single if (path := place(data_dir)).is_dir()]
    with passing_over():
        for folder, patterns in places:
            found += files_below(folder, *patterns, are_folders=True)
    return sorted(found)


def misplaced_raw(data_dir: Path) -> list[Path]:
    """List the folders that stand where a raw file belongs, sorted."""
    return [path for path in misplaced_folders(data_dir) if path.is_relative_to(raw_dir(data_dir))]


def identity_file(data_dir: Path) -> Path:
    """Return the file that says whose answers a data folder holds, and how their service days are read."""
    return data_dir / "folder.json"


def identity_lock(data_dir: Path) -> Path:
    """Return the file whose lock is held by who changes what a data folder is."""
    return state_dir(data_dir) / "folder.lock"


def operators_of(data_dir: Path) -> list[str]:
    """List the operators of which there are raw or staged answers, sorted."""
    folders = (*listed(raw_dir(data_dir), "operator=*"), *listed(lake_dir(data_dir), "operator=*"))
    return sorted({partition_of(folder)["operator"] for folder in folders} - {NO_OPERATOR})


def partition_of(path: PurePath) -> dict[str, str]:
    """Read the parts of a path that its folders name, such as operator and date."""
    return dict(folder.split("=", 1) for folder in path.parts if "=" in folder)


# Raw: what was answered


def raw_dir(data_dir: Path) -> Path:
    """Return the folder of everything that was answered; nothing in it ever changes once it is finished."""
    return data_dir / "raw"


def window_name(started_at: datetime, endpoint: str, worker: str) -> str:
    """Name the window a worker opens for an endpoint: sortable by time, unique over datasets."""
    return f"{stamp(started_at)}-{endpoint}-{worker}"


def is_rehearsed(window: str) -> bool:
    """Tell whether a window, or the file of one, is of a rehearsal: on a virtual clock, of another time."""
    return window.partition(".")[0].endswith(f"-{REHEARSAL_WORKER}")


def raw_file(data_dir: Path, operator: str, endpoint: str, day: date, window: str) -> Path:
    """Return the raw file of a window; `day` is the UTC day of receipt."""
    folder = raw_dir(data_dir) / f"operator={operator}" / f"endpoint={endpoint}" / f"date={day.isoformat()}"
    return folder / f"{window}{RAW_SUFFIX}"


def raw_parts(path: Path) -> dict[str, str]:
    """Read operator, endpoint, date and window back from a raw file's path."""
    return {**partition_of(path), "window": path.name.removesuffix(RAW_SUFFIX)}


def open_raw_file(path: Path) -> Path:
    """Return the name of a raw file while it is written."""
    return path.with_name(path.name + _OPEN_SUFFIX)


def intents_file(path: Path) -> Path:
    """Return the file next to an open raw file that holds the requests about to be sent."""
    return path.with_name(path.name.removesuffix(RAW_SUFFIX) + _INTENTS_SUFFIX)


def finished_raw_file(path: Path) -> Path:
    """Return the final name of a raw file: of its own, of the open file's, or of the file of intents."""
    if path.name.endswith(_INTENTS_SUFFIX):
        return path.with_name(path.name.removesuffix(_INTENTS_SUFFIX) + RAW_SUFFIX)
    return path.with_name(path.name.removesuffix(_OPEN_SUFFIX))


def raw_files(
    data_dir: Path, operator: str = "*", endpoint: str = "*", day: date | None = None
) -> Iterator[Path]:
    """List the finished raw files, unordered: of every operator, endpoint or UTC day unless given."""
    return _raw_glob(data_dir, operator, endpoint, day, RAW_SUFFIX)


def open_raw_files(
    data_dir: Path, operator: str = "*", endpoint: str = "*", day: date | None = None
) -> Iterator[Path]:
    """List the raw files that are being written or were left so by a killed process."""
    return _raw_glob(data_dir, operator, endpoint, day, RAW_SUFFIX + _OPEN_SUFFIX)


def intents_files(data_dir: Path) -> Iterator[Path]:
    """List the files of intents, each of which has an open raw file, or lost it."""
    return _raw_glob(data_dir, "*", "*", None, _INTENTS_SUFFIX)


def _raw_glob(data_dir: Path, operator: str, endpoint: str, day: date | None, suffix: str) -> Iterator[Path]:
    days = "*" if day is None else day.isoformat()
    return files_below(
        raw_dir(data_dir), f"operator={operator}", f"endpoint={endpoint}", f"date={days}", f"*{suffix}"
    )


# Lake and quarantine: what was read from it


def lake_dir(data_dir: Path) -> Path:
    """Return the folder of the staged tables."""
    return data_dir / "lake"


def lake_file(data_dir: Path, operator: str, dataset: str, day: date, window: str) -> Path:
    """Return the lake file of a window: the raw file's day and stem, one dataset further."""
    return _dataset_day(lake_dir(data_dir), operator, dataset, day) / f"{window}.parquet"


def lake_glob(data_dir: Path, dataset: str, operator: str = "*", day: date | None = None) -> Path:
    """Return the pattern of the lake files of a dataset: of every operator and UTC day unless given."""
    folder = lake_dir(data_dir) / f"operator={operator}" / f"dataset={dataset}"
    return folder / f"date={day.isoformat() if day else '*'}" / "*.parquet"


def lake_files(data_dir: Path, dataset: str, operator: str = "*", day: date | None = None) -> list[Path]:
    """List the lake files of a dataset, sorted: of every operator and UTC day unless given."""
    pattern = lake_glob(data_dir, dataset, operator, day).relative_to(data_dir)
    return sorted(files_below(data_dir, *pattern.parts))


def all_lake_files(data_dir: Path, operator: str = "*", day: date | None = None) -> list[Path]:
    """List the lake files of every dataset, sorted: of every operator and UTC day unless given."""
    return lake_files(data_dir, "*", operator, day)


def lake_day(path: Path) -> tuple[str, date]:
    """Read the operator and the UTC day back from a lake file's path."""
    parts = partition_of(path)
    return parts["operator"], date.fromisoformat(parts["date"])


def operators_on(data_dir: Path, day: date) -> list[str]:
    """List the operators that have staged answers of a UTC day, sorted."""
    folders = listed(lake_dir(data_dir), "operator=*", "dataset=*", f"date={day.isoformat()}")
    names = {folder.parents[1].name.removeprefix("operator=") for folder in folders}
    return sorted(names - {NO_OPERATOR})


def quarantine_dir(data_dir: Path) -> Path:
    """Return the folder of the rows that broke a rule."""
    return data_dir / "quarantine"


def quarantine_file(data_dir: Path, operator: str, dataset: str, day: date, window: str) -> Path:
    """Return the file that holds the rows of a window that broke a rule."""
    return _dataset_day(quarantine_dir(data_dir), operator, dataset, day) / f"{window}.parquet"


def quarantine_files(data_dir: Path, operator: str = "*", day: date | None = None) -> list[Path]:
    """List the files of rows that broke a rule, sorted: of every operator and UTC day unless given."""
    days = day.isoformat() if day else "*"
    patterns = (f"operator={operator}", "dataset=*", f"date={days}", "*.parquet")
    return sorted(files_below(quarantine_dir(data_dir), *patterns))


def restaging_dir(data_dir: Path, operator: str, day: date) -> Path:
    """Return the data folder in which a day is staged again before it takes the old one's place."""
    return restaging_root(data_dir) / f"{operator}-{day.isoformat()}"


def restaging_root(data_dir: Path) -> Path:
    """Return the folder of the days that are staged again."""
    return data_dir / ".restage"


def _dataset_day(root: Path, operator: str, dataset: str, day: date) -> Path:
    return root / f"operator={operator}" / f"dataset={dataset}" / f"date={day.isoformat()}"


# Warehouse


def build_database(data_dir: Path) -> Path:
    """Return the database that builds write; analysts never open it."""
    return data_dir / "warehouse" / "build.duckdb"


def published_database(data_dir: Path) -> Path:
    """Return the database that analysts open; it is only ever replaced whole."""
    return data_dir / "warehouse" / "warehouse.duckdb"


def detail_dir(data_dir: Path) -> Path:
    """Return the folder of the Parquet files that belong to the published file, if it has any."""
    return published_database(data_dir).parent / DETAIL


def detail_files(data_dir: Path) -> list[Path]:
    """List the Parquet files that belong to the published file, or to the one before it, sorted."""
    return sorted(files_below(detail_dir(data_dir), "*", "*.parquet"))


# Exports: what people take away


def dictionary_dir(data_dir: Path) -> Path:
    """Return the folder of the data dictionary as pages, which is written with each publication."""
    return published_database(data_dir).parent / "dictionary"


def contract_dir(data_dir: Path) -> Path:
    """Return the folder of the data contract, which is written with each publication."""
    return published_database(data_dir).parent / "contract"


def exports_dir(data_dir: Path) -> Path:
    """Return the folder of the exported datasets, each a folder with a manifest."""
    return data_dir / "exports"


def older_exports_dir(data_dir: Path) -> Path:
    """Return the folder of earlier versions of exported datasets."""
    return data_dir / "exports-older"


def export_scratch_dir(data_dir: Path) -> Path:
    """Return the folder in which exported datasets are built."""
    return state_dir(data_dir).absolute() / "export-scratch"


def export_locks_dir(data_dir: Path) -> Path:
    """Return the folder of the locks of exported datasets."""
    return state_dir(data_dir) / "export-locks"


# State: what may be lost


def state_dir(data_dir: Path) -> Path:
    """Return the folder of what may be lost while nothing runs: it is made again."""
    return data_dir / "state"


def budget_database(credential: str, data_dir: Path) -> Path:
    """Return the SQLite database of the request budget of one upstream and token.

    It is the user's, so that all data folders share it; a user without a home has one in each data folder.
    """
    folder = user_folder("XDG_STATE_HOME", ".local/state") or state_dir(data_dir.absolute())
    return folder / f"budget-{hashlib.sha256(credential.encode()).hexdigest()[:16]}.sqlite"


def parsed_models() -> Path | None:
    """Return the user's file with what dbt knows of the models; None for a user without a home."""
    folder = user_folder("XDG_CACHE_HOME", ".cache")
    return folder / "partial_parse.msgpack" if folder else None


def user_folder(variable: str, default: str) -> Path | None:
    """Return the user's folder of a kind, by the variable of the XDG convention; None without a home."""
    given = os.environ.get(variable, "")
    if given.startswith("/"):
        return Path(given) / "transit-etl"
    try:
        return Path.home() / default / "transit-etl"
    except RuntimeError:
        return None


def alerts_file(data_dir: Path) -> Path:
    """Return the file that says which problems were told to whom."""
    return state_dir(data_dir) / "alerts.json"


def runs_file(data_dir: Path) -> Path:
    """Return the file that says which runs of Airflow failed or do not end."""
    return state_dir(data_dir) / "runs.json"


def durations_file(data_dir: Path) -> Path:
    """Return the file that says how long building and publishing took last."""
    return state_dir(data_dir) / "durations.json"


def publication_record(data_dir: Path) -> Path:
    """Return the file that says which files were published, with their checksums."""
    return state_dir(data_dir) / "published.json"


def checksum_lock(data_dir: Path) -> Path:
    """Return the file whose lock is held by who changes the checksum list."""
    return state_dir(data_dir) / "checksums.lock"


def schedules_file(data_dir: Path, operator: str) -> Path:
    """Return the file that says which scheduled times of an operator were read from the lists of stops."""
    return state_dir(data_dir) / f"schedules-{operator}.json"


def schedules_lock(data_dir: Path, operator: str) -> Path:
    """Return the file whose lock is held by who changes that one."""
    return state_dir(data_dir) / f"schedules-{operator}.lock"


def backups_file(data_dir: Path) -> Path:
    """Return the file that says when the data folder was backed up last, and where to."""
    return state_dir(data_dir) / "backup.json"


def restore_lock(data_dir: Path) -> Path:
    """Return the file whose lock is held by who restores a backup."""
    return state_dir(data_dir) / "restore.lock"


def machine_file(data_dir: Path) -> Path:
    """Return the file that names this data folder among those that share an object store."""
    return state_dir(data_dir) / "machine.json"


def last_sync_file(data_dir: Path) -> Path:
    """Return the file that says when the object store was compared with last, and how that ended."""
    return state_dir(data_dir) / "sync.json"


def store_state_dir(data_dir: Path, lake_url: str) -> Path:
    """Return the folder of what is known of one place in an object store."""
    return state_dir(data_dir) / f"store-{hashlib.sha256(lake_url.encode()).hexdigest()[:12]}"


def rehearsal_journal(data_dir: Path) -> Path:
    """Return the file that says which rehearsal a data folder holds, and until when it is done."""
    return state_dir(data_dir) / "rehearsal.json"


def query_history(data_dir: Path) -> Path:
    """Return the file that keeps what was typed into the console of queries."""
    return state_dir(data_dir) / "query-history"


def dbt_dir(data_dir: Path) -> Path:
    """Return the folder dbt works in."""
    return state_dir(data_dir) / "dbt"


def spark_dir(data_dir: Path) -> Path:
    """Return the folder in which a local session of Spark keeps its tables; a build makes them again."""
    return data_dir / "warehouse" / "spark"


def dbt_manifest(data_dir: Path) -> Path:
    """Return what dbt wrote about the models of its last run."""
    return dbt_dir(data_dir) / "target" / "manifest.json"


def dbt_run_results(data_dir: Path) -> Path:
    """Return what dbt wrote about each model of its last run."""
    return dbt_dir(data_dir) / "target" / "run_results.json"


def logs_dirs(data_dir: Path) -> list[Path]:
    """List the folders of logs that grow: those of dbt, and of the Airflow that `make up` starts."""
    return [dbt_dir(data_dir) / "logs", data_dir / "airflow" / "logs"]


def quality_results_dir(data_dir: Path, operator: str) -> Path:
    """Return the folder of the last validation of each dataset of an operator."""
    return state_dir(data_dir) / "quality" / operator


def warehouse_lock(data_dir: Path) -> Path:
    """Return the file whose lock a builder or publisher holds."""
    return state_dir(data_dir) / "warehouse.lock"


def lake_lock(data_dir: Path, operator: str, day: date) -> Path:
    """Return the file whose lock is held by who changes an operator's UTC day in the lake.

    The same day of each month has the same one, so that there are never more than 31 for an operator.
    """
    return _lake_locks(data_dir) / f"{operator}-{day:%d}.lock"


def quality_pages_lock(data_dir: Path) -> Path:
    """Return the file whose lock is held by who replaces the pages about data quality."""
    return _lake_locks(data_dir) / "quality-pages.lock"


def _lake_locks(data_dir: Path) -> Path:
    return state_dir(data_dir) / "lake-locks"


def checksum_list(data_dir: Path) -> Path:
    """Return the file that holds a checksum of every file of raw, lake and quarantine."""
    return data_dir / "checksums.jsonl"


# Reports


def reports_dir(data_dir: Path) -> Path:
    """Return the folder of pages to look at."""
    return data_dir / "reports"


def quality_pages_dir(data_dir: Path) -> Path:
    """Return the folder of the pages about data quality."""
    return reports_dir(data_dir) / "quality"


def models_dir(data_dir: Path) -> Path:
    """Return the folder of the page about the models, which each build writes if it changed."""
    return reports_dir(data_dir) / "models"


def performance_dir(data_dir: Path) -> Path:
    """Return the folder of the reports of periods, and of their index."""
    return reports_dir(data_dir) / "performance"
