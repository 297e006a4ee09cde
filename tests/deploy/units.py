"""Reads the units of `deploy/systemd`, and runs their commands as systemd would, below one folder."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from socket import gethostname

from scripts.stack import Program, Stack
from tests.documents.sessions import ROOT

UNITS = ROOT / "deploy" / "systemd"
WORKERS = ROOT / "deploy" / "workers"
SERVICES = sorted(path.stem for path in UNITS.glob("*.service"))
KEPT_RUNNING = [f"transit-etl-{name}" for name in ("api-server", "scheduler", "dag-processor", "triggerer")]


def service(name: str) -> list[tuple[str, str]]:
    """Return the lines of a unit that set something, in order; an instance has those of its template."""
    unit, at, instance = name.partition("@")
    lines = (UNITS / f"{unit}{at}.service").read_text(encoding="utf-8").splitlines()
    return [
        (key, value.replace("%H", gethostname()).replace("%i", instance))
        for line in lines
        if "=" in line and not line.startswith("#")
        for key, _, value in [line.partition("=")]
    ]


def _expanded(word: str, variables: Mapping[str, str]) -> str:
    return re.sub(r"\$\{(\w+)\}", lambda found: variables[found[1]], word)


def variables(text: str) -> dict[str, str]:
    """Return the variables of the text of an `EnvironmentFile`."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


class Machine:
    """A folder in place of `/`, without users: what the units name is below it, or in the checkout.

    The environment files of the units are in its `/etc`, and `more`.
    """

    def __init__(self, root: Path, replacing: dict[str, str], more: Iterable[Path] = ()) -> None:
        self.root = root
        self.stack = Stack(root / "logs")
        self._replacing = {
            "/opt/transit-etl/.venv": sys.prefix,
            "/opt/transit-etl": str(ROOT),
            "/etc/transit-etl": str(root / "etc"),
            "/var/lib/transit-etl": str(root / "var"),
            "/mnt/backup": str(root / "backup"),
            **replacing,
        }
        for name in ("etc", "var", "var/airflow/logs", "backup"):
            (root / name).mkdir(parents=True)
        for path in (*UNITS.glob("*.env"), *more):
            (root / "etc" / path.name).write_text(self.placed(path.read_text(encoding="utf-8")))

    def placed(self, text: str) -> str:
        """Return a text of a unit with the paths and settings of this machine."""
        for shown, instead in self._replacing.items():
            text = text.replace(shown, instead)
        return text

    def run(self, name: str) -> str:
        """Run the commands of a unit that ends by itself, one after the other; return what they print."""
        done = [
            subprocess.run(
                command, env=self._environment(name), check=False, capture_output=True, text=True, timeout=500
            )
            for command in self._commands(name)
        ]
        output = "".join(each.stdout + each.stderr for each in done)
        assert {0} == {each.returncode for each in done}, output
        return output

    def start(self, name: str, unit: str | None = None) -> Program:
        """Start the command of a unit that runs always; `name` is another one where it runs twice."""
        [command], variables = self._commands(unit or name), self._environment(unit or name)
        return self.stack.start(name, [_expanded(word, variables) for word in command], variables)

    def _commands(self, name: str) -> list[list[str]]:
        texts = [self.placed(value) for key, value in service(name) if key == "ExecStart"]
        return [shlex.split(text.replace("%%", "%").replace("$$", "$")) for text in texts]

    def _environment(self, name: str) -> dict[str, str]:
        """Return what systemd would give the unit, and nothing of the caller but the home.

        The packages are those of this checkout, also where the environment has those of another one.
        """
        found = {"HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)}
        for key, value in service(name):
            if key == "EnvironmentFile":
                file = Path(self.placed(value.removeprefix("-")))
                if file.exists() or not value.startswith("-"):
                    found |= variables(file.read_text(encoding="utf-8"))
            elif key == "Environment":
                found |= dict(pair.split("=", 1) for pair in shlex.split(self.placed(value)))
        return found
