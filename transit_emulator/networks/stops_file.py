"""Writes names and places of stops: operators publish them as open data, the interface does not tell them."""

import csv
from pathlib import Path

from transit_emulator.networks.network import Network

COLUMNS = ("stop_code", "stop_name", "latitude", "longitude")


def write_stops(network: Network, path: Path) -> Path:
    """Write a CSV with a heading and a row for each stop; an existing file is replaced in one step.

    Degrees (WGS 84) are empty for a stop of which no place is known.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    with temporary.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        rows.writerows((stop.code, stop.name, *(stop.place or ("", ""))) for stop in network.stops)
    temporary.replace(path)
    return path
