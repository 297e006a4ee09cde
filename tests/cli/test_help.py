"""The help of the command line."""

import subprocess
import sys

import pytest

from tests.cli.conftest import RunCli

COMMANDS = [
    "collect",
    "stage",
    "reprocess",
    "build",
    "publish",
    "compact",
    "sql",
    "tables",
    "describe",
    "status",
    "rehearse",
    "emulator",
]


@pytest.mark.parametrize("command", [*COMMANDS, "emulator truth"])
def test_the_help_of_a_command_has_an_example(cli: RunCli, command: str) -> None:
    done = cli(*command.split(), "--help")

    assert done.returncode == 0
    assert f"Example: transit-etl {command}" in done.stdout


def test_the_commands_are_listed_in_the_order_of_their_use(cli: RunCli) -> None:
    lines = cli("--help").stdout.splitlines()
    first_words = [line.strip("│ ").partition(" ")[0] for line in lines]

    assert COMMANDS == [word for word in first_words if word in COMMANDS]


def test_help_does_not_wait_for_heavy_libraries() -> None:
    program = (
        "import sys, typer.testing, transit_etl.cli as cli\n"
        "typer.testing.CliRunner().invoke(cli.app, ['--help'], catch_exceptions=False)\n"
        "heavy = {'duckdb', 'pyarrow', 'pandas', 'numpy', 'fastapi', 'httpx', 'dbt', 'airflow'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    assert "[]" == done.stdout.strip()
