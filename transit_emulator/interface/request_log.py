"""Writes one JSON line per request when its response is complete, for tests to compare with what was kept."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(slots=True)
class _Seen:
    """What went out for one request so far."""

    status: int = 0
    n_bytes: int = 0
    is_complete: bool = False
    digest: Any = field(default_factory=sha256)

    def note(self, message: Message) -> None:
        """Take a message of the response into account."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            body = message.get("body", b"")
            self.n_bytes += len(body)
            self.digest.update(body)
            self.is_complete = not message.get("more_body", False)


class RequestLog:
    """Appends to a file: at (real), now, caller, path, status, sha256 and n_bytes of the body, and more.

    A response that is not `is_complete` has the bytes it got to, and status 0 where it had not begun.
    `faults` names the kinds that hit the request, in the order in which they were tried.
    """

    def __init__(self, app: ASGIApp, path: Path, clock: Callable[[], datetime]) -> None:
        self._app = app
        self._clock = clock
        self._path = path
        path.touch()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and log what it was answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seen = _Seen()

        async def watch(message: Message) -> None:
            seen.note(message)
            await send(message)
            if seen.is_complete:
                self._write(scope, seen)

        try:
            await self._app(scope, receive, watch)
        finally:
            if not seen.is_complete:
                self._write(scope, seen)

    def _write(self, scope: Scope, seen: _Seen) -> None:
        state = scope.get("state", {})
        now = state.get("now")
        row = {
            "at": self._clock().isoformat(),
            "now": now.isoformat() if now else None,
            "caller": state.get("caller"),
            "path": scope.get("raw_path", b"").decode("ascii", "replace") or scope["path"],
            "status": seen.status,
            "sha256": seen.digest.hexdigest(),
            "n_bytes": seen.n_bytes,
            "is_complete": seen.is_complete,
            "faults": state.get("faults", []),
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
