"""Writes one JSON line per request when its response is complete; tests compare it with what was stored."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(slots=True)
class _SentResponse:
    """What has been sent for one request so far."""

    status: int = 0
    n_bytes: int = 0
    is_complete: bool = False
    digest: Any = field(default_factory=sha256)

    def add(self, message: Message) -> None:
        """Add a message of the response."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            body = message.get("body", b"")
            self.n_bytes += len(body)
            self.digest.update(body)
            self.is_complete = not message.get("more_body", False)


class RequestLog:
    """Appends to a file: at (real), now, caller, path, status, sha256 and n_bytes of the body, and more.

    A response that is not `is_complete` has the bytes that were sent, and status 0 if none were.
    `faults` names the kinds that hit the request, in the order in which they were applied.
    """

    def __init__(self, app: ASGIApp, path: Path, clock: Callable[[], datetime]) -> None:
        self._app = app
        self._clock = clock
        self._path = path
        path.touch()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and log the response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = _SentResponse()

        async def record(message: Message) -> None:
            sent.add(message)
            await send(message)
            if sent.is_complete:
                self._write(scope, sent)

        try:
            await self._app(scope, receive, record)
        finally:
            if not sent.is_complete:
                self._write(scope, sent)

    def _write(self, scope: Scope, sent: _SentResponse) -> None:
        state = scope.get("state", {})
        now = state.get("now")
        row = {
            "at": self._clock().isoformat(),
            "now": now.isoformat() if now else None,
            "caller": state.get("caller"),
            "path": scope.get("raw_path", b"").decode("ascii", "replace") or scope["path"],
            "status": sent.status,
            "sha256": sent.digest.hexdigest(),
            "n_bytes": sent.n_bytes,
            "is_complete": sent.is_complete,
            "faults": state.get("faults", []),
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
