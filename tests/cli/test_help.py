"""The help of the command line."""

import subprocess
import sys
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from tests.cli.conftest import RunCli
from transit_etl.cli import app

COMMANDS = [
    "run",
    "collect",
    "stage",
    "reprocess",
    "build",
    "publish",
    "sql",
    "recipe",
    "trip",
    "tables",
    "describe",
    "report",
    "export",
    "contract",
    "diff",
    "status",
    "check",
    "metrics",
    "config",
    "folder",
    "compact",
    "verify",
    "sync",
    "backup",
    "restore",
    "prune",
    "rehearse",
    "emulator",
]


@pytest.mark.parametrize("command", [*COMMANDS, "emulator stops", "emulator truth"])
def test_the_help_of_a_command_has_an_example(command: str) -> None:
    done = CliRunner().invoke(app, [*command.split(), "--help"])

    assert done.exit_code == 0
    assert f"Example: transit-etl {command}" in done.stdout


def test_the_commands_are_listed_in_the_order_of_their_use(cli: RunCli) -> None:
    lines = cli("--help").stdout.splitlines()
    first_words = [line.strip("│ ").partition(" ")[0] for line in lines]

    assert COMMANDS == [word for word in first_words if word in COMMANDS]


def test_help_does_not_wait_for_heavy_libraries() -> None:
    program = (
        "import sys, typer.testing, transit_etl.cli as cli\n"
        "typer.testing.CliRunner().invoke(cli.app, ['--help'], catch_exceptions=False)\n"
        "heavy = {'duckdb', 'pyarrow', 'pandas', 'numpy', 'fastapi', 'httpx2', 'dbt', 'airflow'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    assert "[]" == done.stdout.strip()


def test_the_emulator_is_served_with_or_without_a_verb(cli: RunCli) -> None:
    group, verb = (cli("emulator", *words, "--help").stdout for words in ((), ("serve",)))

    for option in ("--port", "--gtfs", "--actuals", "--faults"):
        assert option in group
        assert option in verb


def test_the_version_is_printed(cli: RunCli) -> None:
    assert f"transit-etl {version('transit-etl')}" == cli("--version").stdout.strip()


def test_a_short_option_prints_the_help_too(cli: RunCli) -> None:
    assert cli("status", "--help").stdout == cli("status", "-h").stdout


def test_a_shell_can_complete_the_names_of_commands(cli: RunCli) -> None:
    asked = {"_TRANSIT_ETL_COMPLETE": "complete_bash", "COMP_WORDS": "transit-etl reh", "COMP_CWORD": "1"}

    assert "rehearse" in cli(**asked).stdout
