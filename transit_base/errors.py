"""The base class of the errors whose message is written for the user, and what damaged documents raise."""

from pathlib import Path

# What parsing a document raises whose shape is not the expected one, whatever it holds.
MISSHAPEN = (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError)


def first_line(error: Exception) -> str:
    """Return the first line of what an error says."""
    return str(error).split("\n", 1)[0]


class TransitError(Exception):
    """Something cannot be done; the message says what, why, and where possible what to do about it.

    The command line prints the message alone. Any other error is a fault of the program and keeps its
    traceback.
    """


class FinalError(TransitError):
    """Something cannot be done, and trying it again would give the same result."""


class NotPublishedError(TransitError):
    """There is no published warehouse yet; the message names the file that is missing."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"nothing is published at {path} yet: run build and publish first")
