"""A failure of learning or choosing costs one answer's lesson or one choice, and is logged once per kind."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import httpx2
import pytest
import zstandard

from tests.collect.helpers import NOON, answer, rows, write_network
from tests.collect.upstream import START, Upstream, collect_from, settings_at
from transit_base.files import make_folder
from transit_etl.api import v1
from transit_etl.api.exchange import Answer
from transit_etl.collect import CollectReport, datasets, sources
from transit_etl.collect.isolation import learn
from transit_etl.collect.passage_parser import PassageParser
from transit_etl.collect.planning.policy import Observation, Rotation
from transit_etl.collect.sources import Passages
from transit_etl.paths import raw_file, window_name

STOPS = ["0001", "0002", "0003"]


class Clumsy(Rotation):
    """Rotates, and trips over its own feet at the stops told."""

    def __init__(self, *bad: str, choices: tuple[object, ...] = ()) -> None:
        super().__init__(STOPS)
        self.learned: list[Observation] = []
        self._bad = bad
        self._choices = iter(choices)

    def observe(self, observation: Observation) -> None:
        """Learn, or trip."""
        if observation.stop_code in self._bad:
            raise ZeroDivisionError("nobody thought of this")
        self.learned.append(observation)

    def choose(self, now: float) -> str:
        """Choose what was told, or trip, and rotate after that."""
        chosen = next(self._choices, None) or super().choose(now)
        if isinstance(chosen, Exception):
            raise chosen
        return str(chosen)


def collect_with(policy: Clumsy, folder: Path, monkeypatch: pytest.MonkeyPatch) -> CollectReport:
    write_network(folder, {"015-00": STOPS})
    monkeypatch.setattr(datasets, "policy_of", lambda *_, **__: policy)
    return collect_from(Upstream(), settings_at(folder), "passages", seconds=60)


def failures(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_policy_that_fails_to_learn_loses_only_that_answer_and_logs_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    policy = Clumsy("0002")
    report = collect_with(policy, tmp_path, monkeypatch)

    assert {"ok": report.planned} == report.outcomes
    assert report.planned == len(rows(tmp_path)) >= 55
    assert {"0001", "0003"} == {each.stop_code for each in policy.learned}
    assert ["learning from the answer of passages 0002 failed; going on without it"] == failures(caplog)
    assert [
        "learning from the answer of passages 0002 failed: ZeroDivisionError('nobody thought of this')"
    ] == report.warnings
    assert "nobody thought of this" in caplog.text


def test_a_policy_that_fails_to_choose_leaves_that_permit_to_rotation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    report = collect_with(Clumsy(choices=(KeyError("lost"),) * 30), tmp_path, monkeypatch)

    assert {"ok": report.planned} == report.outcomes
    assert report.planned >= 55
    assert set(STOPS) == {row["key"] for row in rows(tmp_path)}
    assert ["choosing a stop failed; going on without it"] == failures(caplog)


def test_a_choice_that_is_not_a_stop_is_never_requested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    collect_with(Clumsy(choices=("../news", "9999")), tmp_path, monkeypatch)

    assert set(STOPS) == {row["key"] for row in rows(tmp_path)}
    assert 1 == len(failures(caplog))


def test_an_answer_that_cannot_be_parsed_teaches_only_that_its_stop_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_self: PassageParser, _answer: Answer) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(PassageParser, "parse", fail)
    policy = Clumsy()
    report = collect_with(policy, tmp_path, monkeypatch)

    assert {"ok": report.planned} == report.outcomes
    assert report.planned == len(policy.learned)
    assert not any(each.is_good for each in policy.learned)
    assert 1 == len(failures(caplog))


def test_a_list_that_cannot_be_read_is_reported_and_does_not_end_the_collection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AttributeError("no such thing")

    monkeypatch.setattr(sources, "news_item", fail)
    report = collect_from(Upstream(), settings_at(tmp_path), "news")

    assert {"ok": 1} == report.outcomes
    assert ["ok"] == [row["outcome"] for row in rows(tmp_path)]
    assert any("learning from the answer of news failed" in warning for warning in report.warnings)


def test_a_last_hour_that_cannot_be_read_does_not_stop_the_collection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    window = raw_file(tmp_path, "emulated", "passages", START.date(), window_name(START, "passages", "w1"))
    make_folder(window.parent)
    window.write_bytes(zstandard.compress(b"no row at all\n"))
    report = collect_with(Clumsy(), tmp_path, monkeypatch)

    assert {"ok": report.planned} == report.outcomes
    assert any("which is damaged" in record.getMessage() for record in caplog.records)


def test_every_failure_is_counted_and_each_kind_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    learner = Passages(Clumsy("0001", "0002"), PassageParser(ZoneInfo("UTC")))
    learn(learner, [answer(NOON, request=v1.passages(stop)) for stop in ("0001", "0002", "0003", "0001")])

    assert 3 == learner.failures.count
    assert 1 == len(learner.failures.messages) == len(failures(caplog))


def test_answers_that_cannot_be_read_to_the_end_teach_up_to_there() -> None:
    policy = Clumsy()
    learner = Passages(policy, PassageParser(ZoneInfo("UTC")))

    def damaged() -> Iterator[Answer]:
        yield answer(NOON, request=v1.passages("0001"))
        raise OSError("damaged")

    learn(learner, damaged())

    assert ["0001"] == [each.stop_code for each in policy.learned]
    assert 1 == learner.failures.count


def test_bad_answers_teach_the_policy_nothing_of_any_bus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_network(tmp_path, {"015-00": STOPS})
    policy = Clumsy()
    monkeypatch.setattr(datasets, "policy_of", lambda *_, **__: policy)
    bad = iter([
        httpx2.Response(429, headers={"Retry-After": "3"}),
        httpx2.Response(200, content=b""),
        httpx2.Response(200, content=b'{"passaggi": ['),
        httpx2.Response(502, content=b"<html>"),
        httpx2.Response(200, json={"passaggi": "none"}),
    ])  # fmt: skip

    def reply(request: httpx2.Request) -> httpx2.Response:
        return next(bad, None) or Upstream()(request)

    report = collect_from(reply, settings_at(tmp_path), "passages", seconds=60)
    taught_nothing = [each for each in policy.learned if not each.is_good]

    assert 5 == len(taught_nothing) == report.planned - report.outcomes["ok"]
    assert [()] * 5 == [each.listings for each in taught_nothing]
    assert report.outcomes["ok"] >= 20


def test_an_invalid_identifier_has_its_row_in_every_dataset(tmp_path: Path) -> None:
    write_network(tmp_path, {"015-00": ["0001", "no stop"], "no line": ["0002"]})
    settings = settings_at(tmp_path, timetable_days_ahead=0, token="t")
    listed = [{"id": "n1", "titolo": "A"}, {"id": "../etc", "titolo": "B"}]
    upstream = Upstream({
        "v1/news": lambda r: httpx2.Response(
            200, json=listed if r.url.path.endswith("news") else {"titolo": "", "contenuto": ""}
        )
    })  # fmt: skip
    for dataset in ("stops", "timetables", "news", "legacy"):
        collect_from(upstream, settings, dataset)
    collect_from(upstream, settings, "passages", seconds=5)
    found = {
        (row["endpoint"], row["key"]): row for row in rows(tmp_path) if row["outcome"] == "bad_identifier"
    }

    assert {
        ("stops", "no line"),
        ("timetables", "no line/2026-03-04"),
        ("news_details", "../etc"),
        ("v0_timetables", "no line"),
        ("v0_transits", "no stop"),
        ("passages", "no stop"),
    } == set(found)
    for row in found.values():
        assert row["sent_at"] is None
        assert row["error"].startswith("not a ")
        assert json.dumps(row)
    assert not any("no" in path.split("/")[-1].split("-") for path in upstream.asked)
