"""Stops the programs that `make up` started, and no others, even after a crash."""

import sys

from rich.console import Console

from scripts.stack import Stack
from scripts.up import FOLDER


def main() -> int:
    """Stop the programs, and print which of them were running."""
    stopped = Stack(FOLDER).stop()
    Console().print(f"Stopped {', '.join(stopped)}." if stopped else "Nothing was running.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
