import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulator.fixture_types import Get, Send
from transit_emulator.app import create_app
from transit_emulator.faults.contents import changed
from transit_emulator.faults.definitions import BadFaultsError, Fault, FaultKind, read_faults
from transit_emulator.world import World

NOW = datetime(2026, 3, 4, 7, 12, 30, tzinfo=UTC)
STOP = "/api/v1/passaggi/0110"
STATUS = "/api/v1/stato_servizio"
TIMETABLE = "/api/v1/orari/001-00/2026-03-04"
NEED_A_CONNECTION = (FaultKind.CONNECTION_RESET, FaultKind.CUT_OFF)  # see test_serving
Force = Callable[..., httpx2.Response]


@pytest.fixture
def force(world: World, send: Send) -> Force:
    """Request a path with a fault forced by the header."""
    app = create_app(world)

    def ask(fault: str, path: str = STOP, now: datetime = NOW) -> httpx2.Response:
        return send(app, path, X_Emulated_Fault=fault, X_Emulated_Now=now.isoformat())

    return ask


@pytest.fixture
def plain(world: World, send: Send) -> dict[str, Any]:
    """Return the answers without a fault, by path."""
    app = create_app(world)
    return {path: send(app, path, X_Emulated_Now=NOW.isoformat()).json() for path in (STOP, STATUS)}


@pytest.mark.parametrize(("kind", "status"), [("rate_limited", 429), ("server_error", 503)])
def test_a_refusal_comes_with_and_without_retry_after(force: Force, kind: str, status: int) -> None:
    with_wait, without = force(f"{kind}; retry_after_seconds=17"), force(kind)

    assert (with_wait.status_code, with_wait.headers.get("Retry-After")) == (status, "17")
    assert (without.status_code, "Retry-After" in without.headers) == (status, False)


@pytest.mark.parametrize(
    ("fault", "status", "body"),
    [
        ("server_error", 503, b'{"errore":"errore interno"}'),
        ("server_error; status=502", 502, b'{"errore":"errore interno"}'),
        ("no_content", 204, b""),
        ("empty_body", 200, b""),
        ("not_json", 200, b"servizio sospeso"),
    ],
)
def test_an_answer_is_replaced(force: Force, fault: str, status: int, body: bytes) -> None:
    answer = force(fault)

    assert (answer.status_code, answer.content) == (status, body)


def test_an_html_page_may_replace_json(force: Force) -> None:
    answer = force("html")

    assert answer.headers["content-type"].startswith("text/html")
    assert answer.content.startswith(b"<!DOCTYPE html>")


