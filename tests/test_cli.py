"""The command line as somebody types it: its help, its errors, and what a machine reads."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from transit_etl.cli.options import duration

Done = subprocess.CompletedProcess[str]
RunCli = Callable[..., Done]
COMMANDS = [
    "collect",
    "stage",
    "reprocess",
    "build",
    "publish",
    "compact",
    "sql",
    "status",
    "emulator",
    "rehearse",
]


@pytest.fixture
def cli(tmp_path: Path) -> RunCli:
    """Return a function that runs the command line with a data folder of the test's own."""

    def run(*words: str, **settings: str) -> Done:
        return subprocess.run(
            [sys.executable, "-m", "transit_etl.cli", *words],
            env={
                **os.environ,
                "TRANSIT_DATA_DIR": str(tmp_path / "data"),
                "COLUMNS": "200",
                **settings,
            },
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


def complaint(done: Done) -> str:
    """Return the one line a failed command says on stderr."""
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    return done.stderr.strip()


@pytest.mark.parametrize("command", [*COMMANDS, "emulator truth"])
def test_the_help_of_a_command_has_an_example(cli: RunCli, command: str) -> None:
    done = cli(*command.split(), "--help")

    assert done.returncode == 0
    assert f"Example: transit-etl {command}" in done.stdout


def test_help_does_not_wait_for_heavy_libraries() -> None:
    program = (
        "import sys, typer.testing, transit_etl.cli as cli\n"
        "typer.testing.CliRunner().invoke(cli.app, ['--help'], catch_exceptions=False)\n"
        "heavy = {'duckdb', 'pyarrow', 'pandas', 'numpy', 'fastapi', 'httpx', 'dbt', 'airflow'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)

    assert "[]" == done.stdout.strip()


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("2h", 7200), ("1.5m", 90)])
def test_a_duration_has_a_unit(text: str, seconds: float) -> None:
    assert seconds == duration(text)


@pytest.mark.parametrize("text", ["", "10", "0s", "-5m", "ten minutes", "5d"])
def test_anything_else_is_no_duration(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is no duration: write 90s, 10m or 2h"):
        duration(text)


def test_a_bad_setting_names_itself_in_one_line(cli: RunCli) -> None:
    said = complaint(cli("collect", "lines", TRANSIT_RATE_PER_MINUTE="many"))

    assert said.startswith("transit-etl: TRANSIT_RATE_PER_MINUTE: ")
    assert "\n" not in said


def test_an_unknown_setting_is_not_passed_over(cli: RunCli) -> None:
    said = complaint(cli("status", TRANSIT_TOKNE="secret"))

    assert "transit-etl: unknown setting: TRANSIT_TOKNE" == said


def test_passages_need_a_network_first_and_the_error_says_how(cli: RunCli) -> None:
    said = complaint(cli("collect", "passages"))

    assert "run `transit-etl collect lines` and `transit-etl stage` first" in said
    assert "\n" not in said


def test_a_collection_that_nobody_answers_fails(cli: RunCli) -> None:
    done = cli("collect", "status", "--for", "6s", "--json", TRANSIT_BASE_URL="http://127.0.0.1:9/api/v1/")

    assert done.returncode == 1
    assert 0 == json.loads(done.stdout)["received"]


def test_an_unknown_dataset_is_refused_with_the_known_ones(cli: RunCli) -> None:
    said = complaint(cli("collect", "weather"))

    assert "'weather'" in said
    assert "'timetables'" in said


@pytest.mark.parametrize("command", [["build"], ["publish"], ["sql", "select 1"]])
def test_a_step_without_the_one_before_it_fails_in_one_line(cli: RunCli, command: list[str]) -> None:
    said = complaint(cli(*command))

    assert said.startswith("transit-etl: ")
    assert "\n" not in said


def test_staging_nothing_is_no_failure(cli: RunCli) -> None:
    done = cli("stage", "--json")

    assert done.returncode == 0
    assert 0 == json.loads(done.stdout)["windows"]


def test_the_status_of_an_empty_installation_is_readable_by_both(cli: RunCli) -> None:
    assert "nothing yet" in cli("status").stdout
    assert json.loads(cli("status", "--json").stdout)["published_at"] is None


def test_a_folder_that_cannot_be_written_is_an_error_of_one_line(cli: RunCli, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = complaint(cli("collect", "lines", TRANSIT_DATA_DIR=str(tmp_path / "file" / "data")))

    assert str(tmp_path / "file") in said
    assert "\n" not in said


def test_a_feed_that_is_no_zip_is_refused(cli: RunCli, tmp_path: Path) -> None:
    feed = tmp_path / "feed.zip"
    feed.write_text("not a zip")
    said = complaint(cli("emulator", "--gtfs", str(feed)))

    assert "feed.zip" in said
    assert "\n" not in said


def test_a_faults_file_of_another_shape_is_refused(cli: RunCli, tmp_path: Path) -> None:
    faults = tmp_path / "faults.json"
    faults.write_text('{"fault": [{"kind": "sloow"}]}')
    said = complaint(cli("emulator", "--faults", str(faults)))

    assert "faults.json" in said
    assert "\n" not in said
