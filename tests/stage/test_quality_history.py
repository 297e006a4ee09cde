"""The first page about quality says of each dataset what came last, what failed, and the days before."""

from datetime import timedelta
from pathlib import Path

import pytest
from lxml import html

from tests.stage.landing import AT, DAY, OPERATOR, Folder, answer, line, passage
from transit_etl.identity import accept
from transit_etl.paths import lake_files, quality_pages_dir, quarantine_files
from transit_etl.service_day import DAY as ONE_DAY
from transit_etl.stage import build_data_docs, compact, stage
from transit_etl.stage.quality_history import N_DAYS, DayOfDataset, QualityHistory, read_history

COUNTED = [("passages", "labels_known")]


def history(folder: Folder) -> QualityHistory:
    return read_history(folder.settings, COUNTED)


def text_of(page: Path) -> str:
    return " ".join(html.document_fromstring(page.read_text()).text_content().split())


def test_before_anything_was_staged_there_is_no_history(folder: Folder) -> None:
    assert QualityHistory((), {}, {}, (), ()) == history(folder)


def test_rows_batches_and_quarantine_are_counted_by_day_of_receipt(folder: Folder) -> None:
    folder.land("passages", [("0001", answer(passage(), passage(teorico=None)))])
    folder.land("passages", [("0001", answer(passage(), passage(), passage()))], worker="b")
    folder.land("passages", [("0001", answer(passage(teorico=None, attesa="1500'")))], at=AT + ONE_DAY)
    stage(folder.settings)
    found = history(folder)

    assert (DAY + ONE_DAY, DAY) == found.days
    # a row that breaks two rules has two entries
    assert (DayOfDataset(DAY + ONE_DAY, 1, 1, 2, 0), DayOfDataset(DAY, 2, 5, 1, 0)) == found.by_day[
        "passages"
    ]
    assert {
        ("passages", "nature_known"): {DAY: 1, DAY + ONE_DAY: 1},
        ("passages", "wait_within_a_day"): {DAY + ONE_DAY: 1},
    } == {(each.dataset, each.rule): each.by_day for each in found.set_aside}
    assert all(each.reason.endswith(".") and 1 == each.n_reasons for each in found.set_aside)


def test_the_last_batch_is_the_one_received_last_whatever_was_staged_last(folder: Folder) -> None:
    later = folder.land("passages", [("0001", answer(passage(), passage()))], at=AT + timedelta(minutes=1))
    stage(folder.settings)
    folder.land("passages", [("0001", answer(passage(teorico=None)))])
    stage(folder.settings)
    last = history(folder).last["passages"]

    assert (later, AT + timedelta(minutes=1), 2) == (last.window, last.received_at, last.n_rows)
    assert (False, ()) == (last.is_rejected, last.broken)
    page = text_of(build_data_docs(folder.settings))
    assert "passages 2026-11-20 08:01:00 2 all 5 rules held" in page
    assert "rules · result of 2026-11-20 08:00:00" in page


def test_a_row_set_aside_and_a_batch_kept_out_are_told_apart(folder: Folder) -> None:
    folder.land("news", [("", [{"id": "1", "titolo": "t"}, {"titolo": "u"}])])
    lost = [passage() if number < 9 else passage(orario="presto") for number in range(20)]
    folder.land("passages", [("0001", answer(*lost))])
    stage(folder.settings)
    found = history(folder)

    assert (True, False) == (found.last["passages"].is_rejected, found.last["news"].is_rejected)
    assert ["clocks_mostly_read", "clock_read"] == [each.rule for each in found.last["passages"].broken]
    assert DayOfDataset(DAY, 1, 20, 20, 1) == found.by_day["passages"][0]
    page = html.document_fromstring(build_data_docs(folder.settings).read_text())
    classes = {
        row.xpath("string(th)"): row.xpath("string(td[3]/span/@class)")
        for row in page.xpath("//table")[0].iterfind("tbody/tr")
    }
    assert ("bad", "warn", "good") == (classes["passages"], classes["news"], classes["requests"])


