from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.emulator.fixture_types import Send
from transit_emulator.app import create_app
from transit_emulator.interface.limits import SlidingLimits
from transit_emulator.world import World

START = datetime(2026, 3, 4, 7, tzinfo=UTC)
PATH = "/api/v1/stato_servizio"


class ManualClock:
    """A clock that shows the time it was set to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        """Return the time it was set to."""
        return self.now


def test_without_a_token_sixty_requests_a_minute_are_served_and_the_next_gets_retry_after(
    world: World, send: Send
) -> None:
    clock = ManualClock()
    app = create_app(world, clock=clock)
    for _ in range(60):
        assert send(app, PATH).status_code == 200
        clock.now += timedelta(milliseconds=250)

    refused = send(app, PATH)
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "45"

    clock.now += timedelta(seconds=45)
    assert send(app, PATH).status_code == 200


def test_a_token_has_three_hundred_a_minute_of_its_own(world: World, send: Send) -> None:
    clock = ManualClock()
    app = create_app(world, tokens=["a", "b"], clock=clock)
    statuses = [send(app, PATH, Authorization="Bearer a").status_code for _ in range(301)]

    assert statuses == [200] * 300 + [429]
    assert send(app, PATH, Authorization="Bearer b").status_code == 200
    assert send(app, PATH).status_code == 200


def test_requests_with_an_emulated_instant_are_counted_in_emulated_time(world: World, send: Send) -> None:
    app = create_app(world, clock=ManualClock(), limit_without_token=2)

    def at(second: float) -> int:
        return int(
            send(app, PATH, X_Emulated_Now=(START + timedelta(seconds=second)).isoformat()).status_code
        )

    assert [at(0), at(1), at(59.9), at(60), at(60.5), at(61)] == [200, 200, 429, 200, 429, 200]
    assert send(app, PATH).status_code == 200


def test_the_count_restarts_when_a_rehearsal_starts_again(world: World, send: Send) -> None:
    app = create_app(world, limit_without_token=1)
    moments = [START, START + timedelta(hours=1), START]
    statuses = [send(app, PATH, X_Emulated_Now=now.isoformat()).status_code for now in moments]

    assert statuses == [200, 200, 200]


def test_requests_of_the_about_page_are_not_counted(world: World, send: Send) -> None:
    app = create_app(world, clock=ManualClock(), limit_without_token=1)

    assert [send(app, "/").status_code for _ in range(3)] == [200, 200, 200]


@given(st.lists(st.floats(0, 30), min_size=1, max_size=80), st.integers(1, 6))
def test_no_window_grants_more_than_allowed_and_after_the_wait_a_request_is_granted(
    gaps: list[float], allowed: int
) -> None:
    limits = SlidingLimits()
    now, granted = 1_000_000.0, []
    for gap in gaps:
        now += gap
        wait = limits.wait_seconds("caller", now, allowed, is_virtual=False)
        if wait:
            now += wait
            assert limits.wait_seconds("caller", now, allowed, is_virtual=False) == 0
        granted.append(now)
    assert all(sum(at - 60 < other <= at for other in granted) <= allowed for at in granted)


def test_requests_slightly_out_of_order_leave_the_window_in_order_of_their_instants() -> None:
    limits = SlidingLimits()
    for now in (100.0, 101.0, 100.5):
        assert limits.wait_seconds("caller", now, 3, is_virtual=True) == 0

    assert limits.wait_seconds("caller", 160.4, 3, is_virtual=True) == 0
    assert limits.wait_seconds("caller", 160.45, 3, is_virtual=True) == 1
    assert limits.wait_seconds("caller", 160.55, 3, is_virtual=True) == 0
