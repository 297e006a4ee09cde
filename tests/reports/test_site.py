"""A report is whole: its pages, CSV files and queries say the same as the published file."""

import csv
import html
import json
import re
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pytest
from lxml import etree

from tests.exports.conftest import change
from tests.reports.conftest import LINK_ALL_NEWS
from tests.warehouse.rehearsed import DAY, Rehearsed
from transit_base.errors import NotPublishedError
from transit_exports import ExportSettings
from transit_reports import ReportError, ReportRequest, ReportSummary, write_reports
from transit_reports.report import folder_name

SECTIONS = [
    "index",
    "lines/index",
    "stops/index",
    "compare/index",
    "disruptions/index",
    "lifts/index",
    "timetable/index",
    "news/index",
    "data/index",
    "method/index",
]


def pages_of(report: ReportSummary) -> list[Path]:
    return sorted(report.page.parent.rglob("*.html"))


def pages_in_english(report: ReportSummary) -> list[Path]:
    return [path for path in pages_of(report) if report.page.parent / "it" not in path.parents]


def figures_of(page: Path) -> list[tuple[str, str]]:
    """Return the name and the query of each figure of a page."""
    found = re.findall(r'<figure id="(.*?)">.*?<code>(.*?)</code>', page.read_text("utf-8"), re.DOTALL)
    return [(name, html.unescape(query)) for name, query in found]


def test_every_section_and_every_line_has_a_page(report: ReportSummary, rehearsed: Rehearsed) -> None:
    folder = report.page.parent
    with duckdb.connect(
        str(rehearsed.settings.data_dir / "warehouse" / "warehouse.duckdb"), read_only=True
    ) as file:
        codes = [code for (code,) in file.execute(
            "select distinct line_code from marts.punctuality where line_code is not null order by 1"
        ).fetchall()]  # fmt: skip

    assert [] == [name for name in SECTIONS if not (folder / f"{name}.html").exists()]
    assert codes
    unseen = {"FGC-10"}  # no bus of it was observed: it is listed, and has no page
    assert sorted(map(folder_name, {*codes} - unseen)) == sorted(
        path.name for path in (folder / "line").iterdir()
    )
    left_out = _rows(folder / "lines" / "lines-without-a-place.csv")
    assert "no bus of it was observed" in [row["reason"] for row in left_out]


def check_links(pages: list[Path]) -> None:
    places: dict[Path, set[str]] = {}
    for page in pages:
        for address in etree.HTML(page.read_text("utf-8")).xpath("//a/@href"):
            path, _, place = address.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.is_file(), f"{page}: {address}"
            if place and target not in places:
                places[target] = {*etree.HTML(target.read_text("utf-8")).xpath("//@id")}
            assert not place or place in places[target], f"{page}: {address}"


def test_every_link_leads_somewhere(report: ReportSummary) -> None:
    check_links([*pages_of(report), report.page.parent.parent / "index.html"])


def test_every_query_of_a_page_gives_the_rows_of_its_file(
    report: ReportSummary, rehearsed: Rehearsed
) -> None:
    n_figures = 0
    with duckdb.connect(
        str(rehearsed.settings.data_dir / "warehouse" / "warehouse.duckdb"), read_only=True
    ) as file:
        for page in pages_in_english(report):
            for name, query in figures_of(page):
                n_figures += 1
                rows = file.execute(query).fetchall()
                with page.with_name(f"{name}.csv").open(encoding="utf-8", newline="") as text:
                    n_rows = len([*csv.DictReader(text)])
                # Every date and the sum of all are added; of a route the main stops are chosen.
                is_other = name.startswith((
                    "dates", "on-time-by-date", "weekdays-", "lines-without", "shares", "times",
                ))  # fmt: skip
                assert n_rows <= len(rows) or is_other, f"{page} {name}"

    assert n_figures > 50


