"""Suites are loaded strictly; bad rows leave alone, bad batches stop whole."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from tests.stage.landing import AT, DAY, Folder, answer, line, passage
from transit_etl.paths import quality_results_dir
from transit_etl.stage import SuiteError, build_data_docs, restage, stage
from transit_etl.stage.suites import EXPECTATIONS, load_suite, load_suites

RULE = {"rule": "r", "scope": "row", "reason": "Because."}


def written(folder: Path, **change: Any) -> Path:  # noqa: ANN401 - any JSON
    expectation = {
        "type": "expect_column_values_to_not_be_null",
        "kwargs": {"column": "line_code"},
        "meta": RULE,
    }
    path = folder / "lines.json"
    path.write_text(json.dumps({"name": "lines", "expectations": [expectation | change], "meta": {}}))
    return path


def test_every_dataset_has_a_suite_and_every_rule_a_reason() -> None:
    suites = load_suites()

    assert {path.stem for path in EXPECTATIONS.glob("*.json")} == set(suites)
    assert all(rule.reason.endswith(".") for suite in suites.values() for rule in suite.rules)


def test_a_plain_suite_is_loaded(tmp_path: Path) -> None:
    assert ["r"] == [rule.name for rule in load_suite(written(tmp_path)).rules]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"type": "expect_column_values_to_be_fine"}, "not an expectation"),
        ({"kwargs": {"column": "line_code", "mostly": 7}}, "mostly"),
        (
            {"kwargs": {"column": "line_code", "mostly": 7}, "meta": RULE | {"scope": "batch"}},
            "less than or equal to 1",
        ),
        ({"kwargs": {"column": "line_colour"}}, "no column line_colour"),
        ({"meta": {}}, "rule, reason and scope"),
        ({"meta": RULE | {"scope": "sometimes"}}, "rule, reason and scope"),
        ({"meta": RULE | {"reason": ""}}, "rule, reason and scope"),
    ],
)
def test_a_suite_that_would_check_less_than_it_says_is_refused(
    tmp_path: Path, change: dict[str, Any], complaint: str
) -> None:
    path = written(tmp_path, **change)

    with pytest.raises(SuiteError, match=complaint) as refusal:
        load_suite(path)
    assert str(path) in str(refusal.value)


def test_a_suite_of_no_dataset_and_a_missing_suite_are_refused(tmp_path: Path) -> None:
    written(tmp_path).rename(tmp_path / "buses.json")

    with pytest.raises(SuiteError, match=r"buses\.json"):
        load_suites(tmp_path)
    (tmp_path / "buses.json").unlink()
    written(tmp_path)
    with pytest.raises(SuiteError, match="no suite for"):
        load_suites(tmp_path)


def test_a_row_that_breaks_a_rule_leaves_with_rule_and_reason_and_the_others_go_on(folder: Folder) -> None:
    folder.land(
        "passages", [("0001", answer(passage(), passage(orario="09:15:00"), passage(attesa="1500'")))]
    )
    report = stage(folder.settings)

    kept = folder.quarantine("passages")
    assert {"wait_agrees_with_clock", "wait_within_a_day"} == {row["rule"] for row in kept}
    assert all(row["reason"] for row in kept)
    assert ("09:15:00", -600 + 1200) == (kept[0]["row"]["clock_text"], kept[0]["row"]["wait_gap_seconds"])
    assert [1] == [row["row_number"] for row in folder.rows("passages")]
    assert {"passages.wait_agrees_with_clock": 1, "passages.wait_within_a_day": 1} == dict(report.quarantined)
    assert report.is_clean


def test_a_batch_that_breaks_a_batch_rule_stops_whole_and_alone(folder: Folder) -> None:
    lost = [passage() if number < 9 else passage(orario="presto") for number in range(20)]
    folder.land("passages", [("0001", answer(*lost))])
    folder.land("passages", [("0001", answer(passage()))], worker="b")
    report = stage(folder.settings)

    assert (1, False) == (len(report.rejected), report.is_clean)
    assert "clocks_mostly_read" in report.rejected[0]
    assert 1 == len(folder.rows("passages"))
    kept = folder.quarantine("passages")
    assert (20, {"clocks_mostly_read"}) == (len(kept), {row["rule"] for row in kept})
    failed = [row["rule"] for row in folder.rows("validation_results") if not row["is_success"]]
    assert ["clock_read", "clocks_mostly_read"] == sorted(failed)
    assert 2 == len(folder.rows("requests"))


def test_a_rejected_batch_is_not_tried_again_until_its_day_is_restaged(folder: Folder) -> None:
    folder.land("lines", [("", [])])
    first = stage(folder.settings)
    second = stage(folder.settings)
    third = restage(folder.settings, DAY, DAY)

    assert (1, 0, 1) == (len(first.rejected), len(second.rejected), len(third.rejected))


def test_a_repeated_line_of_the_ledger_keeps_the_whole_window_out(folder: Folder) -> None:
    folder.land("passages", [("0001", answer(passage())), ("0001", answer(passage()))], request_id="w/1")
    report = stage(folder.settings)

    assert ([], []) == (folder.rows("passages"), folder.rows("requests"))
    assert 1 == len(report.rejected)
    assert {"request_once"} == {row["rule"] for row in folder.quarantine("passages")}


def test_an_answer_that_arrived_before_its_request_was_sent_leaves_the_ledger(folder: Folder) -> None:
    folder.land("news", [("", [])], sent_at="2026-11-20T08:00:01.000000Z")
    stage(folder.settings)

    assert ["answered_after_sent"] == [row["rule"] for row in folder.quarantine("requests")]


def test_passages_of_unknown_lines_are_counted_and_stay(folder: Folder) -> None:
    folder.land("lines", [("", [line("018-00", "018"), line("604-01", "604/")])])
    folder.land("passages", [("0001", answer(passage(), passage(linea="604/"), passage(linea="X9")))])
    stage(folder.settings)

    (counted,) = [row for row in folder.rows("validation_results") if row["rule"] == "labels_known"]
    assert (True, 1, '["X9"]') == (counted["is_success"], counted["n_unexpected"], counted["observed"])
    assert 3 == len(folder.rows("passages"))


def test_stops_of_lines_nobody_listed_are_rejected(folder: Folder) -> None:
    folder.land("lines", [("", [line("018-00")])])
    stops = [{"codice_fermata": f"{n:04d}", "ordine": n, "direzione": "1"} for n in range(1, 25)]
    folder.land("stops", [("999-00", {"codice_linea": "999-00", "andata": stops})])
    report = stage(folder.settings)

    assert ["lines_known"] == [row.split(" rejected by ")[1].split(":")[0] for row in report.rejected]


def test_validation_results_say_what_was_checked_and_when(folder: Folder) -> None:
    folder.land("news", [("", [{"id": "1", "titolo": "t", "data": "2026-11-20T08:00:00.000Z"}])])
    stage(folder.settings)

    rules = {row["rule"]: row for row in folder.rows("validation_results") if row["suite"] == "news"}
    row = rules["id_present"]
    assert ("expect_column_values_to_not_be_null", "news_id", "row", 1, 0) == tuple(
        row[name] for name in ("expectation", "column", "scope", "n_rows", "n_unexpected")
    )
    assert "2026-11-20 08:00:00" == str(row["last_received_at"])


def test_the_quality_pages_show_every_dataset_and_ask_nobody_for_anything(folder: Folder) -> None:
    folder.land("passages", [("0001", answer(passage(), passage(teorico=None)))])
    stage(folder.settings)
    page = build_data_docs(folder.settings)

    pages = {path: path.read_text() for path in page.parent.rglob("*.html")}
    assert all(f'<th scope="row">{dataset}</th>' in pages[page] for dataset in load_suites())
    assert "nature_known" in pages[page]
    assert [] == [path for path, text in pages.items() if 'src="http' in text or "<link" in text]
    assert [] == [path for path, text in pages.items() if "<script" in text or " onclick=" in text]


def test_no_link_of_the_quality_pages_leads_to_a_missing_file_and_no_time_has_microseconds(
    folder: Folder,
) -> None:
    at = AT + timedelta(microseconds=123456)
    folder.land("passages", [("0001", answer(passage(), passage(teorico=None)))], at=at)
    stage(folder.settings)
    first = build_data_docs(folder.settings)

    n_links = 0
    for path in first.parent.rglob("*.html"):
        page = html.document_fromstring(path.read_text())
        links = [link for link in page.xpath("//@href | //@src") if not link.startswith("#")]
        assert [] == [link for link in links if not (path.parent / link.partition("#")[0]).exists()], path
        assert "123456" not in page.text_content()
        n_links += len(links)
    assert n_links


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", b"\xff", b'{"meta": {"last_received_at": 1}}'])
def test_damaged_results_have_no_page_until_the_dataset_is_validated_again(
    folder: Folder, damage: bytes
) -> None:
    folder.land("news", [("", [])])
    stage(folder.settings)
    (quality_results_dir(folder.settings.data_dir, folder.settings.operator) / "news.json").write_bytes(
        damage
    )

    page = build_data_docs(folder.settings)

    assert "result: with the next window" in page.read_text()
    assert not (page.parent / "validations" / "news").exists()
