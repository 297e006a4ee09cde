"""Changes what an answer says: wrong, missing or repeated rows, undocumented keys and values."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from transit_emulator import noise
from transit_emulator.faults.definitions import Fault, FaultKind
from transit_emulator.interface import render_v1
from transit_emulator.local_time import clock_text, local, utc_text
from transit_emulator.world import UnknownStopError, World

_DAY_MINUTES = 1_440
_JUST_PASSED_SECONDS = 90
Json = Any
Change = Callable[[World, Fault, Json, datetime], Json]


def changed(world: World, fault: Fault, answer: Json, now: datetime) -> Json:
    """Return an answer changed by a content fault; unchanged where the fault does not concern it."""
    change = _CHANGES.get(fault.kind)
    return answer if change is None else change(world, fault, answer, now)


def _skewed(_world: World, fault: Fault, answer: Json, now: datetime) -> Json:
    if isinstance(answer, dict) and "timestamp" in answer:
        return answer | {"timestamp": utc_text((now + timedelta(seconds=fault.seconds)).timestamp())}
    return answer


def _error_row(_world: World, _fault: Fault, answer: Json, _now: datetime) -> Json:
    return _with_passages(answer, lambda _rows: [render_v1.ERROR_ROW])


def _wrapped_waits(world: World, _fault: Fault, answer: Json, now: datetime) -> Json:
    """Add the buses that have just passed, with a wait of almost a day."""
    if "passaggi" not in answer:
        return answer
    try:
        passed = world.recently_passed(answer["codice_fermata"], now, _JUST_PASSED_SECONDS)
    except UnknownStopError:
        return answer
    rows = [
        render_v1.passage(world, item, now)
        | {"attesa": f"{_DAY_MINUTES - 1 - int(now.timestamp() - item.shown_at) // 60}'"}
        for item in passed
    ]
    return _with_passages(answer, lambda listed: [*rows, *listed])


def _clock_waits(_world: World, fault: Fault, answer: Json, _now: datetime) -> Json:
    """Write some waits as the clock time, with a colon or a full stop."""

    def change(row: Json) -> Json:
        draw = _draw("clock wait", row)
        mark = ":" if draw < fault.row_share / 2 else "."
        return row | {"attesa": row["orario"][:5].replace(":", mark)} if draw < fault.row_share else row

    return _with_passages(answer, lambda rows: [change(row) for row in rows])


def _duplicated(_world: World, fault: Fault, answer: Json, _now: datetime) -> Json:
    return _with_rows(
        answer, lambda rows: [row for row in rows for _ in range(1 + (_draw("twice", row) < fault.row_share))]
    )


def _vanishing(_world: World, fault: Fault, answer: Json, now: datetime) -> Json:
    minute = int(now.timestamp() // 60)

    def stays(row: Json) -> bool:
        return bool(row["teorico"]) or _draw(f"gone {minute}", row) >= fault.row_share

    return _with_passages(answer, lambda rows: [row for row in rows if stays(row)])


def _jumping(world: World, fault: Fault, answer: Json, now: datetime) -> Json:
    """Move some live predictions by up to six minutes, differently in each half minute."""
    moment = int(now.timestamp() // 30)

    def jump(row: Json) -> Json:
        if (
            row["teorico"]
            or not row["attesa"][:-1].isdigit()
            or _draw(f"jumps {moment}", row) >= fault.row_share
        ):
            return row
        wait = max(0, int(row["attesa"][:-1]) + noise.pick(13, moment, row["id_corsa"]) - 6)
        shown = clock_text(now.timestamp() + 60 * wait, world.network.zone)
        return row | {"orario": shown, "attesa": f"{wait}'"}

    return _with_passages(answer, lambda rows: [jump(row) for row in rows])


def _unknown_keys(_world: World, _fault: Fault, answer: Json, _now: datetime) -> Json:
    extra = {"novita": {"versione": 2}, "numero_sociale": "09301"}
    answer = _with_rows(answer, lambda rows: [row | extra for row in rows])
    return answer | {"meta": {"fonte": "AVM"}} if isinstance(answer, dict) else answer


def _unknown_values(_world: World, fault: Fault, answer: Json, _now: datetime) -> Json:
    if not isinstance(answer, dict) or "stato" not in answer:
        return answer
    strange = {"evento": "XQZ", "categoria": "NAV"}
    rows = [row | strange if _draw("strange", row) < fault.row_share else row for row in answer["stato"]]
    return answer | {"stato": rows}


def _missing_stato(_world: World, _fault: Fault, answer: Json, _now: datetime) -> Json:
    return {} if isinstance(answer, dict) and "stato" in answer else answer


def _changed_types(_world: World, _fault: Fault, answer: Json, _now: datetime) -> Json:
    return _with_rows(answer, lambda rows: [_retyped(row) for row in rows])


def _retyped(row: Json) -> Json:
    if isinstance(row.get("linee"), list):
        return row | {"linee": ", ".join(row["linee"])}
    if isinstance(row.get("attesa"), str) and row["attesa"].rstrip("'").isdigit():
        return row | {"attesa": int(row["attesa"].rstrip("'")), "teorico": str(row["teorico"]).lower()}
    return row | {"ordine": str(row["ordine"])} if "ordine" in row else row


def _missing_fields(_world: World, _fault: Fault, answer: Json, _now: datetime) -> Json:
    left_out = ("id_corsa", "causa", "note")
    return _with_rows(
        answer, lambda rows: [{k: v for k, v in row.items() if k not in left_out} for row in rows]
    )


def _short_lists(_world: World, fault: Fault, answer: Json, _now: datetime) -> Json:
    """Leave out the last rows of a list of other things than passages, and the last departures."""

    def shortened(rows: list[Json]) -> list[Json]:
        return rows[: round(len(rows) * (1 - fault.row_share))]

    if isinstance(answer, dict) and "servizi" in answer:
        legs_cut = [
            service
            | {
                "tratte": {
                    way: leg | {"partenze": shortened(leg["partenze"])}
                    for way, leg in service["tratte"].items()
                }
            }
            for service in answer["servizi"]
        ]
        return answer | {"servizi": legs_cut}
    return answer if "passaggi" in answer else _with_rows(answer, shortened)


def _empty_lists(_world: World, _fault: Fault, answer: Json, _now: datetime) -> Json:
    return answer if "passaggi" in answer else _with_rows(answer, lambda _rows: [])


def _no_passages(world: World, fault: Fault, answer: Json, _now: datetime) -> Json:
    if "passaggi" not in answer or _draw_of("silent", world, answer["codice_fermata"]) >= fault.row_share:
        return answer
    return _with_passages(answer, lambda rows: [row for row in rows if not _is_about(fault, row)])


def _stuck_rows(world: World, fault: Fault, answer: Json, now: datetime) -> Json:
    """Add buses that have passed, as if they passed now."""
    if "passaggi" not in answer:
        return answer
    try:
        passed = world.recently_passed(answer["codice_fermata"], now, round(fault.seconds))
    except UnknownStopError:
        return answer
    stuck = [
        render_v1.passage(world, replace(item, shown_at=int(now.timestamp())), now)
        for item in passed
        if _draw_of("stuck", world, item.trip_id) < fault.row_share
    ]
    return _with_passages(answer, lambda rows: [*(row for row in stuck if _is_about(fault, row)), *rows])


def _old_answers(world: World, fault: Fault, answer: Json, now: datetime) -> Json:
    """Answer as of when the cache was last renewed, which differs from stop to stop."""
    if "passaggi" not in answer:
        return answer
    phase = _draw_of("renewed", world, answer["codice_fermata"]) * fault.seconds
    age = (now.timestamp() - phase) % fault.seconds
    try:
        return render_v1.passages(world, answer["codice_fermata"], now - timedelta(seconds=age))
    except UnknownStopError:
        return answer


def _frozen_answers(world: World, fault: Fault, answer: Json, now: datetime) -> Json:
    if "passaggi" not in answer:
        return answer
    return _old_answers(world, fault, answer, now) | {"timestamp": utc_text(now.timestamp())}


def _live_timetable(world: World, fault: Fault, answer: Json, now: datetime) -> Json:
    if "passaggi" not in answer:
        return answer
    try:
        found = world.passages(answer["codice_fermata"], now, is_tracked=False)
    except UnknownStopError:
        return answer
    listed = [render_v1.passage(world, replace(item, is_theoretical=False), now) for item in found]
    return _with_passages(
        answer,
        lambda rows: [
            *(row for row in rows if not _is_about(fault, row)),
            *(row for row in listed if _is_about(fault, row)),
        ],
    )


def _single_ids(_world: World, fault: Fault, answer: Json, now: datetime) -> Json:
    return _with_passages(
        answer,
        lambda rows: [
            row | {"id_corsa": f"{row.get('id_corsa', '')}{now.timestamp():.3f}"}
            if not row["teorico"] and _is_about(fault, row)
            else row
            for row in rows
        ],
    )


def _shared_ids(_world: World, fault: Fault, answer: Json, _now: datetime) -> Json:
    return _with_passages(
        answer,
        lambda rows: [
            row | {"id_corsa": "0"} if not row["teorico"] and _is_about(fault, row) else row for row in rows
        ],
    )


def _past_departures(world: World, _fault: Fault, answer: Json, now: datetime) -> Json:
    if not isinstance(answer, dict) or "servizi" not in answer:
        return answer
    today = local(now.timestamp(), world.network.zone)
    if answer["data"] != today.date().isoformat():
        return answer
    rest = [
        service
        | {
            "tratte": {
                way: leg
                | {"partenze": [text for text in leg["partenze"] if text.zfill(5) > f"{today:%H:%M}"]}
                for way, leg in service["tratte"].items()
            }
        }
        for service in answer["servizi"]
    ]
    return answer | {"servizi": rest}


def _is_about(fault: Fault, row: Json) -> bool:
    return not fault.labels or row["linea"].lstrip("0").rstrip("/") in fault.labels


def _draw_of(what: str, world: World, key: str) -> float:
    return noise.unit(what, world.seed, key)


def _with_passages(answer: Json, change: Callable[[list[Json]], list[Json]]) -> Json:
    if isinstance(answer, dict) and "passaggi" in answer:
        return answer | {"passaggi": change(answer["passaggi"])}
    return answer


def _with_rows(answer: Json, change: Callable[[list[Json]], list[Json]]) -> Json:
    """Change the rows of an answer: of the answer itself if it is a list, or of each list in it."""
    if isinstance(answer, list):
        return change(answer)
    lists = {name: value for name, value in answer.items() if isinstance(value, list)}
    return answer | {name: change(rows) for name, rows in lists.items()}


def _draw(what: str, row: Json) -> float:
    return noise.unit(what, row.get("id_corsa", ""), row.get("orario", ""), row.get("messaggio", ""))


_CHANGES: dict[FaultKind, Change] = {
    FaultKind.CLOCK_SKEW: _skewed,
    FaultKind.ERROR_ROW: _error_row,
    FaultKind.WRAPPED_WAITS: _wrapped_waits,
    FaultKind.CLOCK_WAITS: _clock_waits,
    FaultKind.DUPLICATED_ROWS: _duplicated,
    FaultKind.VANISHING_ROWS: _vanishing,
    FaultKind.JUMPING: _jumping,
    FaultKind.UNKNOWN_KEYS: _unknown_keys,
    FaultKind.UNKNOWN_VALUES: _unknown_values,
    FaultKind.MISSING_STATO: _missing_stato,
    FaultKind.CHANGED_TYPES: _changed_types,
    FaultKind.MISSING_FIELDS: _missing_fields,
    FaultKind.SHORT_LISTS: _short_lists,
    FaultKind.EMPTY_LISTS: _empty_lists,
    FaultKind.NO_PASSAGES: _no_passages,
    FaultKind.STUCK_ROWS: _stuck_rows,
    FaultKind.OLD_ANSWERS: _old_answers,
    FaultKind.FROZEN_ANSWERS: _frozen_answers,
    FaultKind.LIVE_TIMETABLE: _live_timetable,
    FaultKind.SINGLE_IDS: _single_ids,
    FaultKind.SHARED_IDS: _shared_ids,
    FaultKind.PAST_DEPARTURES: _past_departures,
}
