"""What a round says that it found, also when nearly nothing is known yet."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.warehouse.rehearsed import DAY, START, Rehearsed
from transit_etl.cli.findings import find, labelled

NOTHING: dict[str, Any] = {
    "service_date": date(2026, 3, 2),
    "ends_at": "2026-03-03 04:00",
    "n_visits": 0,
    "n_seen": 0,
    "n_evidenced": 0,
    "n_without_schedule": 0,
    "n_trips_seen": 0,
    "n_trips_without_departure": 0,
    "polled_since": None,
    "n_due": None,
    "coverage": None,
    "estimated_on_time_share": None,
    "estimated_on_time_share_low": None,
    "estimated_on_time_share_high": None,
    "estimate_null_reason": None,
    "estimate_null_words": None,
    "latest_sentence": None,
}
TEN_MINUTES = NOTHING | {
    "n_visits": 393,
    "n_seen": 171,
    "n_evidenced": 118,
    "n_without_schedule": 171,
    "n_trips_seen": 106,
    "n_trips_without_departure": 17,
    "polled_since": "08:06",
    "n_due": 25_948,
    "estimate_null_reason": "interval too wide",
    "estimate_null_words": "too little was observed",
}


def test_after_ten_minutes_it_says_what_was_seen_what_is_not_known_why_and_when_it_will_be() -> None:
    said = dict(labelled(TEN_MINUTES))

    assert "171 passages since 08:06, 118 of them to within 60 s" in said["seen"]
    assert "171 of these passages have no scheduled time yet" in said["matched"]
    assert "17 of the 106 trips match no departure yet" in said["matched"]
    assert "not known yet for 2026-03-02, because too little was observed" == said["on time"]
    assert "from 2026-03-03 04:00 on" in said["final"]
    assert "estimate_null_reason as why_none" in said["by line"]


def test_without_a_passage_it_says_when_one_is_seen() -> None:
    said = dict(labelled(NOTHING))

    assert "a passage is seen once a poll lists the bus and a later one does not" in said["seen"]
    assert "because nothing was due" in said["on time"]
    assert not said["matched"]


def test_a_known_share_is_said_with_its_interval_and_with_the_last_day() -> None:
    shares = {"": 0.662, "_low": 0.65195, "_high": 0.67302}
    known = {f"estimated_on_time_share{end}": share for end, share in shares.items()}
    said = dict(labelled(TEN_MINUTES | known | {"latest_sentence": "66 % were on time."}))

    assert "66.2 % of what was due so far on 2026-03-02 (95 % interval: 65.1 to 67.4 %)" == said["on time"]
    assert "66 % were on time." == said["last day"]


def test_it_is_found_in_the_published_warehouse(rehearsed: Rehearsed) -> None:
    shift = (START + timedelta(hours=2) - datetime.now(UTC)).total_seconds()
    found = find(rehearsed.settings.model_copy(update={"clock_shift_seconds": shift}))

    assert found["service_date"] == DAY
    assert found["polled_since"] in ("07:00", "07:01")  # the lists come first
    assert 0 < found["n_evidenced"] <= found["n_seen"] <= found["n_visits"]
    assert 0 <= found["n_trips_without_departure"] <= found["n_trips_seen"]
    assert all(isinstance(text, str) for _, text in labelled(found))
