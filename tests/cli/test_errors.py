"""A command that cannot do its work says why in one line on stderr."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Done, RunCli
from tests.hostile import http, serving
from transit_etl.cli.options import moment


def message(done: Done) -> str:
    """Return what a failed command says on stderr."""
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    return done.stderr.strip()


def line(done: Done) -> str:
    """Return the one line that a failed command says on stderr."""
    said = message(done)
    assert "\n" not in said
    return said


def test_a_bad_setting_is_named(cli: RunCli) -> None:
    said = line(cli("collect", "lines", TRANSIT_RATE_PER_MINUTE="many"))

    assert said.startswith("transit-etl: TRANSIT_RATE_PER_MINUTE: ")


def test_an_unknown_setting_is_refused(cli: RunCli) -> None:
    assert "transit-etl: unknown setting: TRANSIT_TOKNE" == line(cli("status", TRANSIT_TOKNE="secret"))


def test_passages_need_a_network_first_and_the_error_says_how_to_get_it(cli: RunCli) -> None:
    said = line(cli("collect", "passages"))

    assert "run `transit-etl collect lines` and `transit-etl stage` first" in said


def test_a_day_without_raw_files_cannot_be_staged_again(cli: RunCli) -> None:
    assert "there is no raw file of 2026-03-02 to 2026-03-03" in message(
        cli("reprocess", "--from", "2026-03-02", "--to", "2026-03-03")
    )


def test_the_days_to_stage_again_go_forward(cli: RunCli) -> None:
    said = message(cli("reprocess", "--from", "2026-03-03", "--to", "2026-03-02"))

    assert "--from 2026-03-03 is after --to 2026-03-02" in said


def test_stops_need_lines_first(cli: RunCli) -> None:
    assert "run `transit-etl collect lines` and `transit-etl stage` first" in line(cli("collect", "stops"))


def test_workers_are_refused_where_spark_builds(cli: RunCli) -> None:
    pytest.importorskip("pyspark")
    done = cli("build", "--workers", "4", TRANSIT_BUILD_TARGET="spark")

    assert "leave TRANSIT_BUILD_WORKERS and --workers to DuckDB" in line(done)


def test_a_collection_without_any_answer_fails(cli: RunCli) -> None:
    done = cli("collect", "status", "--for", "3s", "--json", TRANSIT_BASE_URL="http://127.0.0.1:9/api/v1/")

    assert line(done).startswith("transit-etl: no usable answer for status: ")
    assert 0 == json.loads(done.stdout)["received"]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("401 Unauthorized", "refuses a request without a token: HTTP 401; look at TRANSIT_TOKEN"),
        ("404 Not Found", "gives no usable answer: HTTP 404; look at TRANSIT_BASE_URL"),
    ],
)
def test_a_collection_that_is_refused_fails_and_says_what_came_and_what_to_do(
    cli: RunCli, status: str, words: str
) -> None:
    with serving(lambda _: http(b"{}", status)) as base_url:
        done = cli("collect", "lines", TRANSIT_BASE_URL=base_url)

    assert f"transit-etl: no usable answer for lines: 1 client_error; {base_url} {words}" == line(done)


def test_the_truth_needs_its_dates_in_order(cli: RunCli, tmp_path: Path) -> None:
    dates = ["--from", "2026-03-03", "--to", "2026-03-02"]
    done = cli("emulator", "truth", *dates, "--out", str(tmp_path / "truth"))

    assert "the first date 2026-03-03 is after the last date 2026-03-02" in message(done)
    assert not (tmp_path / "truth").exists()


def test_the_truth_is_written_of_known_subjects_alone(cli: RunCli, tmp_path: Path) -> None:
    words = [
        "emulator",
        "truth",
        "--from",
        "2026-03-02",
        "--to",
        "2026-03-02",
        "--out",
        str(tmp_path / "truth"),
    ]
    unknown = cli(*words, "--only", "events,lifts")
    done = cli(*words, "--only", "news,events")

    assert "'lifts' is not one of passages, timetables, events, news, plant, network" in message(unknown)
    assert done.returncode == 0
    assert {"events", "event_versions", "event_listings", "news", "news_versions"} == {
        path.stem for path in (tmp_path / "truth").iterdir()
    }


def test_one_end_of_a_range_to_build_is_not_enough(cli: RunCli) -> None:
    assert "--from and --to go together" in message(cli("build", "--from", "2026-03-02"))


def test_the_form_of_an_instant_that_a_message_shows_is_accepted(cli: RunCli) -> None:
    said = message(cli("build", "--as-of", "yesterday"))
    shown = re.findall(r"2026-03-29\S*", said)

    assert shown == [moment(text).isoformat()[:16] + text[16:] for text in shown]
    assert len(shown) == 2


def test_a_day_without_answers_is_not_compacted(cli: RunCli) -> None:
    assert "transit-etl: the lake has no file of 2099-01-01" == line(cli("compact", "2099-01-01"))


def test_an_unknown_dataset_is_refused_with_a_list_of_the_known_ones(cli: RunCli) -> None:
    said = message(cli("collect", "weather"))

    assert "'weather'" in said
    assert "'timetables'" in said


@pytest.mark.parametrize("command", [["build"], ["publish"], ["sql", "select 1"]])
def test_a_step_without_the_one_before_it_fails(cli: RunCli, command: list[str]) -> None:
    assert line(cli(*command)).startswith("transit-etl: ")


def test_a_data_folder_that_cannot_be_written_is_named(cli: RunCli, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = line(cli("collect", "lines", TRANSIT_DATA_DIR=str(tmp_path / "file" / "data")))

    assert str(tmp_path / "file") in said


def test_a_gtfs_feed_that_is_not_a_zip_is_named(cli: RunCli, tmp_path: Path) -> None:
    feed = tmp_path / "feed.zip"
    feed.write_text("not a zip")

    assert "feed.zip" in line(cli("emulator", "--gtfs", str(feed)))


def test_a_table_of_recorded_times_that_cannot_be_read_is_named(cli: RunCli, tmp_path: Path) -> None:
    table = tmp_path / "day.csv"
    table.write_text("service_date,trip_id\n2022-01-08,1\n")

    assert "day.csv: no column line, " in line(cli("emulator", "--actuals", str(table)))


def test_a_network_is_given_once(cli: RunCli, tmp_path: Path) -> None:
    (tmp_path / "feed.zip").touch()
    (tmp_path / "day.csv").touch()
    said = message(
        cli("emulator", "--gtfs", str(tmp_path / "feed.zip"), "--actuals", str(tmp_path / "day.csv"))
    )

    assert "give one of them" in said


def test_a_faults_file_that_cannot_be_read_is_named(cli: RunCli, tmp_path: Path) -> None:
    faults = tmp_path / "faults.json"
    faults.write_text('{"fault": [{"kind": "sloow"}]}')

    assert "faults.json" in line(cli("emulator", "--faults", str(faults)))


@pytest.mark.parametrize("command", [("status",), ("--help",), ("collect", "pässages")])
def test_an_output_that_is_not_utf_8_has_escapes_and_no_traceback(
    cli: RunCli, command: tuple[str, ...]
) -> None:
    done = cli(*command, PYTHONIOENCODING="ascii", TRANSIT_DATA_DIR="città")

    assert "Traceback" not in done.stderr
    assert (done.stdout + done.stderr).isascii()
    assert done.stdout or done.stderr
