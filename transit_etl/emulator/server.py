"""Serves the emulator over HTTP until it is told to stop."""

import uvicorn
from fastapi import FastAPI


def serve(app: FastAPI, *, host: str = "127.0.0.1", port: int = 8400) -> None:
    """Serve the application until interrupted; raises SystemExit where the port cannot be had."""
    uvicorn.run(app, host=host, port=port, log_level="warning", access_log=False)
