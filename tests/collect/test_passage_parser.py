import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tests.collect.helpers import answer
from transit_etl.api.exchange import Outcome
from transit_etl.collect.passage_parser import PassageParser
from transit_etl.collect.planning.policy import Listing

ROME = ZoneInfo("Europe/Rome")
LATE_EVENING = datetime(2026, 3, 4, 22, 52, 44, tzinfo=UTC)  # 23:52:44 in Rome


def listings(rows: object, received_at: datetime = LATE_EVENING) -> tuple[Listing, ...]:
    body = json.dumps({"passaggi": rows}).encode()
    return PassageParser(ROME).parse(answer(received_at, body)).listings


def row(**more: object) -> dict[str, object]:
    return {
        "linea": "018/",
        "destinazione": "CENTRO",
        "orario": "23:58:00",
        "attesa": "5'",
        "teorico": False,
        "id_corsa": "T1",
        **more,
    }


def test_a_listed_passage_is_resolved_to_an_instant() -> None:
    at = datetime(2026, 3, 4, 22, 58, tzinfo=UTC).timestamp()

    assert (Listing("18/", "CENTRO", "T1", at, is_live=True),) == listings([row()])


def test_a_time_past_midnight_is_tomorrow() -> None:
    (listing,) = listings([row(orario="00:01:18")])

    assert datetime(2026, 3, 4, 23, 1, 18, tzinfo=UTC).timestamp() == listing.predicted_at


@pytest.mark.parametrize("clock", ["23:45:00", "03:00:00", "12:00:00", "", None, "5'", "xx:yy:zz", "25:61"])
def test_an_implausible_time_is_left_out(clock: str | None) -> None:
    assert () == listings([row(orario=clock)])


@pytest.mark.parametrize("teorico", [True, None, "false", 0])
def test_a_listing_is_live_only_if_teorico_is_false_itself(teorico: object) -> None:
    (listing,) = listings([row(teorico=teorico)])

    assert listing.is_live is False


def test_rows_of_wrong_types_are_left_out() -> None:
    assert 1 == len(listings([1, None, "x", [], {}, row(linea=None, id_corsa=None, destinazione=5)]))


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.OK])
def test_a_bad_answer_says_nothing_of_any_bus(outcome: Outcome) -> None:
    body = json.dumps({"passaggi": [row()]}).encode()
    observation = PassageParser(ROME).parse(answer(LATE_EVENING, body, outcome=outcome))

    assert (False, ()) == (observation.is_good, observation.listings)
