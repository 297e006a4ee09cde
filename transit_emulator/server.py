"""Serves the emulator over HTTP until it is interrupted."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from transit_emulator.faults.injection import TRANSPORT


class DroppingProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
    """HTTP that gives each request access to its connection, so that a fault can drop it."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Put the connection into the state of its requests."""
        self.app_state: dict[str, Any] = {**self.app_state, TRANSPORT: transport}
        super().connection_made(transport)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_listening: Callable[[], object]) -> None:
        super().__init__(config)
        self._on_listening = on_listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_listening()


def serve(
    app: FastAPI,
    *,
    host: str = "127.0.0.1",
    port: int = 8400,
    on_listening: Callable[[], object] = lambda: None,
) -> None:
    """Serve the application until interrupted; raises SystemExit if the port is taken.

    `on_listening` is called once connections are accepted.
    """
    config = uvicorn.Config(
        app, host=host, port=port, log_level="warning", access_log=False, http=DroppingProtocol
    )
    with suppress(KeyboardInterrupt):
        _Server(config, on_listening).run()
