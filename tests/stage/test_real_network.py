"""A real network passes with its irregularities: odd codes, gaps in ordine, lines of one direction."""

import csv
from collections import defaultdict
from pathlib import Path

import pytest

from tests.stage.landing import Folder, line
from transit_etl.stage import stage

NETWORK = Path(__file__).resolve().parents[3] / "shared" / "networks" / "genova"

pytestmark = pytest.mark.skipif(
    not (NETWORK / "app_lines.csv").exists(), reason="the captured network is not in ../shared"
)


def table(name: str) -> list[list[str]]:
    with (NETWORK / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=";"))


def stop_answers() -> dict[str, dict[str, object]]:
    """Turn the captured sequences into answers to /fermate: direction 1 is andata, 2 the way back."""
    directions: dict[str, dict[str, list[dict[str, object]]]] = defaultdict(dict)
    for key, stop, position in (row[:3] for row in table("app_lines_stops.csv")):
        code, indicator = key.rsplit("_", 1)
        entry = {
            "codice_linea": code,
            "direzione": indicator,
            "codice_fermata": stop,
            "ordine": int(position),
        }
        directions[code].setdefault("andata" if indicator == "1" else "ritorno", []).append(entry)
    return {code: {"codice_linea": code, "andata": [], **lists} for code, lists in directions.items()}


@pytest.fixture
def network(folder: Folder) -> Folder:
    lines = [line(row[0], row[1], note=row[5] if len(row) > 5 else "") for row in table("app_lines.csv")]
    folder.land("lines", [("", lines)])
    folder.land("stops", list(stop_answers().items()))
    report = stage(folder.settings)
    assert report.is_clean, report.rejected
    return folder


def test_no_row_of_a_real_network_is_quarantined(network: Folder) -> None:
    assert ([], []) == (network.quarantine("lines"), network.quarantine("line_stops"))
    assert (len(table("app_lines.csv")), len(table("app_lines_stops.csv"))) == (
        len(network.rows("lines")),
        len(network.rows("line_stops")),
    )


def test_codes_of_every_shape_and_numbers_of_several_lines_stay(network: Folder) -> None:
    codes = {row["line_code"] for row in network.rows("lines")}
    numbers = [row["line_number"] for row in network.rows("lines")]

    assert {"001-00", "N1-00", "FGC-10", "MM-00", "T374-00"} <= codes
    assert 5 == numbers.count("189/")


def test_positions_count_on_where_ordine_has_gaps(network: Folder) -> None:
    sequences: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for row in network.rows("line_stops", "line_code, direction, position"):
        sequences[row["line_code"], row["direction"]].append((row["position"], row["stop_sequence"]))

    gaps = [key for key, places in sequences.items() if places[-1][1] != len(places)]
    assert (411, 337) == (len(sequences), len(gaps))
    for places in sequences.values():
        assert list(range(1, len(places) + 1)) == [position for position, _ in places]
        assert sorted(places, key=lambda place: place[1]) == places
