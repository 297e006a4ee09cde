"""The client sends politely and turns whatever the network or the upstream does into an answer."""

import asyncio
import gzip
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from tests.api import raw_server
from tests.api.raw_server import RawServer, sends
from transit_etl.api import v0, v1
from transit_etl.api.client import Client, MissingTokenError
from transit_etl.api.exchange import Answer, Outcome, Request, RetryRefusedError
from transit_etl.clock import SystemClock, VirtualClock
from transit_etl.settings import Settings

PASSAGES = b'{"codice_fermata": "0416", "passaggi": []}'
START = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
Headers = dict[str, str]


def _settings(**values: Any) -> Settings:  # noqa: ANN401 - any setting
    values.setdefault("read_timeout_seconds", 5)
    return Settings(**values)


def _answer(handler: Callable[[httpx.Request], httpx.Response], request: Request, **values: Any) -> Answer:  # noqa: ANN401
    async def main() -> Answer:
        async with Client(_settings(**values), SystemClock(), httpx.MockTransport(handler)) as client:
            return await client.send(request)

    return asyncio.run(main())


def _sent(request: Request, **values: Any) -> httpx.Request:  # noqa: ANN401
    seen: list[httpx.Request] = []

    def handler(outgoing: httpx.Request) -> httpx.Response:
        seen.append(outgoing)
        return httpx.Response(200, content=PASSAGES)

    _answer(handler, request, **values)
    return seen[0]


def _with_server(
    *replies: raw_server.Reply,
    use: Callable[[Client, RawServer], Coroutine[None, None, Answer]] | None = None,
    **values: Any,  # noqa: ANN401
) -> Answer:
    """Send a passages request, or whatever `use` sends, to a server that gives these replies."""

    async def main() -> Answer:
        async with (
            raw_server.raw_server(*replies) as server,
            Client(_settings(base_url=server.base_url, **values), SystemClock()) as client,
        ):
            return await (use(client, server) if use else client.send(v1.passages("0416")))

    return asyncio.run(main())


def test_an_answer_holds_the_exact_bytes_and_when_they_came() -> None:
    body = '{"passaggi": [],\r\n "città": "\\u00e8"}  '.encode()

    answer = _with_server(sends(body))

    assert Outcome.OK == answer.outcome
    assert body == answer.body
    assert 200 == answer.http_status
    assert 1 == answer.attempts
    assert answer.error is None
    assert answer.sent_at <= answer.received_at
    assert 0 < answer.elapsed_ms < 5000


def test_a_request_is_addressed_below_the_base_and_says_who_asks() -> None:
    sent = _sent(v1.passages("0416"), base_url="https://transit.test/x/api/v1", user_agent="us/1 (mail@us)")

    assert "https://transit.test/x/api/v1/passaggi/0416" == str(sent.url)
    assert "us/1 (mail@us)" == sent.headers["User-Agent"]
    assert "application/json" == sent.headers["Accept"]


def test_version_0_is_asked_at_its_own_root_with_its_query() -> None:
    sent = _sent(v0.timetable("15", 5, 3, 2026), base_url="http://t.test/api/v1/", token="abcdefgh")

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
    headers = _sent(v1.lines(), **values).headers

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
    headers = _sent(v0.status(), **values).headers

    assert expected == headers["Authorization"]
    assert "X-Key" not in headers


@pytest.mark.parametrize("values", [{}, {"token": "", "legacy_token": ""}])
def test_version_0_without_a_token_is_an_error_that_says_what_to_set(values: dict[str, str]) -> None:
    with pytest.raises(MissingTokenError, match="TRANSIT_LEGACY_TOKEN or TRANSIT_TOKEN"):
        _sent(v0.status(), **values)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(204, Outcome.NO_CONTENT), (302, Outcome.CLIENT_ERROR), (404, Outcome.CLIENT_ERROR),
     (429, Outcome.RATE_LIMITED), (503, Outcome.SERVER_ERROR)],
)  # fmt: skip
def test_a_status_other_than_200_is_an_answer_too(status: int, outcome: Outcome) -> None:
    answer = _answer(lambda _: httpx.Response(status, content=b"<html>"), v1.lines())

    assert outcome == answer.outcome
    assert status == answer.http_status
    assert b"<html>" == answer.body


