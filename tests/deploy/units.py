"""Reads the units of `deploy/systemd`, and runs their commands as systemd would, below one folder."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from scripts.stack import Program, Stack
from tests.documents.sessions import ROOT

UNITS = ROOT / "deploy" / "systemd"
SERVICES = sorted(path.stem for path in UNITS.glob("*.service"))
KEPT_RUNNING = [f"transit-etl-{name}" for name in ("api-server", "scheduler", "dag-processor")]


def service(name: str) -> list[tuple[str, str]]:
    """Return the lines of a unit that set something, in order."""
    lines = (UNITS / f"{name}.service").read_text(encoding="utf-8").splitlines()
    return [(key, value) for line in lines if "=" in line for key, _, value in [line.partition("=")]]


def variables(text: str) -> dict[str, str]:
    """Return the variables of the text of an `EnvironmentFile`."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


class Machine:
    """A folder in place of `/`, without users: what the units name is below it, or in the checkout."""

    def __init__(self, root: Path, replacing: dict[str, str]) -> None:
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
        for path in UNITS.glob("*.env"):
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

    def start(self, name: str) -> Program:
        """Start the command of a unit that runs always."""
        [command] = self._commands(name)
        return self.stack.start(name, command, self._environment(name))

    def _commands(self, name: str) -> list[list[str]]:
        texts = [self.placed(value) for key, value in service(name) if key == "ExecStart"]
        return [shlex.split(text.replace("%%", "%").replace("$$", "$")) for text in texts]

    def _environment(self, name: str) -> dict[str, str]:
        """Return what systemd would give the unit, and nothing of the caller but the home."""
        found = {"HOME": os.environ["HOME"]}
        for key, value in service(name):
            if key == "EnvironmentFile":
                found |= variables(Path(self.placed(value)).read_text(encoding="utf-8"))
            elif key == "Environment":
                found |= dict(pair.split("=", 1) for pair in shlex.split(self.placed(value)))
        return found
