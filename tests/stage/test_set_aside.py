"""What cannot be staged is set aside with its reason: an answer, a line or a window, and nothing else."""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.stage.landing import AT, DAY, OPERATOR, Folder, answer, line, passage, utc_text
from transit_etl.collect.passage_parser import PassageParser
from transit_etl.collect.raw.rawfile import write_finished
from transit_etl.operations.status import read_status
from transit_etl.settings import Settings
from transit_etl.stage import restage, stage
from transit_etl.stage.lake import ensure_schemas, waiting_windows
from transit_etl.stage.listed_lines import ListedLines
from transit_etl.stage.raw import lines_of
from transit_etl.stage.stage_report import StageReport
from transit_etl.stage.stager import Stager

FEW = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
GOOD = passage(destinazione="CENTRO")


@pytest.fixture(scope="module")
def stager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stager]:
    """Give a stager for many small windows: making one takes longer than using it."""
    folder = tmp_path_factory.mktemp("stager")
    with closing(Stager(Settings(data_dir=folder, operator=OPERATOR), threads=1)) as made:
        yield made


def quickly_staged(stager: Stager, folder: Folder) -> StageReport:
    """Stage what waits without building pages; an error that would set a window aside is raised."""
    report, root = StageReport(), folder.settings.data_dir
    ensure_schemas(root)
    for window in waiting_windows(root):
        stager.finish(stager.prepare(window), root, ListedLines([root]), report)
    return report


def test_an_entity_that_is_half_of_a_pair_stays_as_it_is_written(folder: Folder) -> None:
    folder.land("passages", [("0001", answer(passage(destinazione="SAGRA &#55357;&#56832; &#233;")))])
    report = stage(folder.settings)

    assert report.is_clean
    assert ["SAGRA &#55357;&#56832; é"] == [row["destination"] for row in folder.rows("passages")]


def test_a_destination_is_one_however_it_is_escaped(folder: Folder) -> None:
    escapes = [
        "SANT'ANNA",
        "SANT&apos;ANNA",
        "SANT&#39;ANNA",
        "SANT&#x27;ANNA",
        "SANT&#X0027;ANNA",
        "SANT&rsquo;ANNA",
    ]
    named = ["CITTÀ & MARE", "CITT&Agrave; &amp; MARE", "CITT&#192; &AMP; MARE", "CITT&#xC0; &#38; MARE"]
    kept = ["AT&T", "R&D; &c;", "&amp;lt;", "&#38;#39;", "&#0;&#xFFFFFF;"]
    texts = [*escapes, *named, *kept]
    listed = [passage(destinazione=text) for text in texts]
    folder.land("passages", [("0001", answer(*listed))])
    stage(folder.settings)
    found = [row["destination"] for row in folder.rows("passages", "row_number")]
    parsed = PassageParser(folder.settings.zone).listings(json.dumps(answer(*listed)), AT)

    assert [
        *["SANT'ANNA"] * 5, "SANT\u2019ANNA",
        *["CITTÀ & MARE"] * 4,
        "AT&T", "R&D; &c;", "&lt;", "&#39;", "&#0;&#xFFFFFF;",
    ] == found  # fmt: skip
    assert found == [listing.destination for listing in parsed]


def test_an_answer_is_judged_by_its_bytes_as_they_are_read_now(folder: Folder) -> None:
    marked = "\ufeff" + json.dumps(answer(passage()))
    then = "not JSON: Unexpected UTF-8 BOM"
    folder.land("passages", [("0001", marked), ("0002", "<html>")], outcome="not_json", error=then)
    folder.land("passages", [("0003", marked)], worker="b")
    broken = "DecodingError: broken compression"
    folder.land("passages", [("0004", answer(passage()))], worker="c", outcome="not_json", error=broken)
    report = stage(folder.settings)
    requests = {row["key"]: row for row in folder.rows("requests")}

    assert report.is_clean
    assert ["0001", "0003"] == sorted(row["stop_code"] for row in folder.rows("passages"))
    assert [("ok", None), ("ok", None)] == [
        (requests[key]["outcome"], requests[key]["error"]) for key in ("0001", "0003")
    ]
    assert ["not_json", "not_json"] == [requests[key]["outcome"] for key in ("0002", "0004")]