def test_the_share_of_each_line_is_that_of_the_published_file(
    report: ReportSummary, rehearsed: Rehearsed
) -> None:
    with duckdb.connect(
        str(rehearsed.settings.data_dir / "warehouse" / "warehouse.duckdb"), read_only=True
    ) as file:
        expected = {
            row[:2]: row[2:] for row in file.execute(
                "select line_code, direction, n_due, estimated_on_time_share from marts.punctuality_daily "
                "where line_code is not null"
            ).fetchall()
        }  # fmt: skip
    lines = [
        *_rows(report.page.parent / "lines" / "lines.csv"),
        *_rows(report.page.parent / "lines" / "lines-without-a-place.csv"),
    ]

    assert len(expected) <= len(lines)
    shares = sorted(f"{share:.6g}" for _, share in expected.values() if share is not None)
    assert shares == sorted(row["on_time"] for row in lines if row.get("on_time"))


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as text:
        return [*csv.DictReader(text)]


def test_what_is_not_known_is_hatched_and_has_a_reason(report: ReportSummary) -> None:
    rows = _rows(report.page.parent / "stops" / "stops-not-known.csv")

    assert rows
    assert all(row["reason"] for row in rows)
    assert 'class="number unseen"' in (report.page.parent / "lines" / "index.html").read_text("utf-8") or any(
        'class="unseen"' in page.read_text("utf-8") for page in pages_of(report)
    )


def test_rehearsed_data_say_that_they_are(report: ReportSummary) -> None:
    assert "These are rehearsed data" in report.page.read_text("utf-8")


def test_a_page_needs_no_script_and_refuses_all_that_is_not_its_own(report: ReportSummary) -> None:
    for page in pages_of(report):
        text = page.read_text("utf-8")
        assert "default-src 'none'; style-src 'sha256-" in text
        assert not re.search(r"<script|\son\w+=|style=|javascript:|https?://(?!www\.w3\.org)", text), page


def test_a_second_report_of_the_same_changes_no_file(own: ExportSettings, tmp_path: Path) -> None:
    [first] = write_reports(own, tmp_path / "reports", ReportRequest(first=DAY, last=DAY))
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "reports").rglob("*")}
    [second] = write_reports(own, tmp_path / "reports", ReportRequest(first=DAY, last=DAY))

    assert (first.n_files, 0) == (first.n_changed, second.n_changed)
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "reports").rglob("*")}


@pytest.mark.long
def test_a_line_that_is_gone_has_no_page_left(own: ExportSettings, tmp_path: Path) -> None:
    [written] = write_reports(own, tmp_path / "reports", ReportRequest(first=DAY, last=DAY))
    old = written.page.parent / "line" / "old" / "index.html"
    old.parent.mkdir()
    old.write_text("an old page")
    write_reports(own, tmp_path / "reports", ReportRequest(first=DAY, last=DAY))

    assert not old.parent.exists()


@pytest.mark.long
def test_one_line_is_written_without_losing_the_others(own: ExportSettings, tmp_path: Path) -> None:
    [everything] = write_reports(own, tmp_path / "reports", ReportRequest(first=DAY, last=DAY))
    before = pages_of(everything)
    [one] = write_reports(own, tmp_path / "reports", ReportRequest(first=DAY, last=DAY, lines=["001-00"]))

    assert before == pages_of(one)
    assert one.n_pages < everything.n_pages
    assert 0 == one.n_changed
    with pytest.raises(ReportError, match="no line is called nothing"):
        write_reports(own, tmp_path / "reports", ReportRequest(first=DAY, last=DAY, lines=["nothing"]))


def test_pages_of_one_line_alone_lead_only_to_pages_that_exist(own: ExportSettings, tmp_path: Path) -> None:
    [one] = write_reports(own, tmp_path / "reports", ReportRequest(first=DAY, last=DAY, lines=["001-00"]))

    assert ["001-00"] == [path.name for path in (one.page.parent / "line").iterdir()]
    check_links(pages_of(one))


@pytest.mark.long
def test_without_dates_the_last_date_its_week_and_its_month_are_written(
    own: ExportSettings, tmp_path: Path
) -> None:
    written = write_reports(own, tmp_path / "reports", ReportRequest(lines=["001-00"]))

    assert ["2026-11-18", "2026-W47", "2026-11"] == [each.page.parent.name for each in written]
    index = (tmp_path / "reports" / "index.html").read_text("utf-8")
    assert all(f'href="{each.page.parent.name}/index.html"' in index for each in written)
    feed = etree.fromstring((tmp_path / "reports" / "feed.atom").read_bytes())
    assert 3 == len(feed.findall("{http://www.w3.org/2005/Atom}entry"))


