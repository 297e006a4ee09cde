"""Whatever becomes of a connection is an answer; only one that broke before the answer is tried once more."""

import asyncio

from tests.api import raw_server
from tests.api.clients import PASSAGES, ask_server, settings_with
from tests.api.raw_server import RawServer, sends
from transit_etl.api import v1
from transit_etl.api.client import Client
from transit_etl.api.exchange import Answer, Outcome, RetryRefusedError
from transit_etl.clock import SystemClock


def test_a_silent_server_ends_in_a_timeout() -> None:
    answer = ask_server(raw_server.hangs, read_timeout_seconds=0.1)

    assert Outcome.TIMEOUT == answer.outcome
    assert answer.http_status is None
    assert answer.body is None


def test_a_body_that_trickles_ends_at_the_total_deadline() -> None:
    answer = ask_server(raw_server.trickles, total_timeout_seconds=0.3)

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

    assert 1 == ask_server(raw_server.hangs, use=use, read_timeout_seconds=0.1).attempts


def test_a_connection_that_breaks_before_the_answer_is_tried_once_more_with_a_permit() -> None:
    permits: list[int] = []

    async def use(client: Client, server: RawServer) -> Answer:
        async def permit() -> None:
            permits.append(len(server.requests))

        return await client.send(v1.passages("0416"), before_retry=permit)

    answer = ask_server(raw_server.resets, sends(PASSAGES), use=use)

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

    answer = ask_server(raw_server.resets, use=use)

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

    answer = ask_server(raw_server.resets, use=use)

    assert Outcome.CONNECTION_ERROR == answer.outcome
    assert 1 == answer.attempts


def test_an_answer_that_breaks_off_is_not_tried_again_and_keeps_what_came() -> None:
    async def use(client: Client, server: RawServer) -> Answer:
        async def permit() -> None:
            raise AssertionError("asked for a second permit")

        answer = await client.send(v1.passages("0416"), before_retry=permit)
        assert 1 == len(server.requests)
        return answer

    answer = ask_server(raw_server.breaks_off, use=use)

    assert Outcome.CONNECTION_ERROR == answer.outcome
    assert b'{"passaggi": [' == answer.body
    assert 200 == answer.http_status


def test_a_server_that_is_not_there_is_a_connection_error() -> None:
    async def main() -> Answer:
        async with raw_server.raw_server(sends(b"")) as server:
            gone = server.base_url
        async with Client(settings_with(base_url=gone), SystemClock()) as client:
            return await client.send(v1.all_of("lines"))

    answer = asyncio.run(main())

    assert Outcome.CONNECTION_ERROR == answer.outcome
    assert answer.http_status is None


def test_what_is_no_http_at_all_is_a_connection_error() -> None:
    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")

    assert Outcome.CONNECTION_ERROR == ask_server(reply).outcome


def test_an_error_status_counts_more_than_how_its_body_ends() -> None:
    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 500\r\n\r\nslow")
        await asyncio.sleep(30)

    answer = ask_server(reply, read_timeout_seconds=0.1)

    assert Outcome.RATE_LIMITED == answer.outcome
    assert 7.0 == answer.retry_after_seconds