def test_a_truncated_body_is_the_first_half_and_says_so(force: Force, plain: dict[str, Any]) -> None:
    answer = force("truncated")
    whole = json.dumps(plain[STOP], ensure_ascii=False, separators=(",", ":")).encode()

    assert answer.content == whole[: len(whole) // 2]
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_a_body_in_another_charset_claims_to_be_utf_8(force: Force) -> None:
    answer = force("wrong_charset")

    assert "utf-8" in answer.headers["content-type"]
    with pytest.raises(UnicodeDecodeError):
        answer.content.decode("utf-8")
    assert json.loads(answer.content.decode("latin-1"))


def test_a_slow_answer_is_the_same_answer_later(world: World, send: Send, plain: dict[str, Any]) -> None:
    answer = send(
        create_app(world), STOP, X_Emulated_Fault="slow; delay_seconds=0.3", X_Emulated_Now=NOW.isoformat()
    )

    assert answer.json() == plain[STOP]


def test_a_skewed_clock_changes_only_the_timestamp(force: Force, plain: dict[str, Any]) -> None:
    answer = force("clock_skew; seconds=-120").json()

    assert answer["timestamp"] == "2026-03-04T07:10:30.000Z"
    assert answer["passaggi"] == plain[STOP]["passaggi"]


def test_an_error_row_replaces_the_passages(force: Force) -> None:
    assert [row["linea"] for row in force("error_row").json()["passaggi"]] == ["*ERR*"]


def test_a_bus_that_has_just_passed_stays_listed_with_a_wait_of_almost_a_day(
    force: Force, world: World
) -> None:
    motion, schedule = world.motion(NOW.date()), world.schedule(NOW.date())
    stop = world.network.stop_position["0106"]
    rows, steps = ((schedule.stops == stop) & (motion.outcome == 0)[:, None]).nonzero()
    passed_at = int(motion.passed_at[rows[40], steps[40]])
    answer = force(
        "wrapped_waits", "/api/v1/passaggi/0106", datetime.fromtimestamp(passed_at + 30, UTC)
    ).json()

    first = answer["passaggi"][0]
    assert first["attesa"] == "1439'"
    assert first["id_corsa"] == world.network.trips[int(schedule.trips[rows[40]])].id


def test_waits_may_be_clock_text(force: Force, plain: dict[str, Any]) -> None:
    rows = force("clock_waits; row_share=1").json()["passaggi"]

    assert [row["attesa"].replace(".", ":") for row in rows] == [
        row["orario"][:5] for row in plain[STOP]["passaggi"]
    ]
    assert {"." in row["attesa"] for row in rows} == {True, False}


def test_rows_may_come_twice(force: Force, plain: dict[str, Any]) -> None:
    rows = force("duplicated_rows; row_share=1").json()["passaggi"]

    assert rows == [row for row in plain[STOP]["passaggi"] for _ in range(2)]


def test_live_rows_may_vanish_for_a_minute_and_theoretical_ones_stay(
    force: Force, plain: dict[str, Any]
) -> None:
    rows = force("vanishing_rows; row_share=1").json()["passaggi"]

    assert any(not row["teorico"] for row in plain[STOP]["passaggi"])
    assert rows == [row for row in plain[STOP]["passaggi"] if row["teorico"]]


def test_live_predictions_may_jump_and_theoretical_rows_stay(force: Force, plain: dict[str, Any]) -> None:
    rows = force("jumping; row_share=1").json()["passaggi"]
    jumped = [new["teorico"] for new, old in zip(rows, plain[STOP]["passaggi"], strict=True) if new != old]

    assert jumped
    assert not any(jumped)


def test_unknown_keys_and_values_leave_the_known_ones(force: Force, plain: dict[str, Any]) -> None:
    answer = force("unknown_keys").json()
    status = force("unknown_values; row_share=1", STATUS).json()

    assert [{k: row[k] for k in plain[STOP]["passaggi"][0]} for row in answer["passaggi"]] == plain[STOP][
        "passaggi"
    ]
    assert "meta" in answer
    assert {(entry["evento"], entry["categoria"]) for entry in status["stato"]} == {("XQZ", "NAV")}


def test_the_key_stato_may_be_missing(force: Force) -> None:
    assert force("missing_stato", STATUS).json() == {}


def test_linee_may_be_a_string(force: Force, plain: dict[str, Any]) -> None:
    entries = force("changed_types", STATUS).json()["stato"]

    assert any(isinstance(entry.get("linee"), list) for entry in plain[STATUS]["stato"])
    assert not any(isinstance(entry.get("linee"), list) for entry in entries)


def test_trip_ids_may_be_left_out(force: Force) -> None:
    assert not any("id_corsa" in row for row in force("missing_fields").json()["passaggi"])


@pytest.mark.parametrize(
    "path", ["/api/v1/linee", "/api/v1/news", STATUS, TIMETABLE, "/api/v1/fermate/001-00"]
)
@pytest.mark.parametrize(
    ("forced", "left"), [("short_lists", 0.5), ("short_lists; row_share=0.25", 0.75), ("empty_lists", 0.0)]
)
def test_lists_and_timetables_may_come_back_short_or_empty(
    force: Force, get: Get, path: str, forced: str, left: float
) -> None:
    whole, short = _listed(get(path, NOW).json()), _listed(force(forced, path).json())

    assert whole
    assert [round(left * len(rows)) for rows in whole] == [len(rows) for rows in short] or not left
    assert left or not any(short)
    assert all(rows[: len(kept)] == kept for rows, kept in zip(whole, short, strict=False))


def test_passages_never_come_back_short(force: Force, plain: dict[str, Any]) -> None:
    assert plain[STOP] == force("empty_lists").json()


def test_a_share_of_the_stops_may_list_nothing_or_nothing_of_a_line(
    force: Force, plain: dict[str, Any], world: World
) -> None:
    rows = plain[STOP]["passaggi"]
    label = rows[0]["linea"].lstrip("0").rstrip("/")
    silent = [
        not force("no_passages; row_share=0.5", f"/api/v1/passaggi/{stop.code}").json()["passaggi"]
        for stop in world.network.stops[:20]
    ]

    assert [] == force("no_passages; row_share=1").json()["passaggi"]
    assert rows == force("no_passages; row_share=0").json()["passaggi"]
    assert {True, False} == set(silent)
    without = _forced(world, Fault(kind=FaultKind.NO_PASSAGES, row_share=1, labels=(label,)), plain[STOP])
    assert [row for row in rows if row["linea"].lstrip("0").rstrip("/") != label] == without["passaggi"]


def test_a_bus_may_stay_listed_as_if_it_passed_now(force: Force, world: World) -> None:
    passed = {item.shown_id for item in world.recently_passed("0110", NOW, 360)}
    rows = force("stuck_rows; row_share=1; seconds=360").json()["passaggi"]
    stuck = [row for row in rows if row["id_corsa"] in passed]

    assert stuck
    assert {("0'", "08:12:30", False)} == {(row["attesa"], row["orario"], row["teorico"]) for row in stuck}
    assert not {row["id_corsa"] for row in force("stuck_rows; row_share=0").json()["passaggi"]} & passed


def test_an_answer_may_be_an_old_one_with_its_own_time(force: Force) -> None:
    moments = [NOW + timedelta(seconds=10 * step) for step in range(13)]
    times = [
        datetime.fromisoformat(force("old_answers; seconds=60", now=now).json()["timestamp"])
        for now in moments
    ]

    assert 3 == len(set(times))
    assert all(0 <= (now - time).total_seconds() < 60 for now, time in zip(moments, times, strict=True))


def test_an_answer_may_be_an_old_one_with_the_time_of_now(force: Force) -> None:
    frozen = [force("frozen_answers; seconds=600", now=NOW + timedelta(seconds=at)).json() for at in (0, 40)]
    old = force("old_answers; seconds=600").json()

    assert [old["passaggi"]] * 2 == [answer["passaggi"] for answer in frozen]
    assert ["2026-03-04T07:12:30", "2026-03-04T07:13:10"] == [answer["timestamp"][:19] for answer in frozen]


def test_live_rows_may_repeat_the_timetable(force: Force) -> None:
    first, later = (
        force("live_timetable", now=NOW + timedelta(seconds=at)).json()["passaggi"] for at in (0, 30)
    )
    times = {row["id_corsa"]: row["orario"] for row in first}

    assert {False} == {row["teorico"] for row in first}
    assert times.keys() & {row["id_corsa"] for row in later}
    assert {True} == {times.get(row["id_corsa"], row["orario"]) == row["orario"] for row in later}


def test_live_rows_may_have_other_identifiers_in_each_answer(force: Force) -> None:
    first, later = (
        {row["id_corsa"] for row in force("single_ids", now=NOW + timedelta(seconds=at)).json()["passaggi"]
         if not row["teorico"]}
        for at in (0, 30)
    )  # fmt: skip

    assert first
    assert not first & later


def test_live_rows_may_share_one_identifier(force: Force, plain: dict[str, Any]) -> None:
    rows = force("shared_ids").json()["passaggi"]

    assert {"0"} == {row["id_corsa"] for row in rows if not row["teorico"]}
    assert [row for row in plain[STOP]["passaggi"] if row["teorico"]] == [
        row for row in rows if row["teorico"]
    ]


def test_a_timetable_may_lack_what_is_past(force: Force, get: Get) -> None:
    whole = [text for leg in _listed(get(TIMETABLE, NOW).json()) for text in leg]
    left = [text for leg in _listed(force("past_departures", TIMETABLE).json()) for text in leg]
    tomorrow = TIMETABLE.replace("03-04", "03-05")

    assert left == [text for text in whole if text > "08:12"]
    assert 0 < len(left) < len(whole)
    assert get(tomorrow, NOW).json() == force("past_departures", tomorrow).json()


def _forced(world: World, fault: Fault, answer: dict[str, Any]) -> dict[str, Any]:
    changed_answer: dict[str, Any] = changed(world, fault, answer, NOW)
    return changed_answer


def _listed(answer: Any) -> list[list[Any]]:  # noqa: ANN401 - JSON
    """Return the lists of an answer: departures of a timetable, rows of any other."""
    if isinstance(answer, list):
        return [answer]
    if "servizi" in answer:
        return [leg["partenze"] for service in answer["servizi"] for leg in service["tratte"].values()]
    return [rows for rows in answer.values() if isinstance(rows, list)]


@pytest.mark.long
@pytest.mark.parametrize("kind", [kind for kind in FaultKind if kind not in NEED_A_CONNECTION])
@pytest.mark.parametrize(
    "path", [STOP, STATUS, "/api/v1/linee", "/api/v1/news", "/api/amt/news", "/api/v1/passaggi/x"]
)
def test_no_fault_breaks_the_emulator_itself(world: World, send: Send, kind: FaultKind, path: str) -> None:
    forced = f"{kind}; delay_seconds=0; status=500"
    answer = send(create_app(world), path, X_Emulated_Fault=forced, Authorization="Bearer demo-token")
    replaced = {FaultKind.RATE_LIMITED: 429, FaultKind.SERVER_ERROR: 500, FaultKind.NO_CONTENT: 204}

    assert replaced.get(kind, 200) == answer.status_code


FIRST_CHANGE = list(FaultKind).index(FaultKind.TRUNCATED)
CHANGING = [kind for kind in list(FaultKind)[FIRST_CHANGE:] if kind not in NEED_A_CONNECTION]


@given(kinds=st.lists(st.sampled_from(CHANGING), min_size=2, max_size=6), second=st.integers(0, 36_000))
@settings(max_examples=40, deadline=None)
def test_faults_may_come_together_in_any_order(
    world: World, send: Send, kinds: list[FaultKind], second: int
) -> None:
    app = create_app(world, faults=[Fault(kind=kind, row_share=0.8) for kind in kinds])
    now = (NOW + timedelta(seconds=second)).isoformat()
    paths = [STOP, STATUS, "/api/v1/fermate/001-00", "/api/v1/news"]

    assert [send(app, path, X_Emulated_Now=now).status_code for path in paths] == [200] * 4


@pytest.mark.parametrize("text", ["nonsense", "slow; delay_seconds=long", "slow; colour=red"])
def test_a_fault_that_cannot_be_read_is_a_bad_request(force: Force, text: str) -> None:
    assert force(text).status_code == 400


def test_a_fault_hits_its_share_of_the_requests_and_always_the_same_ones(world: World, send: Send) -> None:
    def statuses() -> list[int]:
        app = create_app(
            world, faults=[Fault(kind=FaultKind.SERVER_ERROR, share=0.3)], limit_without_token=1_000
        )
        moments = [NOW + timedelta(seconds=step) for step in range(200)]
        return [send(app, STATUS, X_Emulated_Now=now.isoformat()).status_code for now in moments]

    first = statuses()
    assert first == statuses()
    assert 35 < first.count(503) < 85


def test_a_fault_hits_only_its_paths_within_its_interval_and_its_part_of_the_cycle(
    world: World, send: Send
) -> None:
    outage = Fault.model_validate({
        "kind": "server_error", "paths": "/api/v1/passaggi/*", "from": NOW, "to": NOW + timedelta(minutes=10),
        "every_seconds": 300, "for_seconds": 60,
    })  # fmt: skip
    app = create_app(world, faults=[outage])

    def status(path: str, after: float) -> int:
        return send(app, path, X_Emulated_Now=(NOW + timedelta(seconds=after)).isoformat()).status_code

    start = 300 - NOW.timestamp() % 300  # the next full five minutes
    assert [status(STOP, start + s) for s in (0, 59, 60, 299, 300)] == [503, 503, 200, 200, 503]
    assert status(STATUS, start) == 200
    assert status(STOP, -300 + start) == 200
    assert status(STOP, 900 + start) == 200


def test_a_caller_without_a_user_agent_may_get_an_empty_body(world: World, send: Send) -> None:
    app = create_app(world, faults=[Fault(kind=FaultKind.EMPTY_BODY, only_without_user_agent=True)])

    assert send(app, STATUS).content != b""
    assert send(app, STATUS, User_Agent="").content == b""


def test_faults_are_read_from_toml_and_from_json(tmp_path: Path) -> None:
    toml, plain_json = tmp_path / "faults.toml", tmp_path / "faults.json"
    toml.write_text('[[fault]]\nkind = "slow"\nshare = 0.1\nfrom = 2026-03-04T07:00:00Z\n')
    plain_json.write_text('{"fault": [{"kind": "slow", "share": 0.1, "from": "2026-03-04T07:00:00Z"}]}')

    assert read_faults(toml) == read_faults(plain_json)
    assert read_faults(toml)[0].kind is FaultKind.SLOW


@pytest.mark.parametrize(
    "text", ["fault = 3", '[[fault]]\nkind = "sloow"', "[[fault]", '[[fault]]\nkind="slow"\nx=1']
)
def test_a_faults_file_that_cannot_be_read_names_itself(tmp_path: Path, text: str) -> None:
    path = tmp_path / "faults.toml"
    path.write_text(text)

    with pytest.raises(BadFaultsError, match=r"faults\.toml"):
        read_faults(path)


def test_the_bad_day_has_every_fault_and_most_of_its_answers_are_good(world: World, send: Send) -> None:
    faults = read_faults(Path(__file__).parent / "bad_day.toml")
    app = create_app(world, faults=[fault for fault in faults if fault.kind is not FaultKind.SLOW])
    statuses = []
    for step in range(400):
        now = (NOW + timedelta(seconds=47 * step)).isoformat()
        try:
            answer = send(app, STOP, X_Emulated_Now=now)
        except ConnectionAbortedError:
            continue
        statuses.append((answer.status_code, bool(answer.content)))

    assert {fault.kind for fault in faults} == set(FaultKind)
    assert {status for status, _ in statuses} >= {200, 429, 502}
    assert statuses.count((200, True)) > 320