def test_what_is_only_counted_is_a_note_and_no_failure(folder: Folder) -> None:
    folder.land("lines", [("", [line("018-00", "018")])])
    folder.land("passages", [("0001", answer(passage(), passage(linea="X9"), passage(linea="X9")))])
    stage(folder.settings)
    found = history(folder)

    assert [("passages", "labels_known", 2, 3, ("X9",))] == [
        (each.dataset, each.rule, each.n_noted, each.n_rows, each.examples) for each in found.noted
    ]
    assert () == found.last["passages"].broken
    page = build_data_docs(folder.settings)
    assert "Noted" in text_of(page)
    assert [] == html.document_fromstring(page.read_text()).xpath("//*[@class='bad' or @class='warn']")


def test_an_answer_that_cannot_be_read_is_in_quarantine_of_a_dataset_without_rows(folder: Folder) -> None:
    folder.land("status", [("", "no JSON")])
    stage(folder.settings)

    [aside] = history(folder).set_aside
    assert ("status", "unreadable_answer", 1) == (aside.dataset, aside.rule, aside.n_entries)
    assert "status no row was checked, last day 1 rules" in text_of(build_data_docs(folder.settings))


@pytest.mark.long
def test_only_the_last_days_with_answers_count_and_compacting_changes_nothing(folder: Folder) -> None:
    days = [DAY + ONE_DAY * 3 * number for number in range(N_DAYS + 2)]  # with days between that had none
    for day in days:
        folder.land("passages", [("0001", answer(passage(teorico=None)))], at=AT + (day - DAY))
    stage(folder.settings)
    before = history(folder)
    compact(folder.settings, days[-1])
    compact(folder.settings, days[-2])

    assert tuple(days[:1:-1]) == before.days
    assert N_DAYS == sum(each.n_entries for each in before.set_aside)
    assert before == history(folder)


@pytest.mark.parametrize("damaged", ["results", "quarantine"])
def test_damaged_files_are_left_out_of_the_history(folder: Folder, damaged: str) -> None:
    for worker in "ab":
        folder.land("passages", [("0001", answer(passage(teorico=None)))], worker=worker)
    stage(folder.settings)
    files = {
        "results": lake_files(folder.settings.data_dir, "validation_results", folder.settings.operator),
        "quarantine": quarantine_files(folder.settings.data_dir),
    }[damaged]
    assert 2 == len(files)
    files[0].write_bytes(b"PAR1 damaged PAR1")

    [day] = history(folder).by_day["passages"]
    assert {"results": (1, 2), "quarantine": (2, 1)}[damaged] == (day.n_batches, day.n_set_aside)


def test_a_rehearsed_window_says_so(folder: Folder) -> None:
    folder.land("news", [("", [])], worker="rehearsal")
    stage(folder.settings)

    assert history(folder).last["news"].is_rehearsed
    assert "news 2026-11-20 08:00:00 (rehearsed) 0" in text_of(build_data_docs(folder.settings))


@pytest.mark.long
@pytest.mark.pages_about_quality
def test_each_of_several_operators_has_pages_of_its_own(folder: Folder) -> None:
    others = folder.settings.model_copy(update={"operator": "other"})
    folder.land("news", [("", [{"titolo": "u"}])])
    stage(folder.settings)
    accept(others)
    folder.land("news", [("", [{"id": "1", "titolo": "t"}])], operator="other", worker="b")
    stage(folder.settings)
    first = quality_pages_dir(folder.settings.data_dir) / "index.html"
    own, other = (first.parent / name / "index.html" for name in (OPERATOR, "other"))
    links = html.document_fromstring(first.read_text()).xpath("//@href")

    assert [own, other] == [first.parent / link for link in links]
    assert "1 entry went to quarantine" in text_of(own)
    assert f"Data quality: {OPERATOR}" in text_of(own)
    assert "all kept every rule" in text_of(other)
    for page in (own, other):
        [result] = html.document_fromstring(page.read_text()).xpath(
            "//tr[th = 'news']//a[. = 'result']/@href"
        )
        assert ("b/" in result) == (page == other)
        assert (page.parent / result).exists()
