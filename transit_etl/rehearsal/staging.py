"""Stages what a rehearsal has collected, here or in a process beside it that uses another core."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Protocol

from transit_etl.rehearsal.journal import RehearsalError
from transit_etl.settings import Settings
from transit_etl.stage import stage


@dataclass(slots=True)
class Staged:
    """What was wrong with what was staged, in sentences; each is told once."""

    rejected: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def add(self, rejected: Sequence[str], errors: Sequence[str]) -> None:
        """Take over what a run of staging said."""
        self.rejected += [sentence for sentence in rejected if sentence not in self.rejected]
        self.errors += [sentence for sentence in errors if sentence not in self.errors]


class Staging(Protocol):
    """A way to stage; what is begun is staged in that order."""

    found: Staged

    def begin(self, endpoints: Sequence[str]) -> None:
        """Begin to stage the finished windows of some endpoints."""
        ...

    def wait(self) -> None:
        """Return once everything begun is staged."""
        ...

    def close(self) -> None:
        """Let go of whatever does the staging."""
        ...


class LocalStaging:
    """Stages in this process."""

    def __init__(self, settings: Settings) -> None:
        self.found = Staged()
        self._settings = settings

    def begin(self, endpoints: Sequence[str]) -> None:
        """Stage at once."""
        report = stage(self._settings, endpoints=endpoints)
        self.found.add(report.rejected, report.errors)

    def wait(self) -> None:
        """Do nothing: nothing is under way."""

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""


class SubprocessStaging:
    """Stages in a process of its own, which ends with this one, however that ends.

    It is asked by lines of JSON and answers with one for each; an interrupt from the terminal is not for it.
    """

    def __init__(self, settings: Settings) -> None:
        self.found = Staged()
        self._n_under_way = 0
        self._process = subprocess.Popen(  # noqa: S603 - a program of ours
            [sys.executable, "-c", f"from {__name__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        self._questions, self._answers = self._process.stdin, self._process.stdout
        self._ask(settings.model_dump(mode="json", exclude={"token", "legacy_token"}))

    def begin(self, endpoints: Sequence[str]) -> None:
        """Hand the endpoints over, to be staged when what was begun before is done."""
        self._ask({"endpoints": list(endpoints)})
        self._n_under_way += 1

    def wait(self) -> None:
        """Wait for the answers; RehearsalError if the process is gone."""
        while self._n_under_way:
            line = self._answers.readline()
            if not line:
                raise RehearsalError("the process that stages has ended; it said why above")
            self._n_under_way -= 1
            self.found.add(**json.loads(line))

    def close(self) -> None:
        """End the process; what it is at is finished first."""
        self._questions.close()
        self._process.wait()
        self._answers.close()

    def _ask(self, question: object) -> None:
        try:
            self._questions.write(json.dumps(question).encode() + b"\n")
            self._questions.flush()
        except BrokenPipeError:
            raise RehearsalError("the process that stages has ended; it said why above") from None


def _serve(questions: IO[bytes], answers: int) -> None:
    """Stage what is asked for until nobody asks any more, or nobody is there to be told."""
    settings = Settings(**json.loads(questions.readline()))
    from transit_etl.stage import validation_context  # noqa: PLC0415 - slow to load, so while the first period is collected

    validation_context.shared_context()
    for line in questions:
        report = stage(settings, endpoints=json.loads(line)["endpoints"])
        answer = json.dumps({"rejected": report.rejected, "errors": report.errors}).encode() + b"\n"
        try:
            os.write(answers, answer)
        except BrokenPipeError:
            return


def main() -> None:
    """Be the process beside: questions come from the standard input, answers go to its output."""
    answers = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print is no answer, nor for anybody
    _serve(sys.stdin.buffer, answers)
