"""Says where every file lives below the data folder, and where the project's own rules and models are."""

from datetime import date, datetime
from pathlib import Path

RAW_SUFFIX = ".jsonl.zst"


def part_of_project(name: str) -> Path:
    """Return the folder `sql` or `expectations`: beside the package in a checkout, inside it in a wheel."""
    package = Path(__file__).resolve().parent
    beside = package.parent / name
    return beside if (package.parent / "pyproject.toml").exists() else package / name


def window_name(started_at: datetime, endpoint: str, worker: str) -> str:
    """Name the window a worker opens for an endpoint: sortable by time, unique over datasets."""
    return f"{started_at:%Y%m%dT%H%M%SZ}-{endpoint}-{worker}"


def raw_file(data_dir: Path, operator: str, endpoint: str, day: date, window: str) -> Path:
    """Return the raw file of a window; `day` is the UTC day of receipt."""
    return (
        data_dir / "raw" / f"operator={operator}" / f"endpoint={endpoint}"
        / f"date={day.isoformat()}" / f"{window}{RAW_SUFFIX}"
    )  # fmt: skip


def raw_parts(path: Path) -> dict[str, str]:
    """Read operator, endpoint, date and window back from a raw file's path."""
    parts = dict(folder.split("=", 1) for folder in path.parts if "=" in folder)
    return {**parts, "window": path.name.removesuffix(RAW_SUFFIX)}


def lake_file(data_dir: Path, operator: str, dataset: str, day: date, window: str) -> Path:
    """Return the lake file of a window: the raw file's day and stem, one dataset further."""
    return _dataset_day(data_dir / "lake", operator, dataset, day) / f"{window}.parquet"


def lake_glob(data_dir: Path, dataset: str) -> Path:
    """Return the pattern that matches every lake file of a dataset, of every operator and day."""
    return data_dir / "lake" / "operator=*" / f"dataset={dataset}" / "date=*" / "*.parquet"


def quarantine_file(data_dir: Path, operator: str, dataset: str, day: date, window: str) -> Path:
    """Return the file that holds the rows of a window that broke a rule."""
    return _dataset_day(data_dir / "quarantine", operator, dataset, day) / f"{window}.parquet"


def build_database(data_dir: Path) -> Path:
    """Return the database that builds write; analysts never open it."""
    return data_dir / "warehouse" / "build.duckdb"


def published_database(data_dir: Path) -> Path:
    """Return the database that analysts open; it is only ever replaced whole."""
    return data_dir / "warehouse" / "warehouse.duckdb"


def state_dir(data_dir: Path) -> Path:
    """Return the folder of what may be lost: the budget's store, marks of what was built."""
    return data_dir / "state"


def reports_dir(data_dir: Path) -> Path:
    """Return the folder of pages to look at."""
    return data_dir / "reports"


def _dataset_day(root: Path, operator: str, dataset: str, day: date) -> Path:
    return root / f"operator={operator}" / f"dataset={dataset}" / f"date={day.isoformat()}"