def test_a_redirect_is_not_followed() -> None:
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url))
        return httpx.Response(302, headers={"Location": "http://elsewhere.test/"})

    answer = _answer(handler, v1.lines(), token="abcdefgh")

    assert Outcome.CLIENT_ERROR == answer.outcome
    assert 1 == len(seen)


def test_a_compressed_answer_is_kept_decompressed() -> None:
    answer = _with_server(sends(gzip.compress(PASSAGES), Content_Encoding="gzip"))

    assert Outcome.OK == answer.outcome
    assert PASSAGES == answer.body


def test_broken_compression_is_not_json() -> None:
    answer = _with_server(sends(b"no gzip at all", Content_Encoding="gzip"))

    assert Outcome.NOT_JSON == answer.outcome
    assert answer.error is not None
    assert answer.error.startswith("DecodingError")


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_an_encoding_nobody_asked_for_is_not_read(encoding: str) -> None:
    answer = _with_server(sends(PASSAGES, Content_Encoding=encoding))

    assert Outcome.NOT_JSON == answer.outcome
    assert f"encoded as {encoding}, not asked for" == answer.error


def test_an_endless_body_is_cut_off_at_the_limit() -> None:
    answer = _with_server(raw_server.never_ends, max_body_bytes=100_000)

    assert Outcome.TOO_LARGE == answer.outcome
    assert answer.body is not None
    assert 100_000 == len(answer.body)


def test_the_limit_counts_what_comes_out_of_compression() -> None:
    bomb = gzip.compress(b" " * 30_000_000)

    answer = _with_server(sends(bomb, Content_Encoding="gzip"), max_body_bytes=50_000)

    assert len(bomb) < 50_000
    assert Outcome.TOO_LARGE == answer.outcome
    assert answer.body is not None
    assert 50_000 == len(answer.body)


def test_a_body_as_long_as_the_limit_is_whole() -> None:
    body = PASSAGES.ljust(2048)

    assert Outcome.OK == _with_server(sends(body), max_body_bytes=2048).outcome


def test_a_silent_server_ends_in_a_timeout() -> None:
    answer = _with_server(raw_server.hangs, read_timeout_seconds=0.1)

    assert Outcome.TIMEOUT == answer.outcome
    assert answer.http_status is None
    assert answer.body is None


def test_a_body_that_trickles_ends_at_the_total_deadline() -> None:
    answer = _with_server(raw_server.trickles, total_timeout_seconds=0.3)

    assert Outcome.TIMEOUT == answer.outcome
    assert 200 == answer.http_status
    assert answer.body is not None
    assert answer.body.startswith(b"[[")
    assert 250 < answer.elapsed_ms < 3000


def test_a_timeout_is_not_tried_again() -> None:
    async def use(client: Client, server: RawServer) -> Answer:
        async def never() -> None:
            raise AssertionError("asked for a second permit")

        answer = await client.send(v1.passages("0416"), before_retry=never)
        assert 1 == len(server.requests)
        return answer

    assert 1 == _with_server(raw_server.hangs, use=use, read_timeout_seconds=0.1).attempts


def test_a_connection_that_breaks_before_the_answer_is_tried_once_more_with_a_permit() -> None:
    permits: list[int] = []

    async def use(client: Client, server: RawServer) -> Answer:
        async def permit() -> None:
            permits.append(len(server.requests))

        return await client.send(v1.passages("0416"), before_retry=permit)

    answer = _with_server(raw_server.resets, sends(PASSAGES), use=use)

    assert Outcome.OK == answer.outcome
    assert 2 == answer.attempts
    assert [1] == permits


def test_two_broken_connections_are_enough() -> None:
    async def use(client: Client, server: RawServer) -> Answer:
        async def permit() -> None:
            pass

        answer = await client.send(v1.passages("0416"), before_retry=permit)
        assert 2 == len(server.requests)
        return answer

    answer = _with_server(raw_server.resets, use=use)

    assert Outcome.CONNECTION_ERROR == answer.outcome
    assert 2 == answer.attempts
    assert answer.error is not None


