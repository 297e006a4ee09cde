"""A server of bytes: it answers each request with exactly what a test tells it to."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class RawServer:
    """Where the server listens, and the requests it got, as text."""

    base_url: str
    requests: list[str] = field(default_factory=list)


@asynccontextmanager
async def raw_server(*replies: Reply) -> AsyncIterator[RawServer]:
    """Serve the replies in order, one per request, the last one for ever."""
    served = RawServer("")

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                served.requests.append(head.decode())
                await replies[min(len(served.requests), len(replies)) - 1](writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    served.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/api/v1/"
    try:
        yield served
    finally:
        server.close()
        await server.wait_closed()


def sends(body: bytes, status: str = "200 OK", **headers: str) -> Reply:
    """A whole answer with its length."""
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *lines, "", ""])

    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(head.encode() + body)

    return reply


async def resets(writer: asyncio.StreamWriter) -> None:
    """A connection that is reset before a byte of an answer."""
    writer.transport.abort()


async def breaks_off(writer: asyncio.StreamWriter) -> None:
    """An answer whose connection ends before its body does."""
    writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"passaggi": [')
    await writer.drain()
    writer.transport.close()


async def hangs(_: asyncio.StreamWriter) -> None:
    """A server that accepts a request and says nothing."""
    await asyncio.sleep(30)


async def trickles(writer: asyncio.StreamWriter) -> None:
    """A body that always goes on: each byte comes well within any read timeout."""
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"1\r\n[\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def never_ends(writer: asyncio.StreamWriter) -> None:
    """A body of many megabytes."""
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(1000):
        writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
        await writer.drain()
