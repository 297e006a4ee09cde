"""Blocks of documents, and a shell that runs their commands; CONTRIBUTING.md says how blocks are marked."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import environ
from pathlib import Path

from transit_etl.settings import PREFIX

ROOT = Path(__file__).parents[2]
ANY = "…"  # in shown output: text that differs from run to run
NOT_COPIED = shutil.ignore_patterns(
    ".*_cache", ".env", ".git", ".hypothesis", ".venv", "__pycache__", "build", "data", "transit-etl.toml"
)
# A line of work that takes long on a busy machine.
_PROGRESS = re.compile(r"[a-z ]+: [\d,]+ of [\d,]+, |collecting [a-z_]+: |rehearsed to ")
_BLOCK = re.compile(r"^```(?P<language>\S*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


class DocumentError(Exception):
    """A command of a document failed; the message names the document and the line."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a document, and the line it begins at."""

    document: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.document.name}:{self.line}"


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a console block and the output shown below it."""

    command: str
    output: str

    def matches(self, printed: str) -> bool:
        """Tell whether a command printed what is shown, where `…` stands for any text of a line."""
        pattern = "[^\n]*".join(re.escape(part) for part in self.output.split(ANY))
        return re.fullmatch(pattern, printed) is not None


class Session:
    """A shell in a copy of a checkout, with an empty data folder and the same `.venv`.

    Variables that a command exports hold for the commands after it; a copy of a session (`copy.copy`) goes on
    with the variables exported so far. `substitutions` are texts of commands and what is run instead, for
    what a test cannot do: another upstream, less time.
    """

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, str],
        substitutions: Mapping[str, str] | None = None,
        *,
        checkout: Path = ROOT,
        timeout_seconds: float = 280,
    ) -> None:
        self.folder = folder / "checkout"
        self._substitutions = substitutions or {}
        self._timeout_seconds = timeout_seconds
        without_settings = {name: value for name, value in environ.items() if not name.startswith(PREFIX)}
        self._environment = {**without_settings, **settings}
        self._exports = ""
        self._exports_file = folder / "exports.sh"
        shutil.copytree(checkout, self.folder, ignore=NOT_COPIED)
        (self.folder / ".venv").symlink_to(sys.prefix)

    def run(self, command: str) -> str:
        """Run a command and return what it printed on both streams; raise DocumentError if it fails."""
        for shown, instead in self._substitutions.items():
            command = command.replace(shown, instead)
        # `set -e` does not end a script where a command before `&&` fails: its code does.
        commands = f"{command}\n(exit $?)"
        script = f"{self._exports}\nset -e -o pipefail\n{commands}\nexport -p > {self._exports_file}"
        done = subprocess.run(  # `timeout` also ends what the command started
            ["/usr/bin/timeout", "--kill-after=5", str(self._timeout_seconds), "/bin/bash", "-c", script],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise DocumentError(f"exit code {done.returncode} of: {command}\n{done.stdout}")
        self._exports = self._exports_file.read_text(encoding="utf-8")
        return "\n".join(line.rstrip() for line in done.stdout.splitlines() if not _PROGRESS.match(line))


def blocks(document: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a document, in order."""
    text = document.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(document, line, found["language"], found["text"])


def steps(block: Block) -> Iterator[Step]:
    """Yield the commands of a console block (`$ `, continued by `> `), each with the output below it."""
    command: list[str] = []
    output: list[str] = []
    for line in block.text.splitlines():
        if line.startswith("$ ") and command:
            yield Step("\n".join(command), "\n".join(output))
            command, output = [], []
        if line.startswith("$ ") or (line.startswith("> ") and not output):
            command.append(line[2:])
        else:
            output.append(line)
    yield Step("\n".join(command), "\n".join(output))


def run(block: Block, session: Session) -> Iterator[tuple[Step, str]]:
    """Run a block in a session; yield each step of it and what it printed. DocumentError names the block."""
    try:
        if block.language == "console":
            for step in steps(block):
                yield step, session.run(step.command)
        else:
            printed = session.run(block.text)
            yield Step(block.text, printed), printed
    except DocumentError as error:
        raise DocumentError(f"{block}: {error}") from None
