"""Who is told of what, over real sockets."""

import errno
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.operations.check.receivers import mail_server, web_server
from transit_base.errors import TransitError
from transit_emulator.process import free_port
from transit_etl.operations.check import Problem, check
from transit_etl.operations.check.alerts import send_alerts
from transit_etl.paths import alerts_file
from transit_etl.settings import Settings

DOWN, FULL = Problem("upstream", "UPSTREAM DOWN since 08:00"), Problem("space", "the disk is full")


def without_length(titles: list[str]) -> list[str]:
    """Return titles without how long a problem lasted."""
    return [title.partition(" after ")[0] for title in titles]


def settings_for(folder: Path, *urls: str) -> Settings:
    return Settings(data_dir=folder, alert_urls=" ".join(urls))


def test_each_problem_is_told_once_and_once_when_it_is_over(tmp_path: Path) -> None:
    with web_server() as (url, titles):
        settings = settings_for(tmp_path, url)
        for problems in ([], [DOWN], [DOWN], [DOWN, FULL], [FULL], [FULL], []):
            assert [] == send_alerts(settings, problems)

    assert ["upstream", "space", "upstream answers again", "space is over"] == without_length(titles)


def test_the_end_of_an_outage_says_after_how_long_the_upstream_answers_again(tmp_path: Path) -> None:
    with web_server() as (url, titles):
        settings = settings_for(tmp_path, url)
        began_at = settings.clock.now() - timedelta(minutes=12)
        for problems in ([replace(DOWN, since=began_at)], []):
            assert [] == send_alerts(settings, problems)

    assert ["upstream", "upstream answers again after 12 min"] == titles


def test_an_outage_does_not_end_by_answers_where_a_request_still_gets_none(tmp_path: Path) -> None:
    with web_server() as (url, titles):
        settings = settings_for(tmp_path, url)
        for problems in ([DOWN], [Problem("address", "no usable answer")]):
            assert [] == send_alerts(settings, problems)

    assert ["upstream", "upstream is over", "address"] == without_length(titles)


def test_the_end_of_what_an_earlier_version_told_is_said_without_its_length(tmp_path: Path) -> None:
    with web_server() as (url, titles):
        settings = settings_for(tmp_path, url)
        send_alerts(settings, [DOWN])
        told = json.loads(alerts_file(tmp_path).read_text())
        del told["upstream"]["since"]
        alerts_file(tmp_path).write_text(json.dumps(told))
        send_alerts(settings, [])

    assert ["upstream", "upstream answers again"] == titles


def test_a_mail_has_the_problem_in_its_subject(tmp_path: Path) -> None:
    with mail_server() as (url, subjects):
        for problems in ([DOWN], [DOWN], []):
            assert [] == send_alerts(settings_for(tmp_path, url), problems)

    assert ["upstream", "upstream answers again"] == without_length(subjects)


def test_an_address_that_takes_no_message_is_told_later_and_the_others_once(tmp_path: Path) -> None:
    dead = f"json://secret-password@127.0.0.1:{free_port()}/hook"
    with web_server() as (url, titles):
        settings = settings_for(tmp_path, dead, url)
        (problem,) = send_alerts(settings, [DOWN])
        send_alerts(settings, [DOWN])

    assert ["upstream"] == titles
    assert "1 of 2 addresses" in problem.text
    assert "secret-password" not in problem.text


def test_the_same_holds_after_a_restart_with_a_damaged_file(tmp_path: Path) -> None:
    with web_server() as (url, titles):
        settings = settings_for(tmp_path, url)
        send_alerts(settings, [DOWN])
        (tmp_path / "state" / "alerts.json").write_text("{")
        send_alerts(settings, [DOWN])

    assert ["upstream", "upstream"] == titles


def test_a_full_disk_keeps_nobody_from_being_told_once(tmp_path: Path) -> None:
    with web_server() as (url, titles):
        settings = settings_for(tmp_path, url)
        send_alerts(settings, [])
        with patch(
            "transit_etl.operations.check.alerts.keep", side_effect=OSError(errno.ENOSPC, "No space left")
        ):
            send_alerts(settings, [DOWN, FULL])
            send_alerts(settings, [DOWN, FULL])
        send_alerts(settings, [DOWN])

    assert ["upstream", "space", "space is over"] == without_length(titles)


def test_people_are_told_once_that_nothing_can_be_found(tmp_path: Path) -> None:
    stray = tmp_path / "raw" / "operator=emulated" / "endpoint=news" / "date=someday" / "copy.jsonl.zst"
    stray.parent.mkdir(parents=True)
    stray.touch()
    with web_server() as (url, titles):
        settings = settings_for(tmp_path, url)
        send_alerts(settings, [DOWN])
        for _ in range(2):
            with pytest.raises(TransitError, match="not a raw file's place"):
                check(settings, sends_alerts=True)

    assert ["upstream", "check"] == titles


def test_nothing_is_kept_without_an_address(tmp_path: Path) -> None:
    assert [] == send_alerts(Settings(data_dir=tmp_path), [DOWN])
    assert [] == list(tmp_path.iterdir())
