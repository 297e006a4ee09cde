"""Shows what the demonstration is doing: a spinner on a terminal, elsewhere a line now and then."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from transit_etl.cli.progress import ProgressLines


@contextmanager
def waiting(console: Console, text: str) -> Iterator[Callable[[str], None]]:
    """Show a text while the context lasts; yield the function to call with a newer one."""
    lines = ProgressLines(console)
    with console.status(text) as spinner:

        def update(newer: str) -> None:
            spinner.update(newer)
            lines.update(newer)

        yield update
