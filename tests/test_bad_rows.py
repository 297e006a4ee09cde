"""Rows of passages that break a rule go to quarantine, and the good rows of their answer to the lake."""

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from tests.collect.helpers import STOP, answer, body_of, landing_at, rows
from transit_etl.paths import quarantine_dir
from transit_etl.settings import Settings
from transit_etl.stage import stage

GOOD_ROW = {
    "linea": "15", "destinazione": "CENTRO", "orario": "13:05:00", "attesa": "5'", "teorico": False,
    "id_corsa": "T1", "pieno": False,
}  # fmt: skip


class BadRow(NamedTuple):
    """A row of an answer and the rule it breaks; none if the row is kept as it is."""

    name: str
    row: object
    rule: str | None = None


BAD_ROWS = [
    BadRow("no line", {**GOOD_ROW, "linea": None}, "line_present"),
    BadRow("no time", {key: value for key, value in GOOD_ROW.items() if key != "orario"}, "clock_read"),
    BadRow("a text that is not a time", {**GOOD_ROW, "orario": "soon"}, "clock_read"),
    BadRow("a time that is an object", {**GOOD_ROW, "orario": {"h": 13}}, "clock_read"),
    BadRow("a flag that is text", {**GOOD_ROW, "teorico": "forse"}, "nature_known"),
    BadRow("a row that is a number", 7, "line_present"),
    BadRow("a row that is null", None, "line_present"),
    BadRow("a row that is a list", [GOOD_ROW], "line_present"),
    BadRow("a wait in words", {**GOOD_ROW, "attesa": "in arrivo"}),
    BadRow("an unknown key", {**GOOD_ROW, "nuovo": {"a": [1]}}),
    BadRow("no trip", {**GOOD_ROW, "id_corsa": None}),
    BadRow("a line that is a number", {**GOOD_ROW, "linea": 15}),
]


def test_bad_rows_go_to_quarantine_with_their_rule_and_the_good_ones_stay(tmp_path: Path) -> None:
    listed = [*[GOOD_ROW] * 24, *(bad.row for bad in BAD_ROWS)]
    body = json.dumps({"codice_fermata": STOP.key, "timestamp": "x", "passaggi": listed}).encode()
    with landing_at(tmp_path) as landing:
        landing.land(landing.plan(STOP), answer(body=body))

    report = stage(Settings(data_dir=tmp_path))

    rules = Counter(f"passages.{bad.rule}" for bad in BAD_ROWS if bad.rule)
    n_bad = rules.total()
    assert report.is_clean, report
    assert len(listed) - n_bad == report.rows["passages"]
    assert rules <= report.quarantined
    assert n_bad == len(quarantined_rows(tmp_path))


def test_a_batch_of_bad_rows_alone_is_rejected_and_still_in_raw(tmp_path: Path) -> None:
    bad_rows = [{**GOOD_ROW, "orario": "soon"}] * 30
    body = json.dumps({"codice_fermata": STOP.key, "passaggi": bad_rows}).encode()
    with landing_at(tmp_path) as landing:
        landing.land(landing.plan(STOP), answer(body=body))

    report = stage(Settings(data_dir=tmp_path))

    assert not report.is_clean
    assert 0 == report.rows["passages"]
    assert [body] == [body_of(row) for row in rows(tmp_path)]


def quarantined_rows(folder: Path) -> set[str]:
    files = sorted(quarantine_dir(folder).glob("*/dataset=passages/*/*.parquet"))
    return {row["row"] for file in files for row in pq.ParquetFile(file).read().to_pylist()}
