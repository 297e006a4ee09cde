"""The live page says what a reader must know of the state, and no request but the first waits for it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from transit_airflow import live
from transit_airflow.live import LivePage
from transit_etl.identity import mark_rehearsed
from transit_etl.operations import Examination, examine
from transit_etl.operations.status.allowance import KindRequests
from transit_etl.settings import Settings

MINUTE = timedelta(minutes=1)
LONG_SECONDS = 200.0  # longer than a test may wait


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


@pytest.fixture
def found(settings: Settings) -> Examination:
    """Return the state of an empty folder."""
    return examine(settings, asks=False)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first request wait until the state is read."""
    monkeypatch.setattr(live, "FIRST_SECONDS", LONG_SECONDS)


def shown(monkeypatch: pytest.MonkeyPatch, settings: Settings, found: Examination) -> str:
    """Return the page of a state."""
    monkeypatch.setattr(live, "examine", lambda *_, **__: found)
    return LivePage().html(settings)


def with_requests(found: Examination, last_minute: int, last_hour: int, ago: timedelta) -> Examination:
    """Return the state with requests for passages, the last good answer some time ago."""
    usage = KindRequests(
        kind="passages", n_last_minute=last_minute, n_sent=last_hour, n_good=last_hour, n_rate_limited=0,
        n_not_sent=0, share=0.5, endpoints={}, last_good_at=found.status.now - ago,
    )  # fmt: skip
    return replace(found, status=replace(found.status, usage=[usage]))


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch, found: Examination) -> Iterator[tuple[Event, Event]]:
    """Have the state read for as long as a test wants: events that it began, and that it may end."""
    began, may_end = Event(), Event()

    def slow(*_: object, **__: object) -> Examination:
        began.set()
        assert may_end.wait(LONG_SECONDS)
        return found

    monkeypatch.setattr(live, "examine", slow)
    yield began, may_end
    may_end.set()


@pytest.mark.usefixtures("waits")
def test_the_request_that_begins_to_read_the_state_waits_for_it_and_no_other_does(
    settings: Settings, held: tuple[Event, Event]
) -> None:
    page, (began, may_end) = LivePage(), held
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(page.html, settings)
        assert began.wait(LONG_SECONDS)

        assert "being read" in page.html(settings)
        assert not first.done()
        may_end.set()
        assert "Requests of the last minute" in first.result()


@pytest.mark.usefixtures("waits")
def test_an_older_state_is_shown_while_it_is_read_anew(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, found: Examination, held: tuple[Event, Event]
) -> None:
    page, (began, may_end) = LivePage(), held
    may_end.set()
    assert 'content="10"' in page.html(settings)
    began.clear()
    may_end.clear()
    monkeypatch.setattr(live, "FRESH_SECONDS", -1.0)

    text = page.html(settings)
    assert began.wait(LONG_SECONDS)
    assert found.status.operator in text
    assert "Requests of the last minute" in text
    assert 'content="1"' in text


@pytest.mark.usefixtures("waits")
def test_a_folder_with_rehearsed_answers_says_so(settings: Settings) -> None:
    start = datetime(2026, 3, 2, 3, tzinfo=UTC)
    assert "rehearsal" not in LivePage().html(settings)
    mark_rehearsed(settings, start, start + timedelta(hours=2))

    text = LivePage().html(settings)
    assert "answers of a rehearsal, not of real buses, on a virtual clock" in text
    assert "2026-03-02 03:00 to 2026-03-02 05:00 UTC" in text


@pytest.mark.usefixtures("waits")
def test_that_nobody_polls_is_said_with_the_last_good_answer(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, found: Examination
) -> None:
    polled = shown(monkeypatch, settings, with_requests(found, 1, 60, ago=0 * MINUTE))
    paused = shown(monkeypatch, settings, with_requests(found, 0, 60, ago=5 * MINUTE))
    ended = shown(monkeypatch, settings, with_requests(found, 0, 0, ago=300 * MINUTE))

    assert "nobody polls" not in polled
    assert "Nothing was asked in the last minute: nobody polls now. Last good answer: 5 min ago." in paused
    assert "Nothing was asked in the last hour: nobody polls now. Last good answer: 5 h ago." in ended


@pytest.mark.usefixtures("waits")
def test_each_operator_has_a_part_of_the_page(settings: Settings) -> None:
    other = settings.model_copy(update={"operator": "other", "base_url": "http://other.example/"})
    text = LivePage().html(settings.knowing({"emulated": settings, "other": other}))

    assert "<h1>Live state</h1>" in text
    assert "<h2>other</h2>" in text
    assert "http://other.example/" in text
    assert 2 == text.count("State of collection, staging and warehouse of ")


@pytest.mark.usefixtures("waits")
def test_without_any_answer_it_says_that_there_is_none(settings: Settings) -> None:
    assert "nobody polls now. Last good answer: none in 14 days." in LivePage().html(settings)
