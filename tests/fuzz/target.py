"""What a target is: an input that the project reads, what reads it, and how it is changed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.mutation import Mutate
from transit_base.errors import TransitError

START = datetime(2026, 11, 18, 7, tzinfo=UTC)  # of the rehearsal that the first inputs are taken from
NOW = START + timedelta(minutes=3)
DAY = START.date()


class UnclearError(AssertionError):
    """An error that is written for the user has no words, or more than one line."""


@dataclass(frozen=True)
class Target:
    """An input and what reads it.

    `check` gets the input and an empty folder; it raises nothing but the project's own errors, each with one
    line. `seeds` takes inputs from a real data folder. `weight` is its share of the time of a long run,
    `n_quick` the number of inputs that the quick tests try.
    """

    name: str
    check: Callable[[bytes, Path], None]
    seeds: Callable[[Path], list[bytes]]
    mutate: Mutate
    weight: int = 1
    n_quick: int = 25

    def run(self, data: bytes) -> None:
        """Let an input be read; raises whatever would be a traceback to the user."""
        with TemporaryDirectory(prefix="fuzz-") as scratch, reported_in_one_line():
            self.check(data, Path(scratch))


@contextmanager
def reported_in_one_line() -> Iterator[None]:
    """Let pass what is an error written for the user, in one line."""
    try:
        yield
    except TransitError as error:
        if len(str(error).strip().splitlines()) != 1:
            raise UnclearError(str(error)) from error


def head_and_rest(data: bytes) -> tuple[dict[str, str], bytes]:
    """Split an input at its first empty line; return the lines `name=value` before it, and what follows."""
    head, _, rest = data.partition(b"\n\n")
    lines = head.decode("utf-8", "replace").splitlines()
    return {name: value for name, _, value in (line.partition("=") for line in lines)}, rest
