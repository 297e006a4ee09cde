"""Text of the upstream that no encoding has is kept escaped, and no body is lost for it."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.collect.helpers import NOON, answer, body_of, landing_at, rows
from tests.hostile import json_reply, serving
from transit_etl.api.exchange import Outcome, Request
from transit_etl.clock import VirtualClock
from transit_etl.collect import collect
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.settings import Settings

TEXT = st.text(st.characters(codec=None), max_size=20) | st.just("\ud83d")


@given(TEXT, TEXT, st.binary(max_size=20))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_body_is_landed_whatever_its_key_and_its_reason_hold(
    tmp_path_factory: pytest.TempPathFactory, key: str, reason: str, body: bytes
) -> None:
    folder = tmp_path_factory.mktemp("landed")
    request = Request("stops", key, "")
    with landing_at(folder) as landing:
        landed = answer(body=body, request=request, outcome=Outcome.WRONG_SHAPE)
        landing.land(landing.plan(request), landed)
        landing.skip(landing.plan(request), reason, Outcome.BAD_IDENTIFIER)

    first, second = rows(folder)
    assert body == body_of(first)
    assert first["key"] == second["key"] == escaped(key)
    assert escaped(reason) == second["error"]


def test_a_lone_surrogate_in_a_key_or_an_id_ends_no_collection(tmp_path: Path) -> None:
    replies = {"linee": {"\ud83d": 1}, "news": [{"id": "\ud83d", "titolo": "\ude00"}, {"id": "1"}]}

    with serving(lambda path: json_reply(replies.get(path.rpartition("/")[2], {"titolo": "x"}))) as base_url:
        configured = Settings(data_dir=tmp_path, base_url=base_url, rate_per_minute=600)
        for dataset in ("lines", "news"):
            collect(configured, dataset, clock=VirtualClock(NOON), store=MemoryStore())

    outcomes = {(row["endpoint"], row["key"], row["outcome"]) for row in rows(tmp_path)}
    assert outcomes == {
        ("lines", "", "wrong_shape"),
        ("news", "", "ok"),
        ("news_details", "1", "ok"),
        ("news_details", "\\ud83d", "bad_identifier"),
    }
    bodies = [row["body"] for row in rows(tmp_path) if row["endpoint"] == "lines"]
    assert {json.dumps(replies["linee"])} == set(bodies)


def escaped(text: str) -> str:
    """Return a text as raw files keep it: lone surrogates as backslash and number."""
    return text.encode("utf-8", "backslashreplace").decode()
