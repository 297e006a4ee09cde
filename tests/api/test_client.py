"""The client sends politely and turns whatever the network or the upstream does into an answer."""

import asyncio
import gzip
import threading
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from tests.api import raw_server
from tests.api.clients import PASSAGES, answer_to, ask_server, request_sent, settings_with
from tests.api.raw_server import RawServer, sends
from transit_etl.api import v0, v1
from transit_etl.api.client import Client, MissingTokenError
from transit_etl.api.exchange import Answer, Outcome
from transit_etl.api.redaction import Redactor
from transit_etl.clock import Clock, SystemClock, VirtualClock

START = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
Headers = dict[str, str]


def test_an_answer_holds_the_exact_bytes_and_when_they_came() -> None:
    body = '{"passaggi": [],\r\n "città": "\\u00e8"}  '.encode()

    answer = ask_server(sends(body))

    assert Outcome.OK == answer.outcome
    assert body == answer.body
    assert 200 == answer.http_status
    assert 1 == answer.attempts
    assert answer.error is None
    assert answer.sent_at <= answer.received_at
    assert 0 < answer.elapsed_ms < 5000


def test_a_request_is_addressed_below_the_base_and_says_who_asks() -> None:
    sent = request_sent(
        v1.passages("0416"), base_url="https://transit.test/x/api/v1", user_agent="us/1 (mail@us)"
    )

    assert "https://transit.test/x/api/v1/passaggi/0416" == str(sent.url)
    assert "us/1 (mail@us)" == sent.headers["User-Agent"]
    assert "application/json" == sent.headers["Accept"]


def test_version_0_is_asked_at_its_own_root_with_its_query() -> None:
    sent = request_sent(v0.timetable("15", 5, 3, 2026), base_url="http://t.test/api/v1/", token="abcdefgh")

    assert "http://t.test/api/amt/orari/15?gg=05&mm=03&aa=2026" == str(sent.url)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, None),
        ({"token": ""}, None),
        ({"token": "abcdefgh"}, ("Authorization", "Bearer abcdefgh")),
        ({"token": "abcdefgh", "token_header": "authorization"}, ("Authorization", "Bearer abcdefgh")),
        ({"token": "abcdefgh", "token_header": "X-Api-Key"}, ("X-Api-Key", "abcdefgh")),
    ],
)
def test_version_1_carries_a_token_if_there_is_one(
    values: dict[str, str], expected: tuple[str, str] | None
) -> None:
    headers = request_sent(v1.all_of("lines"), **values).headers

    if expected is None:
        assert "Authorization" not in headers
    else:
        assert expected[1] == headers[expected[0]]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"token": "abcdefgh"}, "Bearer abcdefgh"),
        ({"legacy_token": "ijklmnop"}, "Bearer ijklmnop"),
        ({"token": "abcdefgh", "legacy_token": "ijklmnop", "token_header": "X-Key"}, "Bearer ijklmnop"),
    ],
)
def test_version_0_always_carries_a_bearer_token(values: dict[str, str], expected: str) -> None:
    headers = request_sent(v0.status(), **values).headers

    assert expected == headers["Authorization"]
    assert "X-Key" not in headers


@pytest.mark.parametrize("values", [{}, {"token": "", "legacy_token": ""}])
def test_version_0_without_a_token_is_an_error_that_says_what_to_set(values: dict[str, str]) -> None:
    with pytest.raises(MissingTokenError, match="set TRANSIT_LEGACY_TOKEN, or TRANSIT_TOKEN"):
        request_sent(v0.status(), **values)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(204, Outcome.NO_CONTENT), (302, Outcome.CLIENT_ERROR), (404, Outcome.CLIENT_ERROR),
     (429, Outcome.RATE_LIMITED), (503, Outcome.SERVER_ERROR)],
)  # fmt: skip
def test_a_status_other_than_200_is_an_answer_too(status: int, outcome: Outcome) -> None:
    answer = answer_to(lambda _: httpx2.Response(status, content=b"<html>"), v1.all_of("lines"))

    assert outcome == answer.outcome
    assert status == answer.http_status
    assert b"<html>" == answer.body


def test_a_redirect_is_not_followed() -> None:
    seen: list[str] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(str(request.url))
        return httpx2.Response(302, headers={"Location": "http://elsewhere.test/"})

    answer = answer_to(handler, v1.all_of("lines"), token="abcdefgh")

    assert Outcome.CLIENT_ERROR == answer.outcome
    assert 1 == len(seen)