@pytest.mark.parametrize(
    ("address", "italian"),
    [
        ("", ["index.html", f"../{DAY}/it/index.html"]),
        ("https://city.test/r", ["it/feed.atom", "it/index.html", f"{DAY}/it/index.html"]),
    ],
)
def test_the_links_of_the_feed_are_absolute_where_the_address_of_the_folder_is_known(
    own: ExportSettings, tmp_path: Path, address: str, italian: list[str]
) -> None:
    asked = ReportRequest(first=DAY, last=DAY, lines=["001-00"], languages=["en", "it"])
    write_reports(replace(own, report_address=address), tmp_path / "reports", asked)
    feed = etree.fromstring((tmp_path / "reports" / "it" / "feed.atom").read_bytes())
    links = [link.get("href") for link in feed.iter("{http://www.w3.org/2005/Atom}link")]

    assert [f"{address}/{link}" if address else link for link in italian] == links
    assert address or all((tmp_path / "reports" / "it" / link).is_file() for link in links)


def test_a_report_of_a_date_without_data_is_refused(own: ExportSettings, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="nothing is known of"):
        write_reports(own, tmp_path / "reports", ReportRequest(first=date(2026, 1, 1), last=date(2026, 1, 2)))

    assert not (tmp_path / "reports" / "index.html").exists()


def test_before_the_first_publication_it_says_so(own: ExportSettings, tmp_path: Path) -> None:
    own.database.unlink()

    with pytest.raises(NotPublishedError, match="nothing is published"):
        write_reports(own, tmp_path / "reports", ReportRequest())


def test_dates_without_data_in_a_period_are_named(own: ExportSettings, tmp_path: Path) -> None:
    asked = ReportRequest(first=DAY - timedelta(days=2), last=DAY, lines=["001-00"])
    [written] = write_reports(own, tmp_path / "reports", asked)
    text = written.page.read_text("utf-8")

    assert "Nothing was collected on 2 dates: 16 November and 17 November." in text
    assert 'fill="url(#unseen)"' in text


def test_an_hour_in_which_nothing_was_answered_is_hatched(own: ExportSettings, tmp_path: Path) -> None:
    change(own, "update marts.coverage set good = 0, covered_seconds = 0 where service_hour = 7")
    asked = ReportRequest(first=DAY, last=DAY, lines=["001-00"])
    [written] = write_reports(own, tmp_path / "reports", asked)
    rows = _rows(written.page.parent / "data" / "coverage.csv")

    assert ["0"] == [row["n_good"] for row in rows if row["service_hour"] == "7"]
    assert '<td class="unseen">0</td>' in (written.page.parent / "data" / "index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("code", "name"),
    [("018-00", "018-00"), ("17/", "17~2f"), ("../x", "~2e~2e~2fx"), ("", "~"), ("é", "~c3~a9")],
)
def test_a_code_is_a_safe_name_of_a_folder(code: str, name: str) -> None:
    assert name == folder_name(code)


def test_the_file_that_the_index_reads_says_what_the_page_says(report: ReportSummary) -> None:
    about = json.loads((report.page.parent / "report.json").read_text("utf-8"))

    assert report.answer == about["en"]["answer"]
    assert html.escape(report.answer, quote=False) in report.page.read_text("utf-8")


def test_the_pages_of_a_second_language_are_in_a_folder_of_its_own(report: ReportSummary) -> None:
    folder = report.page.parent
    english = {path.relative_to(folder) for path in pages_in_english(report)}
    italian = {path.relative_to(folder / "it") for path in (folder / "it").rglob("*.html")}

    assert english == italian
    assert not [*(folder / "it").rglob("*.csv")]
    for path in italian:
        text = (folder / "it" / path).read_text("utf-8")
        assert '<html lang="it">' in text
        assert 'lang="en" hreflang="en">English' in text
        assert not re.search(
            r">(On time|Lines|Stops|To cite|What it means)<|passages? (is|are|were)", text
        ), path
    index = (folder.parent / "it" / "index.html").read_text("utf-8")
    assert f'href="../{folder.name}/it/index.html"' in index
    check_links([folder.parent / "it" / "index.html"])


