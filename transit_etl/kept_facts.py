"""Keeps small facts that outlive a process, each in a JSON file; one that is lost or damaged is unknown."""

from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from transit_base.files import named_in_errors, write_text
from transit_base.listing import pass_over

Fact = TypeVar("Fact")


def recall(path: Path, shape: TypeAdapter[Fact]) -> Fact | None:
    """Return the fact that a file keeps; None if there is none that can be read."""
    try:
        with named_in_errors(path):
            return shape.validate_json(path.read_bytes())
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        if not pass_over(path, error):
            raise
        return None


def keep(path: Path, shape: TypeAdapter[Fact], fact: Fact) -> None:
    """Replace what a file keeps, in one step."""
    write_text(path, shape.dump_json(fact).decode())
