"""What the status says of answers that are older than an hour and not in the lake."""

from datetime import timedelta

from tests.collect.helpers import write_network
from tests.operations.status.installations import NOW, Exchange, land, minutes, put_requests, stop
from transit_etl.api import v1
from transit_etl.api.exchange import Outcome
from transit_etl.operations.status import read_status
from transit_etl.settings import Settings

TIMETABLES = v1.of_line("timetables", "015-00")


def test_an_answer_that_was_never_staged_is_the_last_one(settings: Settings) -> None:
    write_network(settings.data_dir, {"001-00": ["0001", "0002"]}, at=NOW)
    put_requests(settings, "timetables", [timedelta(days=2)])
    three_hours = minutes(180)
    land(settings, Exchange(TIMETABLES, three_hours, {}), Exchange(stop(1), three_hours, {})).close()
    status = read_status(settings)

    assert NOW - three_hours == status.last_good_at["timetables"]
    assert NOW - three_hours == status.last_good_at["passages"]
    assert 1 == status.n_stops_never_seen


def test_failures_of_the_last_hour_do_not_hide_an_older_good_answer(settings: Settings) -> None:
    put_requests(settings, "timetables", [minutes(180)])
    land(settings, Exchange(TIMETABLES, minutes(5), {}, Outcome.NOT_JSON)).close()

    assert NOW - minutes(180) == read_status(settings).last_good_at["timetables"]


def test_an_outage_has_the_last_good_answer_that_was_never_staged(settings: Settings) -> None:
    land(settings, Exchange(stop(1), minutes(90), {})).close()
    failed = [Exchange(stop(1), minutes(age), {}, Outcome.NOT_JSON) for age in (30, 20, 10)]
    land(settings, *failed, worker="w2").close()
    outage = read_status(settings).outage

    assert outage is not None
    assert NOW - minutes(90) == outage.last_good_at