def test_a_compressed_answer_is_kept_decompressed() -> None:
    answer = ask_server(sends(gzip.compress(PASSAGES), Content_Encoding="gzip"))

    assert Outcome.OK == answer.outcome
    assert PASSAGES == answer.body


def test_broken_compression_is_not_json() -> None:
    answer = ask_server(sends(b"no gzip at all", Content_Encoding="gzip"))

    assert Outcome.NOT_JSON == answer.outcome
    assert answer.error is not None
    assert answer.error.startswith("DecodingError")


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_an_encoding_nobody_asked_for_is_not_read(encoding: str) -> None:
    answer = ask_server(sends(PASSAGES, Content_Encoding=encoding))

    assert Outcome.NOT_JSON == answer.outcome
    assert f"encoded as {encoding}, not asked for" == answer.error


def test_an_endless_body_is_cut_off_at_the_limit() -> None:
    answer = ask_server(raw_server.never_ends, max_body_bytes=100_000)

    assert Outcome.TOO_LARGE == answer.outcome
    assert answer.body is not None
    assert 100_000 == len(answer.body)


def test_the_limit_counts_what_comes_out_of_compression() -> None:
    bomb = gzip.compress(b" " * 30_000_000)

    answer = ask_server(sends(bomb, Content_Encoding="gzip"), max_body_bytes=50_000)

    assert len(bomb) < 50_000
    assert Outcome.TOO_LARGE == answer.outcome
    assert answer.body is not None
    assert 50_000 == len(answer.body)


def test_a_long_answer_is_examined_while_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    is_over = threading.Event()

    def wait(_redactor: Redactor, body: bytes, *, is_cut: bool) -> bytes:
        assert is_over.wait(10)
        assert not is_cut
        return body

    async def main() -> Answer:
        transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=PASSAGES.ljust(1 << 20)))
        async with Client(settings_with(), SystemClock(), transport) as client:
            asyncio.get_running_loop().call_later(0.1, is_over.set)
            return await client.send(v1.passages("0001"))

    monkeypatch.setattr(Redactor, "body", wait)

    assert Outcome.OK == asyncio.run(main()).outcome


def test_a_body_as_long_as_the_limit_is_whole() -> None:
    body = PASSAGES.ljust(2048)

    assert Outcome.OK == ask_server(sends(body), max_body_bytes=2048).outcome


def test_connections_are_kept_for_the_next_request() -> None:
    ports: set[object] = set()

    async def reply(writer: asyncio.StreamWriter) -> None:
        ports.add(writer.get_extra_info("peername"))
        await sends(PASSAGES)(writer)

    async def use(client: Client, _: RawServer) -> Answer:
        await client.send(v1.passages("0416"))
        return await client.send(v1.passages("0416"))

    ask_server(reply, use=use)

    assert 1 == len(ports)


@pytest.mark.parametrize(
    ("clock", "is_told"),
    [(SystemClock(), False), (SystemClock(-3600), True), (VirtualClock(START), True)],
    ids=["real", "shifted", "virtual"],
)
def test_the_emulator_is_told_the_time_when_it_is_not_the_real_one(clock: Clock, *, is_told: bool) -> None:
    told: list[str | None] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        told.append(request.headers.get("X-Emulated-Now"))
        return httpx2.Response(200, content=PASSAGES)

    async def main() -> Answer:
        async with Client(settings_with(), clock, httpx2.MockTransport(handler)) as client:
            return await client.send(v1.passages("0416"))

    answer = clock.run(main())
    (header,) = told

    assert is_told == (header is not None)
    if header is not None:
        assert abs(datetime.fromisoformat(header) - answer.sent_at) < timedelta(seconds=5)


def test_a_virtual_clock_stands_still_while_an_answer_is_under_way() -> None:
    clock = VirtualClock(START)

    async def late(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.05)
        await sends(PASSAGES)(writer)

    async def main() -> Answer:
        async with (
            raw_server.raw_server(late) as server,
            Client(settings_with(base_url=server.base_url), clock) as client,
        ):
            answer, _ = await asyncio.gather(client.send(v1.passages("0416")), clock.sleep(3600))
            return answer

    answer = clock.run(main())

    assert START == answer.received_at
    assert 0 == answer.elapsed_ms
