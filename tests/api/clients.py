"""What the tests of the client share: ways to send one request to a server that does as told."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import httpx2

from tests.api import raw_server
from tests.api.raw_server import RawServer
from transit_etl.api import v1
from transit_etl.api.client import Client
from transit_etl.api.exchange import Answer, Request
from transit_etl.clock import SystemClock
from transit_etl.settings import Settings

PASSAGES = b'{"codice_fermata": "0416", "passaggi": []}'


def settings_with(**values: Any) -> Settings:  # noqa: ANN401 - any setting
    values.setdefault("read_timeout_seconds", 5)
    return Settings(**values)


Handler = Callable[[httpx2.Request], httpx2.Response]


def answer_to(handler: Handler, request: Request, **values: Any) -> Answer:  # noqa: ANN401
    async def main() -> Answer:
        async with Client(settings_with(**values), SystemClock(), httpx2.MockTransport(handler)) as client:
            return await client.send(request)

    return asyncio.run(main())


def request_sent(request: Request, **values: Any) -> httpx2.Request:  # noqa: ANN401
    seen: list[httpx2.Request] = []

    def handler(outgoing: httpx2.Request) -> httpx2.Response:
        seen.append(outgoing)
        return httpx2.Response(200, content=PASSAGES)

    answer_to(handler, request, **values)
    return seen[0]


def ask_server(
    *replies: raw_server.Reply,
    use: Callable[[Client, RawServer], Coroutine[None, None, Answer]] | None = None,
    **values: Any,  # noqa: ANN401
) -> Answer:
    """Send a passages request, or whatever `use` sends, to a server that gives these replies."""

    async def main() -> Answer:
        async with (
            raw_server.raw_server(*replies) as server,
            Client(settings_with(base_url=server.base_url, **values), SystemClock()) as client,
        ):
            return await (use(client, server) if use else client.send(v1.passages("0416")))

    return asyncio.run(main())
