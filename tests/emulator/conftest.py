import asyncio
from datetime import UTC, datetime

import httpx2
import pytest
from fastapi import FastAPI

from tests.emulator.fixture_types import Get, Send
from transit_emulator.app import DEFAULT_TOKEN, create_app
from transit_emulator.world import World, build_world

WEDNESDAY_MORNING = datetime(2026, 3, 4, 7, 12, 30, tzinfo=UTC)


@pytest.fixture(scope="session")
def world() -> World:
    return build_world(seed=7)


@pytest.fixture(scope="session")
def send() -> Send:
    """Send a GET to an application in this process."""

    def send(app: FastAPI, path: str, **headers: str) -> httpx2.Response:
        async def get() -> httpx2.Response:
            transport = httpx2.ASGITransport(app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://emulator") as client:
                return await client.get(path, headers={k.replace("_", "-"): v for k, v in headers.items()})

        return asyncio.run(get())

    return send


@pytest.fixture
def get(world: World, send: Send) -> Get:
    """Send a GET for a path at an instant, by default with a token."""
    app = create_app(world)

    def ask(
        path: str, now: datetime = WEDNESDAY_MORNING, token: str | None = DEFAULT_TOKEN
    ) -> httpx2.Response:
        headers = {"X_Emulated_Now": now.isoformat()}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return send(app, path, **headers)

    return ask
