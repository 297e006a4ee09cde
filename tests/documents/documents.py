"""The documents of the project, and the commands and names in them."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.documents.sessions import ROOT, Block, blocks

TOUR, README = ROOT / "docs" / "tour.md", ROOT / "README.md"
DOCUMENTS = [
    README,
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "SECURITY.md",
    ROOT / "data" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
_PROGRAMS = ("transit-etl", "make", "python", "pytest", "pre-commit")


def name_of(document: Path) -> str:
    """Name a document by its path in the checkout."""
    return document.relative_to(ROOT).as_posix()


def all_blocks() -> list[Block]:
    """List the fenced blocks of every document."""
    return [block for document in DOCUMENTS for block in blocks(document)]


def prose(document: Path) -> str:
    """Return the text of a document outside its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def inline_code(document: Path) -> list[str]:
    """List what stands in backticks in a document."""
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose(document))


def inline_commands() -> list[str]:
    """List the commands in backticks of every document, each once."""
    found = [code for document in DOCUMENTS for code in inline_code(document) if is_command(code)]
    return sorted(set(found))


def commands_of(block: Block) -> Iterator[str]:
    """Yield the lines of a shell block without their comments."""
    for line in block.text.splitlines():
        command = line.split(" # ")[0].strip()
        if command:
            yield command


def is_command(code: str) -> bool:
    """Tell whether a text is a command and not just a program's name; `make` alone is a command."""
    words = [word for word in code.split() if not re.fullmatch(r"[A-Z_]+=\S+", word)]
    return words == ["make"] or (len(words) > 1 and words[0] in _PROGRAMS)
