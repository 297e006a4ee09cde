"""A rehearsal speaks of a time of its own: nothing of it counts as now, and it is said that it is there."""

from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from rich.console import Console

from tests.collect.helpers import write_lake
from tests.hostile import json_reply, serving
from tests.operations.check.installation import healthy
from tests.operations.status.installations import NOW, Exchange, Passage, land, minutes, poll, stop
from transit_etl.api.exchange import Outcome
from transit_etl.identity import Rehearsal, mark_rehearsed
from transit_etl.operations.check import check, examine
from transit_etl.operations.metrics import metrics_text
from transit_etl.operations.status import Status, read_status, show_status
from transit_etl.paths import published_database
from transit_etl.settings import Settings

WORKER = "rehearsal"
SPAN = Rehearsal(NOW - timedelta(hours=12), NOW + timedelta(hours=12))


def shown(status: Status) -> str:
    text = StringIO()
    show_status(status, Console(file=text, width=400))
    return text.getvalue()


@pytest.fixture
def rehearsal(settings: Settings) -> Settings:
    """Return the settings of a folder that holds a rehearsal of this very hour."""
    mark_rehearsed(settings, SPAN.start, SPAN.end)
    bad = [poll(age, outcome=Outcome.SERVER_ERROR) for age in (0.4, 0.3, 0.2)]
    land(settings, poll(20, Passage(1)), poll(0.5), *bad, worker=WORKER).close()
    name = f"{NOW - minutes(30):%Y%m%dT%H%M%SZ}-passages-{WORKER}"
    row = {"endpoint": "passages", "key": "0001", "is_good": True}
    for at in (NOW - minutes(1), NOW + minutes(60)):
        write_lake(settings.data_dir, "requests", [row], name, at=at)
    return settings


def test_the_ledger_of_a_rehearsal_is_not_that_of_now(rehearsal: Settings) -> None:
    status = read_status(rehearsal)

    assert (SPAN,) == status.rehearsals
    assert ([], None, None, None) == (
        status.usage,
        status.outage,
        status.future_until,
        status.clock_error_seconds,
    )
    assert {} == {name: at for name, at in status.last_good_at.items() if at}
    assert "No request was sent yet" in shown(status)
    assert f"REHEARSED on a virtual clock: {SPAN}" in shown(status)


def test_what_is_collected_beside_a_rehearsal_counts(rehearsal: Settings) -> None:
    land(rehearsal, Exchange(stop(1), minutes(0.5), {})).close()
    (usage,) = read_status(rehearsal).usage

    assert (1, 1) == (usage.n_sent, usage.n_good)


def test_check_says_that_a_folder_is_rehearsed_and_asks_whether_anybody_answers(rehearsal: Settings) -> None:
    with serving(lambda _: json_reply([])) as base_url:
        answered = check(rehearsal.model_copy(update={"base_url": base_url}))

    assert ["rehearsed"] == [problem.name for problem in answered]
    assert str(SPAN) in answered[0].text
    assert ["address", "rehearsed"] == [problem.name for problem in check(rehearsal)]


def test_a_real_collection_beside_a_rehearsal_is_judged_by_its_own_answers(settings: Settings) -> None:
    mark_rehearsed(healthy(settings), SPAN.start, SPAN.end)
    land(settings, Exchange(stop(1), minutes(0.1), {}, Outcome.RATE_LIMITED), worker=WORKER).close()

    assert ["rehearsed"] == [problem.name for problem in check(settings)]


def test_metrics_say_that_a_folder_is_rehearsed(rehearsal: Settings) -> None:
    text = metrics_text(rehearsal, examine(rehearsal))

    assert 'transit_etl_rehearsals{operator="emulated"} 1.0' in text
    assert "transit_etl_requests_last_hour{" not in text


def test_a_file_with_rehearsed_answers_alone_has_no_age(settings: Settings) -> None:
    status = replace(read_status(healthy(settings)), rehearsals=(SPAN,), published_until=None)

    assert published_database(settings.data_dir).exists()
    assert "with rehearsed answers alone" in shown(status)
