"""A worker reads what others land while they land it."""

from datetime import timedelta
from pathlib import Path

from tests.collect.helpers import NOON, answer
from transit_etl.api.exchange import Request
from transit_etl.clock import VirtualClock
from transit_etl.collect.peer_windows import PeerWindows
from transit_etl.collect.raw.landing import Landing


def land(landing: Landing, number: int, at: timedelta = timedelta()) -> None:
    request = Request("passages", f"{number:04}", f"passaggi/{number:04}")
    landing.land(landing.plan(request, NOON + at), answer(NOON + at, request=request))


def landing_of(worker: str, folder: Path) -> Landing:
    return Landing(folder, "emulated", VirtualClock(NOON), worker)


def keys(peers: PeerWindows) -> list[str]:
    return [each.request.key for each in peers.new_answers()]


def test_answers_are_read_while_the_peer_lands_them(tmp_path: Path) -> None:
    with (
        landing_of("w1", tmp_path) as landing,
        PeerWindows(tmp_path, "emulated", "w2", VirtualClock(NOON)) as peers,
    ):
        land(landing, 1)
        assert ["0001"] == keys(peers)
        assert [] == keys(peers)
        land(landing, 2)
        land(landing, 3)
        assert ["0002", "0003"] == keys(peers)
        land(landing, 4)
        landing.close()

        assert ["0004"] == keys(peers)
        assert [] == keys(peers)


def test_an_open_window_is_read_from_its_beginning_and_a_finished_one_is_not(tmp_path: Path) -> None:
    with landing_of("w1", tmp_path) as finished:
        land(finished, 1)
    with landing_of("w2", tmp_path) as still_open:
        land(still_open, 2)
        with PeerWindows(tmp_path, "emulated", "w3", VirtualClock(NOON)) as peers:
            assert ["0002"] == keys(peers)


def test_a_worker_does_not_read_its_own_windows(tmp_path: Path) -> None:
    with (
        landing_of("w1", tmp_path) as landing,
        PeerWindows(tmp_path, "emulated", "w1", VirtualClock(NOON)) as peers,
    ):
        land(landing, 1)

        assert [] == keys(peers)


def test_a_window_that_began_and_ended_between_two_calls_is_read_too(tmp_path: Path) -> None:
    with PeerWindows(tmp_path, "emulated", "w2", VirtualClock(NOON)) as peers:
        assert [] == keys(peers)
        with landing_of("w1", tmp_path) as landing:
            land(landing, 1)

        assert ["0001"] == keys(peers)


def test_answers_of_several_peers_come_in_order(tmp_path: Path) -> None:
    with (
        landing_of("w1", tmp_path) as one,
        landing_of("w2", tmp_path) as two,
        PeerWindows(tmp_path, "emulated", "w3", VirtualClock(NOON)) as peers,
    ):
        land(one, 2, timedelta(seconds=2))
        land(two, 1, timedelta(seconds=1))
        land(two, 3, timedelta(seconds=3))

        assert ["0001", "0002", "0003"] == keys(peers)


def test_a_damaged_window_is_read_no_further_and_the_others_are(tmp_path: Path) -> None:
    with (
        landing_of("w1", tmp_path) as one,
        landing_of("w2", tmp_path) as two,
        PeerWindows(tmp_path, "emulated", "w3", VirtualClock(NOON)) as peers,
    ):
        land(one, 1)
        assert ["0001"] == keys(peers)
        (part,) = tmp_path.rglob("*-w1.jsonl.zst.part")
        with part.open("ab") as file:
            file.write(b"no block of zstd at all" * 9)
        land(two, 2)

        assert ["0002"] == keys(peers)
