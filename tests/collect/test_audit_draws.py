"""Visits are drawn for the audit by chance alone, each with a known probability, the same by everybody."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from tests.collect.helpers import write_lake, write_network
from tests.collect.upstream import settings_at
from transit_etl.collect.audit_draws import audit_draws
from transit_etl.collect.planning.audit_watch import Draw

DATE = date(2026, 3, 4)
FIRST = datetime(2026, 3, 4, 6, tzinfo=UTC)
LAST = FIRST + timedelta(hours=3)
STOPS = {"015-00": ["0001", "0002", "0003", "0004"], "020-00": ["0003", "0005"]}
DEPARTURES = [FIRST.replace(tzinfo=None) + timedelta(minutes=minute) for minute in range(0, 120, 4)]


def departures(line_code: str, instants: list[datetime], request_id: str = "t1") -> list[dict[str, Any]]:
    """Return rows of a timetable: departures in one direction."""
    return [
        {
            "request_id": f"{request_id}/{line_code}", "line_code": line_code, "direction": "outbound",
            "direction_key": "andata", "service_date": DATE, "service_code": "01", "departure_at": at,
            "service_hour": at.hour + 1, "departure_number": number,
        }
        for number, at in enumerate(instants, 1)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with the timetables of two lines: 180 visits due in two hours."""
    folder = tmp_path_factory.mktemp("timetables")
    write_network(folder, STOPS)
    rows = departures("015-00", DEPARTURES) + departures("020-00", DEPARTURES)
    write_lake(folder, "timetables", rows, at=FIRST)
    return folder


def drawn(folder: Path, polls_per_visit: float = 30, last: datetime = LAST, **settings: object) -> list[Draw]:
    return audit_draws(settings_at(folder, **settings), FIRST, last, polls_per_visit)


def test_the_probability_is_the_polls_there_are_over_those_that_all_visits_would_need(folder: Path) -> None:
    draws = drawn(folder, audit_share=0.1, rate_per_minute=60, audit_seed=3)

    assert {0.1 * 60 * 60 / 30 / 90} == {draw.probability for draw in draws}


def test_it_is_one_where_little_is_due(folder: Path) -> None:
    draws = drawn(folder, rate_per_minute=600)

    assert {1.0} == {draw.probability for draw in draws}
    assert 180 == len(draws)


def test_over_many_seeds_each_visit_is_drawn_as_often_as_its_probability_says(folder: Path) -> None:
    n_seeds = 25
    samples = [drawn(folder, polls_per_visit=10, audit_seed=seed) for seed in range(n_seeds)]
    times = Counter(draw.key for sample in samples for draw in sample)
    probability = samples[0][0].probability
    spread = (probability * (1 - probability) / n_seeds) ** 0.5

    assert abs(fmean(map(len, samples)) / 180 - probability) < 4 * spread / 180**0.5
    assert 180 == len(times)
    assert max(abs(n / n_seeds - probability) for n in times.values()) < 4.5 * spread


def test_the_same_seed_draws_the_same_and_another_one_does_not(folder: Path) -> None:
    assert drawn(folder) == drawn(folder)
    assert drawn(folder) != drawn(folder, audit_seed=2)


def test_windows_that_begin_at_different_times_draw_the_same_visits(folder: Path) -> None:
    until = FIRST + timedelta(hours=1)
    of_first_hour = drawn(folder, last=until)

    assert of_first_hour == [
        draw for draw in drawn(folder) if draw.departure_at <= until.replace(tzinfo=None)
    ]


def test_a_visit_knows_its_way_and_the_departures_around_it(folder: Path) -> None:
    visits = {draw.key: draw for draw in drawn(folder, rate_per_minute=600)}
    draw = visits[DATE, "015-00", "outbound", "01", DEPARTURES[1], 1, 3]

    assert ("15", "0003", ["0001", "0002", "0003"]) == (draw.line_label, draw.stop_code, draw.stop_codes)
    assert (240.0, 240.0) == (draw.seconds_before, draw.seconds_after)


def test_a_newer_timetable_takes_the_place_of_the_older_one(tmp_path: Path) -> None:
    write_network(tmp_path, STOPS)
    write_lake(tmp_path, "timetables", departures("020-00", DEPARTURES), at=FIRST)
    newer = departures("020-00", DEPARTURES[:1], request_id="t2")
    write_lake(tmp_path, "timetables", newer, window="w2", at=FIRST + timedelta(minutes=1))

    assert {DEPARTURES[0]} == {draw.departure_at for draw in drawn(tmp_path)}


def test_equal_departures_are_visits_of_their_own(tmp_path: Path) -> None:
    write_network(tmp_path, STOPS)
    write_lake(tmp_path, "timetables", departures("020-00", DEPARTURES[:1] * 2), at=FIRST)

    assert [1, 1, 2, 2] == sorted(draw.duplicate_number for draw in drawn(tmp_path))


def test_nothing_is_drawn_before_a_timetable_is_known(tmp_path: Path) -> None:
    write_network(tmp_path, STOPS)

    assert [] == drawn(tmp_path)
