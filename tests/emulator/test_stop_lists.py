"""Lists captured from an operator's app become a network with their own lines, stops and order."""

import sys
from datetime import date
from pathlib import Path

import pytest

from benchmarks import stop_lists
from transit_emulator.networks.gtfs import gtfs_network
from transit_emulator.networks.network import INBOUND, OUTBOUND

LISTS = {
    "app_stops.csv": "0001;A;;44.40;8.90;\n0002;B;;44.41;8.90;\n0003;C;;44.42;8.90;\n",
    "app_lines.csv": "018-00;18;A;C;1;\n099-00;99;A;C;1;\n",
    "app_lines_stops.csv": "018-00_1;0001;1\n018-00_1;0003;9\n018-00_1;0002;4\n"
    "018-00_2;0003;1\n018-00_2;0001;2\n",
}


def test_captured_lists_are_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in LISTS.items():
        (tmp_path / name).write_text(text)
    feed = tmp_path / "feed.zip"
    monkeypatch.setattr(sys, "argv", ["stop_lists", "--folder", str(tmp_path), "--output", str(feed)])
    stop_lists.main()
    network = gtfs_network(feed)
    [line] = network.lines
    patterns = [network.trips[place].pattern for place in network.trips_on(date(2026, 3, 2))]

    assert ("018-00", "18") == (line.code, line.number)
    assert {OUTBOUND: ["0001", "0002", "0003"], INBOUND: ["0003", "0001"]} == {
        way: [listed.stop_code for listed in stops] for way, stops in line.stops.items()
    }
    assert 19 <= len([place for place in patterns if network.patterns[place].direction == OUTBOUND]) <= 57
