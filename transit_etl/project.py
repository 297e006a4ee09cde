"""Finds the project from anywhere: the folder of its settings file, from which relative paths start."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from transit_etl.paths import user_folder

TOML, DOTENV, OPERATORS = "transit-etl.toml", ".env", "operators.toml"
INSTALLED_IN = Path(__file__).resolve().parents[1]  # a checkout, or where a wheel was unpacked


def project_folder(given: str | None = None) -> Path:
    """Return the folder given, or else the nearest one above the working directory that is a project.

    That is a folder with a `transit-etl.toml`, or a checkout. Where there is none, it is the checkout that
    this package is in, or the user's folder of settings if it holds a `transit-etl.toml`, or else the
    working directory.
    """
    if given:
        return Path(given).absolute()
    here = Path.cwd()
    return next(folder for folder in _candidates(here) if _is_project(folder) or folder == here)


def settings_files(project: Path) -> list[Path]:
    """List the files that hold settings, the one that has the last word first."""
    return [path for name in (DOTENV, TOML) if (path := project / name).is_file()]


def operator_tables(project: Path) -> dict[str, dict[str, Any]]:
    """Read the settings of each operator of a project that names several; none without an `operators.toml`.

    ValueError, which names the file, if it is not TOML, or holds anything but a table for each operator.
    """
    path = project / OPERATORS
    if not path.is_file():
        return {}
    found = read_toml(path)
    stray = sorted(name for name, table in found.items() if not isinstance(table, dict))
    if stray:
        raise ValueError(
            f"{path}: {', '.join(stray)}: write it into the table of an operator, such as [bari]"
        )
    return found


def read_toml(path: Path) -> dict[str, Any]:
    """Read names and values; ValueError, which names the file, if it is not TOML."""
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error


def _candidates(here: Path) -> Iterator[Path]:
    yield from (folder for folder in (here, *here.parents) if _is_project(folder))
    yield INSTALLED_IN
    settings = user_folder("XDG_CONFIG_HOME", ".config")
    if settings is not None:
        yield settings
    yield here


def is_checkout(folder: Path) -> bool:
    """Tell whether a folder is a checkout of this project."""
    return (folder / "pyproject.toml").is_file() and (folder / "transit_etl" / "settings.py").is_file()


def _is_project(folder: Path) -> bool:
    return is_checkout(folder) or (folder / TOML).is_file()
