"""Serves the emulator over HTTP until it is told to stop."""

import asyncio
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from transit_emulator.faults.breaking import TRANSPORT


class DroppingProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
    """Speaks HTTP, and lets requests get at their connection, so that a fault can drop it."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Leave the connection in the state of its requests."""
        self.app_state: dict[str, Any] = {**self.app_state, TRANSPORT: transport}
        super().connection_made(transport)


def serve(app: FastAPI, *, host: str = "127.0.0.1", port: int = 8400) -> None:
    """Serve the application until interrupted; raises SystemExit where the port cannot be had."""
    uvicorn.run(app, host=host, port=port, log_level="warning", access_log=False, http=DroppingProtocol)
