"""Raw files: lines that no collector wrote, compressed; compressed files that are damaged; intents."""

import json
from pathlib import Path

from tests.collect.upstream import settings_at
from tests.fuzz.mutation import of_bytes, of_lines, with_head
from tests.fuzz.staging import normalise
from tests.fuzz.target import DAY, NOW, Target, head_and_rest, reported_in_one_line
from transit_etl.clock import VirtualClock
from transit_etl.collect.peer_windows import PeerWindows
from transit_etl.collect.raw.rawfile import read_lines, write_finished
from transit_etl.collect.raw.recovery import recover
from transit_etl.collect.replay import recent_answers
from transit_etl.operations.status.last_hour import last_hour
from transit_etl.operations.verification import verify
from transit_etl.paths import intents_file, open_raw_file, raw_file, raw_files
from transit_etl.settings import Settings
from transit_etl.stage.raw import finished_windows

_N_LINES = 4


def _check_lines(data: bytes, folder: Path) -> None:
    """Read a raw file with these lines, finished."""
    path, rest = _place(data, folder)
    write_finished(path, [rest])
    _read_finished(settings_at(folder))


def _check_file(data: bytes, folder: Path) -> None:
    """Read a file with this content, finished."""
    path, rest = _place(data, folder)
    path.write_bytes(rest)
    _read_finished(settings_at(folder))


def _check_open_window(data: bytes, folder: Path) -> None:
    """Recover a window that was being written: its intents, and after an empty line its rows."""
    path = _made(raw_file(folder, "emulated", "passages", DAY, f"{NOW:%Y%m%dT%H%M%SZ}-passages-w"))
    intents, _, lines = data.partition(b"\n\n")
    write_finished(path, [lines])
    path.rename(open_raw_file(path))
    intents_file(path).write_bytes(intents)
    settings = settings_at(folder)
    _learn_from_peers(settings)
    recover(folder)
    assert [] == list(folder.rglob("*.part"))
    _read_finished(settings)


def _read_finished(settings: Settings) -> None:
    """Read the raw files as each step does; an error of one step does not keep the next from reading."""
    folder = settings.data_dir
    _learn_from_peers(settings)
    list(recent_answers(folder, settings.operator, NOW))
    with last_hour(settings, NOW) as hour:
        hour.requests()
        hour.last_good_answers()
        hour.evidence()
    with reported_in_one_line():
        list(finished_windows(folder))
    with reported_in_one_line():
        normalise(settings)
    verify(settings, repairs=False)


def _learn_from_peers(settings: Settings) -> None:
    clock = VirtualClock(NOW)
    with PeerWindows(settings.data_dir, settings.operator, "other", clock) as peers:
        list(peers.new_answers())


def _place(data: bytes, folder: Path) -> tuple[Path, bytes]:
    """Return the raw file that the head of an input names, in a folder that is there, and the rest of it."""
    head, rest = head_and_rest(data)
    names = [head.get("endpoint", ""), head.get("window", ""), head.get("date", "")]
    endpoint, window, day = (name if _is_name(name) else "x" for name in names)
    path = raw_file(folder, "emulated", endpoint, DAY, window)
    return _made(path.parent.with_name(f"date={day}") / path.name), rest


def _made(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    return path


def _is_name(name: str) -> bool:
    return name.isprintable() and "/" not in name and 0 < len(name) < 100 and name.strip(".") != ""


def _first_lines(path: Path) -> bytes:
    return b"".join(line + b"\n" for line in list(read_lines(path))[:_N_LINES])


def _head(folder: Path, path: Path) -> bytes:
    (window,) = [window for window in finished_windows(folder) if window.path == path]
    fields = {"endpoint": window.endpoint, "window": window.name, "date": window.day}
    return "\n".join(f"{name}={value}" for name, value in fields.items()).encode() + b"\n\n"


def _seeds_of_lines(folder: Path) -> list[bytes]:
    return [_head(folder, path) + _first_lines(path) for path in raw_files(folder)]


def _seeds_of_files(folder: Path) -> list[bytes]:
    found = []
    for path in raw_files(folder):
        short = folder / "short.zst"
        write_finished(short, [_first_lines(path)])
        found.append(_head(folder, path) + short.read_bytes())
    return found


def _seeds_of_open_windows(folder: Path) -> list[bytes]:
    found = []
    for path in raw_files(folder, endpoint="passages"):
        lines = _first_lines(path)
        rows = [json.loads(line) for line in lines.splitlines()]
        intents = [
            {name: row[name] for name in _INTENT} | {"request_id": f"{row['request_id']}0"} for row in rows
        ]
        found.append("\n".join(map(json.dumps, [*rows, *intents])).encode() + b"\n\n" + lines)
    return found


_INTENT = ("request_id", "endpoint", "key", "api_version", "planned_at")

TARGETS = (
    Target("raw lines", _check_lines, _seeds_of_lines, with_head(of_lines), weight=4, n_quick=4),
    Target("raw files", _check_file, _seeds_of_files, with_head(of_bytes), weight=2, n_quick=4),
    Target("open windows", _check_open_window, _seeds_of_open_windows, of_lines, weight=2, n_quick=4),
)
