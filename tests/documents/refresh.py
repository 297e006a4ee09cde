"""Brings the output that a document shows up to date.

    python -m tests.documents.refresh docs/tour.md

The tests run the same commands and compare their output with what the document shows.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from rich.console import Console

from tests.documents.sessions import DocumentError, Session, Step, blocks, run


def refresh(document: Path, session: Session) -> int:
    """Run a document's console blocks and put what differs into it; return how many outputs did."""
    text, n_changed = document.read_text(encoding="utf-8"), 0
    for block in blocks(document):
        if block.language != "console":
            continue
        lines = []
        for step, printed in run(block, session):
            n_changed += not step.matches(printed)
            command = "\n> ".join(step.command.splitlines())
            lines += [f"$ {command}", *_brought_up_to_date(step.output, printed)]
        text = text.replace(block.text, "\n".join(lines) + "\n")
    document.write_text(text, encoding="utf-8")
    return n_changed


def _brought_up_to_date(shown: str, printed: str) -> list[str]:
    """Return the printed lines, and where a shown line matches, that one: it may hold a `…`."""
    pairs = zip_longest(shown.splitlines(), printed.splitlines())
    return [
        old if old is not None and Step("", old).matches(new) else new
        for old, new in pairs
        if new is not None
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Refresh the documents named; 1 if a command of theirs failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", nargs="+", type=Path, metavar="DOCUMENT")
    chosen = parser.parse_args(arguments)
    for document in chosen.documents:
        with tempfile.TemporaryDirectory() as folder:
            try:
                n_changed = refresh(document, Session(Path(folder), {}))
            except DocumentError as error:
                Console(stderr=True).print(str(error), style="red", markup=False, highlight=False)
                return 1
        Console().print(f"{document}: {n_changed} outputs changed", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
