"""Finds what is installed with the packages and is no code: models, seeds, expectations."""

from pathlib import Path


def part_of_project(name: str) -> Path:
    """Return the folder `sql` or `expectations`: beside the packages in a checkout, in `transit_etl` else."""
    beside = Path(__file__).resolve().parents[1]
    return beside / name if (beside / "pyproject.toml").exists() else beside / "transit_etl" / name
