"""Large answers are staged in parts, so that memory grows far less than what is staged."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stage.landing import DAY, OPERATOR, Folder, answer, passage
from transit_etl.settings import Settings
from transit_etl.stage.raw import RawWindow
from transit_etl.stage.stager import Stager

MEGABYTE = 1 << 20
PROGRAM = """
import resource, sys
from pathlib import Path
from transit_etl.settings import Settings
from transit_etl.stage import stage
report = stage(Settings(data_dir=Path(sys.argv[1]), operator="x"))
assert report.is_clean, report
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(peak, report.rows["passages"], len(report.set_aside))
"""


def body_of(row: str, n_bytes: int) -> str:
    """Make an answer of a size that lists one row again and again."""
    rows = ",".join([row] * (n_bytes // (len(row) + 1)))
    return json.dumps(answer()).replace("[]", f"[{rows}]")


def peak_mb(folder: Path, body: str, n: int) -> tuple[int, int, int]:
    """Stage so many answers in a process of its own; return peak MB, rows, and sentences of set aside."""
    Folder(Settings(data_dir=folder, operator=OPERATOR)).land("passages", [("0001", body)] * n)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)],
        check=True,
        capture_output=True,
        text=True,
    )
    peak, rows, n_aside = map(int, done.stdout.split())
    return peak, rows, n_aside


@pytest.mark.long
def test_memory_does_not_grow_with_the_number_of_large_answers(tmp_path: Path) -> None:
    body = body_of(json.dumps(passage(), separators=(",", ":")), 8 * MEGABYTE)
    one, one_rows, _ = peak_mb(tmp_path / "one", body, 1)
    many, many_rows, _ = peak_mb(tmp_path / "many", body, 8)

    assert 8 * one_rows == many_rows
    assert many < 2 * one


@pytest.mark.long
def test_answers_of_empty_rows_are_set_aside_and_take_bounded_memory(tmp_path: Path) -> None:
    body = body_of("{}", 8 * MEGABYTE)
    one, *_ = peak_mb(tmp_path / "one", body, 1)
    many, n_rows, n_aside = peak_mb(tmp_path / "many", body, 4)

    assert (0, 1) == (n_rows, n_aside)
    assert many < 2 * one


def test_a_window_in_parts_is_staged_as_one_that_is_read_at_once(folder: Folder) -> None:
    answers = [("0001", answer(*[passage(orario=f"09:{n % 60:02d}:00", attesa="-")] * 40)) for n in range(60)]
    window = folder.land("passages", answers)
    raw = RawWindow(folder.raw_path("passages", window), OPERATOR, "passages", DAY, window)
    tables = []
    for max_rows in (300_000, 1000):
        stager = Stager(Settings(operator=OPERATOR, stage_max_rows=max_rows), threads=1)
        normalised = stager.prepare(raw)
        stager.close()
        rows = [row for part in normalised.rows for row in part.to_pylist()]
        rows.sort(key=lambda row: (row["request_id"], row["row_number"]))  # all are of one instant
        tables.append((normalised.requests.to_pylist(), rows))

    assert 2400 == len(tables[0][1])
    assert tables[0] == tables[1]
