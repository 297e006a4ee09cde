"""Whatever the upstream does, the collector goes on, the ledger explains it, the lake has what was good."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.accounting import (
    Rehearsed,
    check_every_request_is_explained,
    check_lake_holds_the_good_answers,
    check_quarantine_holds_only_what_must_be_there,
    rehearse_world,
)
from transit_emulator.faults.definitions import Fault, FaultKind
from transit_emulator.world import build_world

START = datetime(2026, 11, 18, 7, 0, tzinfo=UTC)
LARGEST_BODY = 300_000
TIMEOUT_SECONDS = 0.3
ENOUGH = 10
# A request whose connection drops is sent once more: drops are frequent enough to hit both attempts.
# A refusal with Retry-After makes all wait: few leave time for the others.
SHARES = dict.fromkeys(FaultKind, 0.02) | {
    FaultKind.RATE_LIMITED: 0.002,
    FaultKind.SERVER_ERROR: 0.002,
    FaultKind.CONNECTION_RESET: 0.1,
    FaultKind.CUT_OFF: 0.1,
}


def fault_of(kind: FaultKind, share: float) -> Fault:
    """Return a fault that takes little time, in a share of the requests."""
    return Fault.model_validate({
        "kind": kind, "share": share, "retry_after_seconds": 7, "delay_seconds": 0.05,
        "delay_spread": 1.0, "n_bytes": LARGEST_BODY + 1, "seconds": 90,
    })  # fmt: skip


def _rehearse(folder: Path, minutes: float, faults: Sequence[Fault]) -> Rehearsed:
    rehearsed = rehearse_world(
        folder,
        build_world(seed=5, has_revisions=True),
        START,
        minutes,
        faults,
        max_body_bytes=LARGEST_BODY,
        total_timeout_seconds=TIMEOUT_SECONDS,
    )
    check_every_request_is_explained(rehearsed)
    check_lake_holds_the_good_answers(rehearsed)
    check_quarantine_holds_only_what_must_be_there(rehearsed)
    return rehearsed


def test_all_faults_together_are_survived_explained_and_kept_out(tmp_path: Path) -> None:
    rehearsed = _rehearse(tmp_path, 12, [fault_of(kind, 0.02) for kind in FaultKind])

    assert all(rehearsed.hit_by(kind) for kind in FaultKind)
    assert rehearsed.report.n_refused == 0
    assert rehearsed.log[-1]["now"] > (START + timedelta(minutes=11)).isoformat()


@pytest.mark.long
@pytest.mark.parametrize("kind", FaultKind)
def test_a_fault_alone_is_survived_explained_and_kept_out(tmp_path: Path, kind: FaultKind) -> None:
    rehearsed = _rehearse(tmp_path, 10, [fault_of(kind, 0.15)])

    assert len(rehearsed.hit_by(kind)) >= ENOUGH
    assert rehearsed.report.n_refused == 0
    assert rehearsed.report.outcomes["ok"] > ENOUGH
    assert rehearsed.log[-1]["now"] > (START + timedelta(minutes=9)).isoformat()


@pytest.mark.long
def test_all_faults_together_are_survived_for_an_hour(tmp_path: Path) -> None:
    storm = fault_of(FaultKind.RATE_LIMITED, 1).model_copy(update={"every_seconds": 1_500, "for_seconds": 30})
    outage = fault_of(FaultKind.SERVER_ERROR, 1).model_copy(
        update={"every_seconds": 1_900, "for_seconds": 180}
    )
    faults = [fault_of(kind, share) for kind, share in SHARES.items()]
    rehearsed = _rehearse(tmp_path, 60, [*faults, storm, outage])

    assert all(rehearsed.hit_by(kind) for kind in FaultKind)
    assert rehearsed.report.n_refused == 0
    assert set(rehearsed.report.outcomes) >= {
        "ok", "no_content", "empty_body", "not_json", "error_row", "too_large", "rate_limited",
        "server_error", "timeout", "connection_error",
    }  # fmt: skip
    assert rehearsed.log[-1]["now"] > (START + timedelta(minutes=59)).isoformat()