def test_a_number_that_several_lines_have_asks_for_all_of_them(own: ExportSettings, tmp_path: Path) -> None:
    asked = ReportRequest(first=DAY, last=DAY, lines=["18"])
    [written] = write_reports(own, tmp_path / "reports", asked)

    assert ["018-00", "018-01"] == sorted(path.name for path in (written.page.parent / "line").iterdir())


def test_a_language_that_there_is_not_is_refused(own: ExportSettings, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no report in xx: there are en and it"):
        write_reports(own, tmp_path / "reports", ReportRequest(languages=["xx"]))


def test_lines_asked_for_together_are_compared(own: ExportSettings, tmp_path: Path) -> None:
    asked = ReportRequest(first=DAY, last=DAY, lines=["001-00", "034-00"])
    [written] = write_reports(own, tmp_path / "reports", asked)
    folder = written.page.parent / "compare"

    pairs = folder / "lines_001-00_034-00" / "index.html"
    assert "Too little is known of these lines to compare them." in pairs.read_text("utf-8")
    assert 'href="../compare/lines_001-00_034-00/index.html"' in (folder / "index.html").read_text("utf-8")
    with pytest.raises(ReportError, match="no line is called nothing"):
        write_reports(
            own, tmp_path / "reports", ReportRequest(first=DAY, last=DAY, lines=["001-00", "nothing"])
        )


@pytest.mark.long
def test_another_period_is_compared_and_kept(own: ExportSettings, tmp_path: Path) -> None:
    asked = ReportRequest(first=DAY, last=DAY, lines=["001-00"], against=f"{DAY}")
    [written] = write_reports(own, tmp_path / "reports", asked)
    [again] = write_reports(own, tmp_path / "reports", ReportRequest(first=DAY, last=DAY, lines=["001-00"]))
    page = written.page.parent / "compare" / f"{DAY}" / "index.html"

    assert "No comparison with 18 November 2026: too little is known." in page.read_text("utf-8")
    assert f'href="../compare/{DAY}/index.html"' in (page.parent.parent / "index.html").read_text("utf-8")
    assert 0 == again.n_changed
    with pytest.raises(ReportError, match="nothing is known of"):
        write_reports(
            own, tmp_path / "reports",
            ReportRequest(first=DAY, last=DAY, lines=["001-00"], against="2026-01"),
        )  # fmt: skip


def test_a_new_timetable_is_told_from_that_of_the_week_before(own: ExportSettings, tmp_path: Path) -> None:
    week_before = "select * replace (service_date - 7 as service_date) from core.scheduled_departures"
    change(
        own,
        f"insert into core.scheduled_departures {week_before} where line_code in ('001-00', '034-00')",
        f"delete from core.scheduled_departures where line_code = '034-00' and service_date = date '{DAY}' "
        "and direction = 'outbound' and service_hour = 9",
    )
    asked = ReportRequest(first=DAY, last=DAY, lines=["034-00"])
    [written] = write_reports(own, tmp_path / "reports", asked)
    [row] = _rows(written.page.parent / "timetable" / "new-timetables.csv")

    assert ("34", f"{DAY}", "1") == (row["line"], row["from_date"], row["n_dates"])
    assert int(row["n_departures"]) < int(row["n_departures_before"])
    assert "" == row["change"]  # a single date proves nothing


def test_changes_of_the_timetable_tell_what_moved_with_how_much_notice_and_new_seasons(
    own: ExportSettings, tmp_path: Path
) -> None:
    same = {
        "n_added": 5,
        "n_removed": 4,
        "n_moved": 3,
        "n_edited": 2,
        "n_under_24_h": 6,
        "n_after_the_fact": 1,
        "n_notice_unknown": 5,
    }
    other = {
        "n_added": 7,
        "n_removed": 0,
        "n_moved": 8,
        "n_edited": 0,
        "n_promised_before": 20,
        "n_promised": 27,
    }
    change(
        own,
        "delete from marts.timetable_change_counts",
        *(
            f"""
            insert into marts.timetable_change_counts by name
            select 'emulated' as operator, date '{DAY}' as service_date, '034-00' as line_code,
                'outbound' as direction, '{kind}' as compared_with, date '{DAY}' as compared_date,
                timestamp '{DAY} 05:00' as changed_at,
                {", ".join(f"{n} as {name}" for name, n in counts.items())}
            """
            for kind, counts in (("same_date", same), ("comparable_date", other))
        ),
    )
    asked = ReportRequest(first=DAY, last=DAY, lines=["034-00"], languages=["en", "it"])
    [written] = write_reports(own, tmp_path / "reports", asked)
    folder = written.page.parent
    [changed] = _rows(folder / "timetable" / "timetable-changes.csv")
    [season] = _rows(folder / "timetable" / "season-changes.csv")
    page = (folder / "timetable" / "index.html").read_text("utf-8")
    italian = "".join(path.read_text("utf-8") for path in folder.rglob("it/timetable/index.html"))

    assert ("5", "4", "3", "2") == tuple(
        changed[f"n_{name}"] for name in ("added", "removed", "moved", "edited")
    )
    assert ("6", "1", "5") == (
        changed["n_under_24_h"],
        changed["n_after_the_fact"],
        changed["n_notice_unknown"],
    )
    assert ("7", "8", "20", "27") == (
        season["n_added"], season["n_moved"], season["n_promised_before"], season["n_promised"]
    )  # fmt: skip
    assert (
        "3 departures moved. Of what was added, withdrawn or moved, 6 departures were changed less than"
        in page
    )
    assert "Partenze spostate: 3." in italian


def test_the_news_of_the_period_are_listed(report: ReportSummary, rehearsed: Rehearsed) -> None:
    with duckdb.connect(
        str(rehearsed.settings.data_dir / "warehouse" / "warehouse.duckdb"), read_only=True
    ) as file:
        titles = file.execute("select title from core.news").fetchall()

    assert titles
    assert sorted({title for (title,) in titles}) == sorted(
        {row["title"] for row in _rows(report.page.parent / "news" / "news.csv")}
    )


def test_news_and_disruptions_name_each_other(own: ExportSettings, tmp_path: Path) -> None:
    change(
        own,
        "delete from core.news_episodes",
        LINK_ALL_NEWS,
        "update core.news set title = 'Il 18 cambia'",
        "update core.status_episodes set message = 'Linea 18 deviata'",
    )
    [written] = write_reports(own, tmp_path / "reports", ReportRequest(first=DAY, last=DAY))
    folder = written.page.parent

    assert {"Linea 18 deviata"} == {row["about"] for row in _rows(folder / "news" / "news.csv")}
    assert {"Il 18 cambia"} == {row["news"] for row in _rows(folder / "disruptions" / "disruptions.csv")}


def test_a_report_says_that_nobody_collects(own: ExportSettings, tmp_path: Path) -> None:
    change(
        own,
        "update quality.publication set published_at = last_received_at + to_hours(30)",
        """update core.requests set "window" = '2026-11-18T0800Z'""",
    )
    asked = ReportRequest(first=DAY, last=DAY, lines=["001-00"])
    [written] = write_reports(own, tmp_path / "reports", asked)
    text = written.page.read_text("utf-8")

    assert "Nobody collects: the last answer came on 18" in text
    assert "none in the 30 hours before the data were published" in text
    assert "These are rehearsed data" not in text


def test_each_list_with_places_has_another_of_all_that_it_leaves_out(
    report: ReportSummary, rehearsed: Rehearsed
) -> None:
    pages = {
        "stops": ("stops", "stops-not-known", "stop_punctuality_between(date '{day}', date '{day}')"),
        "waits": ("stop-waits", "stop-waits-not-known", "stop_waits_between(date '{day}', date '{day}')"),
    }
    with duckdb.connect(
        str(rehearsed.settings.data_dir / "warehouse" / "warehouse.duckdb"), read_only=True
    ) as file:
        for told, left_out, source in pages.values():
            rows = [
                *_rows(report.page.parent / "stops" / f"{told}.csv"),
                *(others := _rows(report.page.parent / "stops" / f"{left_out}.csv")),
            ]
            [n_all] = file.execute(f"select count(*) from {source.format(day=DAY)}").fetchone() or (0,)

            assert 0 < n_all == len(rows), told
            assert all(row["reason"] for row in others)


def test_what_was_not_asked_about_is_told_as_not_known_and_not_as_absent(
    own: ExportSettings, tmp_path: Path
) -> None:
    """Status, news and timetables without an answer say nothing about what there was."""
    change(
        own,
        *(f"delete from {table}" for table in (
            "marts.status_coverage", "marts.disruptions", "marts.lift_availability_by_definition",
            "marts.disruption_minutes_by_part", "marts.timetable_change_counts", "core.news",
        )),
        "delete from core.requests where endpoint in ('status', 'news', 'timetables')",
    )  # fmt: skip
    asked = ReportRequest(first=DAY, last=DAY, lines=["001-00"])
    [written] = write_reports(own, tmp_path / "reports", asked)
    folder = written.page.parent
    told = {
        "index": ["Whether there were disruptions on 18 November 2026 is not known"] * 1,
        "disruptions/index": ["Whether there were disruptions on 18 November 2026 is not known"] * 3,
        "lifts/index": ["Whether lifts were in use is not known"],
        "news/index": ["Whether there were news on 18 November 2026 is not known"],
        "timetable/index": [
            "Whether a line has a new timetable is not known",
            "Whether a first answer told a new season is not known",
            "Whether a timetable changed after its first answer is not known",
        ],
        "line/001-00/index": [
            "Whether there were disruptions on 18 November 2026 is not known",
            "Whether a timetable changed after its first answer is not known",
        ],
    }  # fmt: skip
    for name, sentences in told.items():
        text = (folder / f"{name}.html").read_text("utf-8")

        assert not re.search(
            r"named (no|the line in 0)|No (lift|news|line had)|0 times|none had|None of", text
        ), name
        for sentence in {*sentences}:
            assert sentences.count(sentence) == text.count(f"<p>{sentence}"), (name, sentence)


def test_what_was_asked_about_and_not_found_says_how_well_it_was_asked(
    own: ExportSettings, tmp_path: Path
) -> None:
    change(own, "delete from marts.disruptions", "delete from core.news")
    asked = ReportRequest(first=DAY, last=DAY, lines=["001-00"])
    [written] = write_reports(own, tmp_path / "reports", asked)
    status = (written.page.parent / "disruptions" / "index.html").read_text("utf-8")
    news = (written.page.parent / "news" / "index.html").read_text("utf-8")

    assert re.search(
        r"named no disruption on 18 November 2026. The service status was watched \d+\xa0% of the time",
        status,
    )
    assert re.search(r"No news were listed on 18 November 2026; the list was answered \d+ times?\.", news)


def test_a_page_gives_causes_of_messages_colours_by_a_legend_and_one_range_beside_a_figure(
    own: ExportSettings, tmp_path: Path
) -> None:
    change(
        own,
        "update marts.disruptions "
        f"set cause = null, cause_class = 'works', begun_before = timestamp '{DAY} 08:00'",
        "insert into intermediate.stop_names "
        "select operator, stop_code, 'Stop ' || stop_code, 44.4 + hash(stop_code) % 1000 / 1e6, 8.9 "
        "from core.stops",
    )
    asked = ReportRequest(first=DAY, last=DAY, lines=["001-00"])
    [written] = write_reports(own, tmp_path / "reports", asked)
    pages = {path.parent.name: html.unescape(path.read_text("utf-8")) for path in pages_of(written)}
    texts = {name: re.sub("<[^>]*>", " ", page) for name, page in pages.items()}

    assert "works (by the message)" in texts["disruptions"]
    assert not re.search("no(ne| cause) given", texts["disruptions"])
    for name in ("stops", "001-00"):
        assert re.search("On time: +80–100\xa0% +60–80\xa0%", texts[name]), name
    assert [] == [name for name, page in pages.items() if re.search("±|[Dd]arker|[Ll]ighter", page)]