def test_without_a_permit_there_is_no_second_attempt() -> None:
    async def use(client: Client, server: RawServer) -> Answer:
        async def refused() -> None:
            raise RetryRefusedError

        unasked = await client.send(v1.passages("0416"))
        answer = await client.send(v1.passages("0416"), before_retry=refused)
        assert 1 == unasked.attempts
        assert 2 == len(server.requests)
        return answer

    answer = _with_server(raw_server.resets, use=use)

    assert Outcome.CONNECTION_ERROR == answer.outcome
    assert 1 == answer.attempts


def test_an_answer_that_breaks_off_is_not_tried_again_and_keeps_what_came() -> None:
    async def use(client: Client, server: RawServer) -> Answer:
        async def permit() -> None:
            raise AssertionError("asked for a second permit")

        answer = await client.send(v1.passages("0416"), before_retry=permit)
        assert 1 == len(server.requests)
        return answer

    answer = _with_server(raw_server.breaks_off, use=use)

    assert Outcome.CONNECTION_ERROR == answer.outcome
    assert b'{"passaggi": [' == answer.body
    assert 200 == answer.http_status


def test_a_server_that_is_not_there_is_a_connection_error() -> None:
    async def main() -> Answer:
        async with raw_server.raw_server(sends(b"")) as server:
            gone = server.base_url
        async with Client(_settings(base_url=gone), SystemClock()) as client:
            return await client.send(v1.lines())

    answer = asyncio.run(main())

    assert Outcome.CONNECTION_ERROR == answer.outcome
    assert answer.http_status is None


def test_what_is_no_http_at_all_is_a_connection_error() -> None:
    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")

    assert Outcome.CONNECTION_ERROR == _with_server(reply).outcome


def test_an_error_status_counts_more_than_how_its_body_ends() -> None:
    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 500\r\n\r\nslow")
        await asyncio.sleep(30)

    answer = _with_server(reply, read_timeout_seconds=0.1)

    assert Outcome.RATE_LIMITED == answer.outcome
    assert 7.0 == answer.retry_after_seconds


def test_connections_are_kept_for_the_next_request() -> None:
    ports: set[object] = set()

    async def reply(writer: asyncio.StreamWriter) -> None:
        ports.add(writer.get_extra_info("peername"))
        await sends(PASSAGES)(writer)

    async def use(client: Client, _: RawServer) -> Answer:
        await client.send(v1.passages("0416"))
        return await client.send(v1.passages("0416"))

    _with_server(reply, use=use)

    assert 1 == len(ports)


@pytest.mark.parametrize(
    ("values", "sends_clock", "is_told"),
    [({}, False, False), ({}, True, True), ({"clock_shift_seconds": -3600}, False, True)],
)
def test_the_emulator_is_told_the_time_when_it_is_not_the_real_one(
    values: Headers, *, sends_clock: bool, is_told: bool
) -> None:
    clock = VirtualClock(START)
    told: list[str | None] = []

    def handler(request: httpx.Request) -> httpx.Response:
        told.append(request.headers.get("X-Emulated-Now"))
        return httpx.Response(200, content=PASSAGES)

    async def main() -> Answer:
        transport = httpx.MockTransport(handler)
        async with Client(_settings(**values), clock, transport, sends_clock=sends_clock) as client:
            return await client.send(v1.passages("0416"))

    answer = clock.run(main())

    assert [START.isoformat() if is_told else None] == told
    assert START == answer.sent_at


def test_a_virtual_clock_stands_still_while_an_answer_is_under_way() -> None:
    clock = VirtualClock(START)

    async def late(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.05)
        await sends(PASSAGES)(writer)

    async def main() -> Answer:
        async with (
            raw_server.raw_server(late) as server,
            Client(_settings(base_url=server.base_url), clock) as client,
        ):
            answer, _ = await asyncio.gather(client.send(v1.passages("0416")), clock.sleep(3600))
            return answer

    answer = clock.run(main())

    assert START == answer.received_at
    assert 0 == answer.elapsed_ms