def test_an_answer_that_fails_is_set_aside_alone_and_staged_again_once_that_is_repaired(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [("0001", answer(passage(destinazione=f"D{number}"))) for number in range(40)]
    answers[17] = ("0001", answer(passage(destinazione="&#233; breaks &amp; it")))
    window = folder.land("passages", answers)
    later = folder.land("passages", [("0001", answer(GOOD))], worker="later")
    with monkeypatch.context() as patch:
        patch.setattr("transit_etl.stage.normalise.connect", _connect_with_a_macro_that_fails)
        first, again = stage(folder.settings), stage(folder.settings)
        restaged = restage(folder.settings, DAY, DAY)

    assert first.is_clean
    assert 1 == len(first.set_aside) == len(restaged.set_aside)
    assert 0 == again.windows
    assert 40 == len(folder.rows("passages"))
    assert 41 == len(folder.rows("requests"))
    (kept,) = folder.quarantine("passages")
    assert ("answer_staged", f"{window}/18") == (kept["rule"], kept["request_id"])
    assert "breaks" in kept["reason"]
    (result,) = [row for row in folder.rows("validation_results") if row["rule"] == "answer_staged"]
    assert (False, 41 - 1, 1) == (result["is_success"], result["n_rows"], result["n_unexpected"])
    (alert,) = read_status(folder.settings).rejected
    assert (window, "passages", "answer_staged") == (alert.window, alert.dataset, alert.rule)
    assert "breaks" in alert.reason
    restage(folder.settings, DAY, DAY)
    assert 41 == len(folder.rows("passages"))
    assert [] == folder.quarantine("passages")
    assert [] == read_status(folder.settings).rejected
    assert later in {row["window"] for row in folder.rows("passages")}


def _connect_with_a_macro_that_fails(configured: Settings) -> Any:  # noqa: ANN401 - a connection
    from transit_etl.stage.connection import connect  # noqa: PLC0415 - the name is replaced elsewhere

    connection = connect(configured)
    connection.execute(
        "create or replace temp macro clean_spaces(text) as "
        "case when contains(text, 'breaks') then error('it breaks') else text end"
    )
    return connection


def test_a_window_that_fails_is_set_aside_alone_until_its_day_is_restaged(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = folder.land("passages", [("0001", answer(GOOD))])
    folder.land("passages", [("0001", answer(GOOD))], worker="b")
    finish = Stager.finish

    def fail_at_one(self: Stager, normalised: Any, *rest: Any) -> None:  # noqa: ANN401 - passed on
        if normalised.window.name == window:
            raise LookupError("no idea")
        finish(self, normalised, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Stager, "finish", fail_at_one)
        first, again = stage(folder.settings), stage(folder.settings)

    assert ([True], 0) == (["LookupError: no idea" in error for error in first.errors], again.windows)
    assert 1 == len(folder.rows("passages"))
    assert ["window_staged"] == [alert.rule for alert in read_status(folder.settings).rejected]
    restage(folder.settings, DAY, DAY)
    assert 2 == len(folder.rows("passages"))
    assert [] == read_status(folder.settings).rejected


# Any character, lone surrogates and controls among them, and any JSON where a field of an answer is expected.
TEXT = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(
    ["&#55357;", "&#0;", "&#999999;", "&#x1F600;", "infinity", "-infinity", "9999-12-31T23:59:59.999999Z",
     "294247-01-10", "0001-01-01", "99:59:59", "999:00:00", "-1:00", "24:00:00", "9223372036854775808'",
     "1e999", "31/12/9999 23:59", "01/01/0001 00:00", "2026-11-20T08:00:00+99:99",
     "\x00", "~1~0/", "$.a[0]", "\ud83d"]
)  # fmt: skip
NUMBER = st.sampled_from([0, -1, 10**400, -(2**63), 2**63, 2**64, 1e308, -1e308, 5e-324, 0.1])
VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
STATUS = {
    "evento": "G",
    "categoria": "ASC",
    "linee": ["1"],
    "causa": "c",
    "messaggio": "m",
    "data": "20/11/2026 07:00",
}
TIMETABLE = {
    "linea": "015-00", "data": "2026-11-20",
    "servizi": [{"codice": "1", "barrato": False, "targa": "X", "descrizione": "d",
                 "tratte": {"andata": {"descrizione": "leg", "partenze": ["08:00", "09:00:00"]}}}],
}  # fmt: skip
STOP = {"codice_linea": "015-00", "direzione": "A", "codice_fermata": "0001", "ordine": 1}
ENDPOINTS = {
    "passages": ("0001", answer(passage())),
    "lines": ("", [line("015-00")]),
    "stops": ("015-00", {"codice_linea": "015-00", "andata": [STOP], "ritorno": [STOP]}),
    "timetables": ("015-00/2026-11-20", TIMETABLE),
    "status": ("", {"stato": [STATUS]}),
    "news": ("", [{"id": "1", "titolo": "t", "data": "2026-11-20T08:00:00.000Z"}]),
    "news_details": ("1", {"titolo": "t", "contenuto": "c", "data": "2026-11-20"}),
}  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn, document: Any) -> Any:  # noqa: ANN401 - any JSON
    """Change a document at one place: another value, a name added, or one that stands twice."""
    if isinstance(document, list) and document and draw(st.integers(0, 4)):
        place = draw(st.integers(0, len(document) - 1))
        return [draw(damaged(one)) if number == place else one for number, one in enumerate(document)]
    if isinstance(document, dict) and draw(st.integers(0, 4)):
        name = draw(st.sampled_from(sorted(document)) | TEXT)
        return document | {name: draw(damaged(document[name])) if name in document else draw(VALUE)}
    return draw(VALUE)


@pytest.mark.long
@pytest.mark.parametrize("endpoint", ENDPOINTS)
@given(data=st.data())
@FEW
def test_any_answer_is_staged_or_set_aside_and_the_others_are_staged(
    stager: Stager, tmp_path_factory: pytest.TempPathFactory, endpoint: str, data: st.DataObject
) -> None:
    key, good = ENDPOINTS[endpoint]
    bad = [data.draw(damaged(good)) for _ in range(4)]
    folder = Folder(Settings(data_dir=tmp_path_factory.mktemp("fuzz"), operator=OPERATOR))
    folder.land(endpoint, [(key, good), *((key, json.dumps(one)) for one in bad), (key, good)])
    report = quickly_staged(stager, folder)

    assert [] == report.errors
    assert 6 == len(folder.rows("requests"))
    unvalidated = [one for one in report.rejected if "rows_validated" in one or "cannot be validated" in one]
    assert [] == unvalidated


@given(data=st.data())
@FEW
def test_junk_in_a_raw_file_costs_its_lines_only(
    stager: Stager, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = Folder(Settings(data_dir=tmp_path_factory.mktemp("junk"), operator=OPERATOR))
    window = folder.land("passages", [("0001", answer(GOOD))] * 4)
    path = folder.raw_path("passages", window)
    lines = list(lines_of(path))
    hit = data.draw(st.integers(0, 3))
    start, length = data.draw(st.integers(0, len(lines[hit]) - 2)), data.draw(st.integers(0, 30))
    spoilt = lines[hit][:start] + data.draw(st.binary(max_size=20)) + lines[hit][start + length :]
    lines[hit] = spoilt.replace(b"\n", b"") + b"\n"
    path.unlink()
    write_finished(path, lines)
    report = quickly_staged(stager, folder)

    assert [] == report.errors
    kept = {row["request_id"] for row in folder.rows("requests")}
    assert kept >= {f"{window}/{number + 1}" for number in range(4) if number != hit}


@pytest.mark.parametrize(
    "junk",
    [
        b"no JSON",
        b"{}",
        b"[]",
        b"null",
        b'"x"',
        b"\xff\xfe",
        b'{"request_id": "w/1"}',
        b"{" * 100_000,
        b"\x00" * 50,
    ],
)
def test_a_junk_line_is_quarantined_and_the_status_says_so(
    stager: Stager, folder: Folder, junk: bytes
) -> None:
    window = folder.land("passages", [("0001", answer(GOOD))] * 3)
    path = folder.raw_path("passages", window)
    lines = list(lines_of(path))
    path.unlink()
    write_finished(path, [lines[0], junk + b"\n", *lines[1:]])
    report = quickly_staged(stager, folder)

    assert report.is_clean
    assert 3 == len(folder.rows("passages")) == len(folder.rows("requests"))
    assert ["line_read"] == [row["rule"] for row in folder.quarantine("requests")]
    assert ["line_read"] == [alert.rule for alert in read_status(folder.settings).rejected]


def test_a_line_of_another_time_or_window_is_junk(folder: Folder) -> None:
    window = folder.land("passages", [("0001", answer(GOOD))] * 3)
    path = folder.raw_path("passages", window)
    lines = list(lines_of(path))
    lines[0] = lines[0].replace(utc_text(AT)[:4].encode(), b"1999", 2)
    lines[1] = lines[1].replace(window.encode(), b"20260101T000000Z-passages-z")
    path.unlink()
    write_finished(path, lines)
    stage(folder.settings)

    assert 1 == len(folder.rows("requests"))
    assert 2 == len(folder.quarantine("requests"))


def test_a_last_line_without_its_end_is_read(folder: Folder) -> None:
    window = folder.land("passages", [("0001", answer(GOOD))] * 2)
    path = folder.raw_path("passages", window)
    path.write_bytes(zstandard.compress(b"".join(lines_of(path)).rstrip(b"\n") + b"\njunk"))
    stage(folder.settings)

    assert 2 == len(folder.rows("passages"))


NAME = st.sampled_from(["linea", "destinazione", "orario", "attesa", "teorico", "id_corsa", "pieno", "nuovo"])


@pytest.mark.long
@given(
    st.lists(
        st.tuples(NAME, st.sampled_from(["A", "B", "09:05:00", "5'", None, True, 7])), min_size=1, max_size=9
    )
)
@FEW
def test_a_name_given_twice_is_read_as_python_reads_it(
    stager: Stager, tmp_path_factory: pytest.TempPathFactory, members: list[tuple[str, object]]
) -> None:
    row = "{" + ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for name, value in members) + "}"
    body = (
        '{"codice_fermata":"0001","passaggi":['
        + ",".join([row, json.dumps(GOOD)])
        + '],"passaggi":['
        + row
        + "]}"
    )
    read = json.dumps(json.loads(body))
    staged = []
    for text in (body, read):
        folder = Folder(Settings(data_dir=tmp_path_factory.mktemp("twice"), operator=OPERATOR))
        folder.land("passages", [("0001", text)], n_bytes=0)
        quickly_staged(stager, folder)
        rows = [{**row, "row": None} for row in folder.quarantine("passages")]
        staged.append((folder.rows("passages"), folder.rows("requests"), rows))

    assert staged[1] == staged[0]
