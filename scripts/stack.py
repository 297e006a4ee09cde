"""Starts programs in the background, and stops exactly those, even after a crash."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from transit_base.files import write_text
from transit_etl.settings import PREFIX


@dataclass(frozen=True, slots=True)
class Program:
    """A started program: the leader of its own session, identified by process id and creation time."""

    name: str
    pid: int
    created: float

    def processes(self) -> list[psutil.Process]:
        """List the living processes of its session, the leader first if it lives."""
        if not self._id_is_ours():
            return []
        found = [process for process in psutil.process_iter() if _session(process) == self.pid]
        return sorted(found, key=lambda process: process.pid != self.pid)

    def _id_is_ours(self) -> bool:
        try:
            return abs(psutil.Process(self.pid).create_time() - self.created) < 1
        except psutil.NoSuchProcess:
            return True  # the id has not been reused, so a session with this id is ours


def without_settings(project: Path) -> dict[str, str]:
    """Return the environment of this process without settings of transit-etl, and with another project.

    So no settings file is read but those in the folder of that project.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return {**kept, f"{PREFIX}PROJECT_DIR": str(project)}


class Stack:
    """The programs started from one folder, which holds their logs and their process ids."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "programs.json"

    def start(self, name: str, command: Sequence[str | Path], environment: Mapping[str, str]) -> Program:
        """Start a program in a session of its own, with its output in `<name>.log`; return at once."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with self.log(name).open("ab") as log:
            started = subprocess.Popen(
                [str(word) for word in command],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        program = Program(name, started.pid, psutil.Process(started.pid).create_time())
        self._remember([*self.programs(), program])
        return program

    def programs(self) -> list[Program]:
        """List the programs that were started and not stopped, running or not."""
        if not self._file.exists():
            return []
        return [Program(**entry) for entry in json.loads(self._file.read_text())]

    def log(self, name: str) -> Path:
        """Return the path of a program's log."""
        return self._folder / f"{name}.log"

    def stop(self, grace_seconds: float = 20) -> list[str]:
        """Interrupt the programs, terminate and at last kill those that remain; return who was running."""
        running = [program for program in self.programs() if program.processes()]
        for program in running:
            _send(program.processes()[:1], signal.SIGINT)
        _send(_left_after(grace_seconds, running), signal.SIGTERM)
        _send(_left_after(grace_seconds / 4, running), signal.SIGKILL)
        _left_after(grace_seconds / 4, running)
        self._file.unlink(missing_ok=True)
        return [program.name for program in running]

    def _remember(self, programs: Sequence[Program]) -> None:
        write_text(self._file, json.dumps([asdict(program) for program in programs]))


def _session(process: psutil.Process) -> int | None:
    """Return the session of a living process; None for a process that has ended, zombies included."""
    try:
        return None if process.status() == psutil.STATUS_ZOMBIE else os.getsid(process.pid)
    except (ProcessLookupError, PermissionError, psutil.Error):
        return None


def _send(processes: Sequence[psutil.Process], what: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(what)
        except psutil.NoSuchProcess:
            continue


def _left_after(seconds: float, programs: Sequence[Program]) -> list[psutil.Process]:
    _, left = psutil.wait_procs([each for program in programs for each in program.processes()], seconds)
    return left
