"""Decides what a stop lists at an instant, and the error of each prediction."""

from dataclasses import dataclass
from math import ceil, pi, sin

from transit_emulator.days.board import Board

HORIZON_SECONDS = 3_600
PER_LINE = 2
_LARGEST_ERROR = 600

# Spread and bias (seconds too early) of the prediction error, by seconds until the passage.
_AHEAD = (0.0, 60.0, 120.0, 180.0, 300.0, 480.0, 900.0, 1_500.0, 3_600.0)
_SPREAD = (2.0, 10.0, 28.0, 62.0, 90.0, 104.0, 122.0, 150.0, 180.0)
_TOO_EARLY = (0.0, 0.0, 3.0, 8.0, 20.0, 40.0, 62.0, 75.0, 85.0)


@dataclass(frozen=True, slots=True)
class ListedPassage:
    """One passage as a stop lists it; `shown_at` is a prediction, or the timetable's time."""

    trip: int
    sequence: int
    shown_at: int
    is_theoretical: bool
    is_full: bool


def listed(board: Board, stop: int, now: float, *, is_tracked: bool = True) -> list[ListedPassage]:
    """Return what a service date contributes to a stop's list at an instant, unsorted.

    Without `is_tracked` these are rows of the timetable alone.
    """
    after = now - board.latest_lateness - 1
    before = now + HORIZON_SECONDS + board.latest_earliness + _LARGEST_ERROR
    found = []
    for row in board.rows(stop, after, before):
        passage = _passage(board, row, now, is_tracked=is_tracked)
        if passage is not None and passage.shown_at <= now + HORIZON_SECONDS:
            found.append(passage)
    return found


def recently_passed(board: Board, stop: int, now: float, within_seconds: int) -> list[ListedPassage]:
    """Return the live buses that passed a stop in the last seconds; `shown_at` is when they passed."""
    rows = board.rows(
        stop, now - board.latest_lateness - within_seconds - 1, now + board.latest_earliness + 1
    )
    found = []
    for row in rows:
        trip, passed_at = board.trip[row], board.passed_at[row]
        is_live = board.live_from[trip] <= passed_at < board.lost_at[trip]
        if is_live and now - within_seconds < passed_at <= now:
            found.append(_live(board, row, passed_at))
    return found


def _passage(board: Board, row: int, now: float, *, is_tracked: bool) -> ListedPassage | None:
    """Return the row as it is listed, or None where it is not (the bus has passed, the trip is cancelled)."""
    trip, scheduled_at, passed_at = board.trip[row], board.scheduled_at[row], board.passed_at[row]
    if is_tracked and board.live_from[trip] <= now < board.lost_at[trip]:
        if now >= passed_at:
            return None
        return _live(board, row, predicted_at(board, trip, passed_at, now))
    is_gone = now >= scheduled_at or now >= board.taken_off_at[trip]
    is_gone = is_gone or (now >= board.lost_at[trip] and now >= passed_at)
    if is_gone:
        return None
    return ListedPassage(trip, board.sequence[row], scheduled_at, is_theoretical=True, is_full=False)


def _live(board: Board, row: int, shown_at: int) -> ListedPassage:
    return ListedPassage(
        board.trip[row], board.sequence[row], shown_at, is_theoretical=False, is_full=board.is_full[row]
    )


def predicted_at(board: Board, trip: int, passed_at: int, now: float) -> int:
    """Return the prediction shown for a passage: as of the bus's last report, never in the past.

    The error has a part that is constant for the trip and one that varies slowly; both shrink to zero as
    the bus comes near.
    """
    every, phase = board.report_every[trip], board.error_phase[trip]
    reported_at = now - (now + phase * every) % every
    ahead = max(0.0, passed_at - reported_at)
    wander = sin(2 * pi * (reported_at / board.error_period[trip] + phase))
    error = _interpolated(ahead, _SPREAD) * (0.85 * board.error_scale[trip] + 0.75 * wander)
    return max(round(passed_at + error - _interpolated(ahead, _TOO_EARLY)), ceil(now))


def _interpolated(ahead: float, values: tuple[float, ...]) -> float:
    for step in range(1, len(_AHEAD)):
        if ahead < _AHEAD[step]:
            share = (ahead - _AHEAD[step - 1]) / (_AHEAD[step] - _AHEAD[step - 1])
            return values[step - 1] + share * (values[step] - values[step - 1])
    return values[-1]
