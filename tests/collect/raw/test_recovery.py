import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.collect.helpers import answer, killed_landing, landing_at, rows
from transit_etl.api.exchange import Purpose, Request
from transit_etl.collect.raw.rawfile import read_lines
from transit_etl.collect.raw.recovery import recover

FOLDER = "raw/operator=emulated/endpoint=passages/date=2026-03-04"
WINDOW = "20260304T120000Z-passages-w1"
N_LANDED = 12


@pytest.fixture(scope="module")
def orphan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder as kill -9 leaves it: twelve answers landed, a thirteenth request in flight."""
    living, killed = tmp_path_factory.mktemp("living"), tmp_path_factory.mktemp("killed")
    with landing_at(living) as landing:
        for number in range(N_LANDED):
            intent = landing.plan(stop(number))
            landing.land(intent, answer(body=body(number), request=stop(number)))
        landing.plan(stop(N_LANDED))
        shutil.copytree(living, killed, dirs_exist_ok=True)
    return killed


def test_the_answers_landed_survive_and_the_one_in_flight_is_marked(orphan: Path, tmp_path: Path) -> None:
    folder = copy(orphan, tmp_path)

    (path,) = recover(folder)

    assert folder / FOLDER / f"{WINDOW}.jsonl.zst" == path
    assert [*["ok"] * N_LANDED, "interrupted"] == [row["outcome"] for row in rows(folder)]
    assert [body(number).decode() for number in range(N_LANDED)] == [row["body"] for row in rows(folder)][:-1]
    assert only_finished_files(folder)


def test_a_request_in_flight_keeps_its_purpose_and_its_draws(tmp_path: Path) -> None:
    drawn = replace(stop(1), purpose=Purpose.AUDIT, draws='[{"position":7}]')
    with killed_landing(tmp_path) as landing:
        landing.land(landing.plan(drawn), answer(request=drawn))
        landing.plan(drawn)
    recover(tmp_path)

    assert [("audit", drawn.draws)] * 2 == [(row["purpose"], row["draws"]) for row in rows(tmp_path)]


def test_recovering_twice_changes_nothing(orphan: Path, tmp_path: Path) -> None:
    folder = copy(orphan, tmp_path)
    (path,) = recover(folder)
    first = path.read_bytes()

    assert [] == recover(folder)
    assert first == path.read_bytes()


def test_a_window_that_cannot_be_read_is_left_and_the_others_are_finished(
    orphan: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = copy(orphan, tmp_path)
    unreadable = folder / FOLDER / "20260304T110000Z-passages-w1.jsonl.zst.part"
    unreadable.symlink_to(unreadable)

    (path,) = recover(folder)

    assert f"{WINDOW}.jsonl.zst" == path.name
    (message,) = [record.getMessage() for record in caplog.records]
    assert message.startswith("left 20260304T110000Z-passages-w1.jsonl.zst to the next recovery: ")
    assert message.endswith(f"{unreadable}: Too many levels of symbolic links")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.datetimes().map(str),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
INTENT = {
    "request_id": f"{WINDOW}/1", "endpoint": "passages", "key": "0001", "api_version": 1,
    "planned_at": "2026-03-04T12:00:00.000000Z",
}  # fmt: skip
ODD_LINE = st.one_of(
    st.binary(max_size=50),
    JSON.map(lambda value: json.dumps(value).encode()),
    st.fixed_dictionaries(
        {}, optional={name: st.just(value) | JSON for name, value in INTENT.items()}
    ).map(lambda value: json.dumps(value).encode()),
    st.sampled_from([
        b"[" * 100_000,
        json.dumps(INTENT | {"planned_at": "0001-01-01T00:00:00+14:00"}).encode(),
        json.dumps(INTENT | {"key": "\ud83d"}).encode(),
    ]),
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(odd_rows=st.lists(ODD_LINE, max_size=3), odd_intents=st.lists(ODD_LINE, max_size=3))
def test_no_line_of_an_open_window_stops_the_recovery_or_costs_another_row(
    orphan: Path, tmp_path_factory: pytest.TempPathFactory, odd_rows: list[bytes], odd_intents: list[bytes]
) -> None:
    folder = copy(orphan, tmp_path_factory.mktemp("odd"))
    part, planned = (folder / FOLDER / f"{WINDOW}{suffix}" for suffix in (".jsonl.zst.part", ".planned.part"))
    whole = list(read_lines(part))
    part.write_bytes(zstandard.compress(b"\n".join([*odd_rows, *whole]) + b"\n"))
    planned.write_bytes(b"\n".join([*odd_intents, planned.read_bytes()]))

    recover(folder)

    assert set(whole) <= set(raw_lines(folder))
    assert only_finished_files(folder)


def test_without_a_data_folder_there_is_nothing_to_recover(tmp_path: Path) -> None:
    assert [] == recover(tmp_path / "none")


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_part_cut_at_any_byte_keeps_its_whole_rows_and_duplicates_none(
    orphan: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = copy(orphan, tmp_path_factory.mktemp("cut"))
    part = folder / FOLDER / f"{WINDOW}.jsonl.zst.part"
    whole = part.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    part.write_bytes(whole[:cut])
    before = list(read_lines(part))

    recover(folder)

    assert before == raw_lines(folder)[: len(before)]
    assert_each_request_once(folder)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_intents_cut_at_any_byte_never_lose_a_landed_row(
    orphan: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = copy(orphan, tmp_path_factory.mktemp("cut"))
    planned = folder / FOLDER / f"{WINDOW}.planned.part"
    whole = planned.read_bytes()
    planned.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])

    recover(folder)

    outcomes = [row["outcome"] for row in rows(folder)]
    assert N_LANDED == outcomes.count("ok")
    assert len(outcomes) == len({row["request_id"] for row in rows(folder)})


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_damaged_byte_costs_only_what_follows_it(
    orphan: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = copy(orphan, tmp_path_factory.mktemp("damaged"))
    part = folder / FOLDER / f"{WINDOW}.jsonl.zst.part"
    content = bytearray(part.read_bytes())
    position = data.draw(st.integers(20, len(content) - 1))
    intact = rows_before(content, position)
    content[position:] = bytes(len(content) - position)
    part.write_bytes(content)

    recover(folder)

    assert intact == raw_lines(folder)[: len(intact)]
    assert_each_request_once(folder)


def states_of_finalising(orphan: Path) -> Iterator[tuple[str, dict[str, bytes]]]:
    """What a kill may leave at each step between the last row and the finished file."""
    part = (orphan / FOLDER / f"{WINDOW}.jsonl.zst.part").read_bytes()
    planned = (orphan / FOLDER / f"{WINDOW}.planned.part").read_bytes()
    final = b"".join(finished_file(orphan))
    yield "an empty part, no intent yet", {".jsonl.zst.part": b""}
    yield "an empty part, an intent", {".jsonl.zst.part": b"", ".planned.part": planned}
    yield "rows and intents", {".jsonl.zst.part": part, ".planned.part": planned}
    yield "the last row cut", {".jsonl.zst.part": part[:-7], ".planned.part": planned}
    yield "a finished frame, not renamed", {".jsonl.zst.part": final, ".planned.part": planned}
    yield "renamed, intents left over", {".jsonl.zst": final, ".planned.part": planned}
    yield (
        "a recovery not renamed",
        {
            ".jsonl.zst.part": part,
            ".planned.part": planned,
            ".jsonl.zst.new": final[:50],
        },
    )
    yield "a recovery renamed", {".jsonl.zst.part": part, ".planned.part": planned, ".jsonl.zst": final}
    yield "a recovery renamed, its intents gone", {".jsonl.zst.part": part, ".jsonl.zst": final}
    yield "intents alone", {".planned.part": planned}


@pytest.mark.parametrize("number", range(10))
def test_a_crash_at_any_step_of_finalising_is_recovered(orphan: Path, tmp_path: Path, number: int) -> None:
    name, files = list(states_of_finalising(orphan))[number]
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    for suffix, content in files.items():
        (folder / f"{WINDOW}{suffix}").write_bytes(content)

    recover(tmp_path)
    recover(tmp_path)

    assert only_finished_files(tmp_path), name
    assert_states_match(name, rows(tmp_path))


def test_a_recovery_that_is_itself_killed_leaves_the_window_whole(
    orphan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    for n_steps in range(4):
        folder = copy(orphan, tmp_path / str(n_steps))
        steps = iter(range(n_steps))

        def step(*_: object, steps: Iterator[int] = steps) -> None:
            if next(steps, None) is None:
                raise Killed

        with monkeypatch.context() as patch:
            for name in ("replace", "rename", "unlink"):
                patch.setattr(Path, name, stepping(getattr(Path, name), step))
            with pytest.raises(Killed):
                recover_then(step, folder)
        recover(folder)

        assert_each_request_once(folder)
        assert only_finished_files(folder)


def recover_then(step: Callable[[], None], folder: Path) -> None:
    recover(folder)
    step()


def stepping(original: Any, step: Any) -> Any:  # noqa: ANN401 - wraps whatever Path has
    def stepped(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        step()
        return original(*args, **kwargs)

    return stepped


def assert_states_match(name: str, found: list[dict[str, Any]]) -> None:
    outcomes = [row["outcome"] for row in found]
    expected = {
        "an empty part, no intent yet": [],
        "an empty part, an intent": ["interrupted"] * (N_LANDED + 1),
        "the last row cut": [*["ok"] * (N_LANDED - 1), *["interrupted"] * 2],
        "intents alone": ["interrupted"] * (N_LANDED + 1),
    }.get(name, [*["ok"] * N_LANDED, "interrupted"])

    assert expected == outcomes, name


def assert_each_request_once(folder: Path) -> None:
    expected = {f"{WINDOW}/{number + 1}" for number in range(N_LANDED + 1)}
    found = [row["request_id"] for row in rows(folder)]

    assert len(found) == len(set(found))
    assert expected == set(found)


def finished_file(orphan: Path) -> Iterator[bytes]:
    copied = orphan.parent / "finished-for-states"
    shutil.rmtree(copied, ignore_errors=True)
    shutil.copytree(orphan, copied)
    (path,) = recover(copied)
    yield path.read_bytes()


def rows_before(content: bytes | bytearray, position: int) -> list[bytes]:
    decoder = zstandard.ZstdDecompressor().decompressobj()
    return decoder.decompress(bytes(content[:position])).split(b"\n")[:-1]


def stop(number: int) -> Request:
    return Request("passages", f"{number:04}", f"passaggi/{number:04}")


def body(number: int) -> bytes:
    return json.dumps(
        {"codice_fermata": f"{number:04}", "passaggi": [{"linea": str(n * number)} for n in range(40)]}
    ).encode()


def copy(orphan: Path, to: Path) -> Path:
    return Path(shutil.copytree(orphan, to, dirs_exist_ok=True))


def raw_lines(folder: Path) -> list[bytes]:
    return [line for file in sorted(folder.rglob("*.jsonl.zst")) for line in read_lines(file)]


def only_finished_files(folder: Path) -> bool:
    return all(path.name.endswith(".jsonl.zst") for path in folder.rglob("*") if path.is_file())
