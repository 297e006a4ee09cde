"""`Retry-After` is read in both its forms and never gives an absurd wait."""

from datetime import UTC, datetime

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transit_etl.api.retry_after import LONGEST_SECONDS, retry_after_seconds

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"Retry-After": ""}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": " 0 "}, 0.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "9" * 400}, LONGEST_SECONDS),
        ({"Retry-After": "Mon, 02 Mar 2026 08:00:30 GMT"}, 30.0),
        ({"Retry-After": "Mon, 02 Mar 99999 08:00:30 GMT"}, None),
        ({"Retry-After": "Mon, 02 Mar 2026 08:00:30 +999999999999"}, None),
        ({"Retry-After": "Fri, 31 Dec 9999 23:59:59 -2359"}, LONGEST_SECONDS),
        ({"Retry-After": "Mon, 02 Mar 2026 07:00:00 GMT"}, 0.0),
        ({"Retry-After": "Tue, 02 Mar 2027 08:00:00 GMT"}, LONGEST_SECONDS),
    ],
)
def test_a_wait_is_read_and_clamped(headers: dict[str, str], expected: float | None) -> None:
    assert expected == retry_after_seconds(httpx2.Headers(headers), NOW)


def test_a_date_is_compared_with_the_clock_of_the_server() -> None:
    headers = {"Retry-After": "Mon, 02 Mar 2026 09:00:20 GMT", "Date": "Mon, 02 Mar 2026 09:00:00 GMT"}

    assert 20.0 == retry_after_seconds(httpx2.Headers(headers), NOW)


NUMBER = st.integers(-1, 10**30)
DATE = st.builds("Mon, {} {} {} {}:{}:{} {}{}".format, NUMBER, st.sampled_from(["Jan", "Feb", "Mrz"]), NUMBER,
                 NUMBER, NUMBER, NUMBER, st.sampled_from("+-"), NUMBER)  # fmt: skip
HEADER = st.text(max_size=40) | DATE | NUMBER.map(str)


@given(HEADER, HEADER)
def test_any_text_gives_a_bounded_wait_or_none(text: str, date: str) -> None:
    headers = httpx2.Headers(
        [(b"Retry-After", text.encode("utf-8", "ignore")), (b"Date", date.encode("utf-8", "ignore"))]
    )

    seconds = retry_after_seconds(headers, NOW)

    assert seconds is None or 0 <= seconds <= LONGEST_SECONDS
