"""Injects faults into requests: answers are replaced, changed or delayed, or the connection is dropped."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from transit_emulator.faults.answers import damaged, replacement
from transit_emulator.faults.contents import changed
from transit_emulator.faults.definitions import (
    FAULT_HEADER,
    BadFaultsError,
    Fault,
    FaultKind,
    fault_of_header,
    faults_hitting,
)
from transit_emulator.interface.refusals import BadRequestError
from transit_emulator.interface.responses import error_response
from transit_emulator.world import World

TRANSPORT = "transport"  # the key of the connection in the request's state
_OK = 200
_PIECES = 8
_ORDER = {kind: place for place, kind in enumerate(FaultKind)}


class FaultInjection:
    """Applies the faults that hit a request; a header forces one. Needs `state.now`, set by AccessControl."""

    def __init__(
        self,
        app: ASGIApp,
        world: World,
        faults: Sequence[Fault],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._app = app
        self._world = world
        self._faults = faults
        self._sleep = sleep

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request with its faults applied."""
        if scope["type"] != "http" or not scope["path"].startswith("/api/"):
            await self._app(scope, receive, send)
            return
        try:
            faults = self._faults_of(HTTPConnection(scope))
        except BadFaultsError as error:
            await error_response(BadRequestError(str(error)))(scope, receive, send)
            return
        if faults:
            scope["state"]["faults"] = [fault.kind.value for fault in faults]
            await self._apply(faults, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _faults_of(self, request: HTTPConnection) -> list[Fault]:
        forced = request.headers.get(FAULT_HEADER)
        if forced is not None:
            return [fault_of_header(forced)]
        if not self._faults:
            return []
        return faults_hitting(
            self._faults,
            self._world.seed,
            request.scope["path"],
            request.state.now,
            has_user_agent=bool(request.headers.get("User-Agent")),
        )

    async def _apply(self, faults: list[Fault], scope: Scope, receive: Receive, send: Send) -> None:
        for fault in faults:
            if fault.kind is FaultKind.SLOW:
                await self._sleep(fault.delay_of(scope["path"], scope["state"]["now"]))
            if fault.kind is FaultKind.CONNECTION_RESET:
                await _drop(scope, receive, is_abrupt=True)
                return
            answer = replacement(fault)
            if answer is not None:
                await answer(scope, receive, send)
                return
        await self._change(faults, scope, receive, send)

    async def _change(self, faults: list[Fault], scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the real answer, its contents and then its bytes changed."""
        start, body = await self._real_answer(scope, receive)
        if start["status"] == _OK:
            body = self._changed(faults, body, scope["state"]["now"])
        if any(fault.kind is FaultKind.CUT_OFF for fault in faults):
            await send(_with_length(start, len(body)))
            await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
            await _drop(scope, receive, is_abrupt=False)
            return
        await send(_with_length(start, len(body)))
        slow = next((fault for fault in faults if fault.kind is FaultKind.SLOW_BODY), None)
        if slow is not None:
            body = await self._send_in_pieces(body, slow.delay_of(scope["path"], scope["state"]["now"]), send)
        await send({"type": "http.response.body", "body": body})

    async def _send_in_pieces(self, body: bytes, seconds: float, send: Send) -> bytes:
        """Send all but the last piece of a body, a pause after each, and return the last."""
        size = len(body) // _PIECES + 1
        for first in range(0, len(body) - size, size):
            piece = body[first : first + size]
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            await self._sleep(seconds / _PIECES)
        return body[max(0, (len(body) - 1) // size * size) :]

    def _changed(self, faults: list[Fault], body: bytes, now: datetime) -> bytes:
        """Change contents, then bytes, in the order of the kinds, each on the result of the one before."""
        faults = sorted(faults, key=lambda fault: _ORDER[fault.kind])
        content = json.loads(body)
        for fault in faults:
            content = changed(self._world, fault, content, now)
        body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        for fault in faults:
            body = damaged(fault, body)
        return body

    async def _real_answer(self, scope: Scope, receive: Receive) -> tuple[Message, bytes]:
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self._app(scope, receive, keep)
        return messages[0], b"".join(message.get("body", b"") for message in messages[1:])


def _with_length(start: Message, length: int) -> Message:
    headers = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
    return {**start, "headers": [*headers, (b"content-length", str(length).encode())]}


async def _drop(scope: Scope, receive: Receive, *, is_abrupt: bool) -> None:
    """Close the connection, at once or after what was sent; raise ConnectionAbortedError if there is none."""
    transport = scope["state"].get(TRANSPORT)
    if transport is None:
        raise ConnectionAbortedError("the emulator dropped the connection")
    if is_abrupt:
        transport.abort()
    else:
        transport.close()
    while (await receive())["type"] != "http.disconnect":
        pass
