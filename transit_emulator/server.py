"""Serves the emulator over HTTP until it is interrupted."""

import asyncio
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


def serve(app: FastAPI, *, host: str = "127.0.0.1", port: int = 8400) -> None:
    """Serve the application until interrupted; raises SystemExit if the port is taken."""
    uvicorn.run(app, host=host, port=port, log_level="warning", access_log=False, http=DroppingProtocol)
