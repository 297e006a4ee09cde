"""Assembles the emulator as a web application."""

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from transit_emulator.faults.definitions import Fault
from transit_emulator.faults.injection import FaultInjection
from transit_emulator.interface import models, openapi, routes_v0, routes_v1
from transit_emulator.interface.access import AccessControl, AccessRules
from transit_emulator.interface.refusals import BadRequestError, RefusedError
from transit_emulator.interface.request_log import RequestLog
from transit_emulator.interface.responses import error_response, json_response
from transit_emulator.world import World

DEFAULT_TOKEN = "demo-token"  # noqa: S105 - the token of a made-up service
_DESCRIPTION = """An emulated public-transport information service: version 1, and the deprecated version 0.
Answers are functions of (network, seed, path, now); the header `X-Emulated-Now` sets `now`, and
`X-Emulated-Fault` (`kind; name=value; …`) forces a fault. Neither belongs to the upstream's interface."""


def create_app(
    world: World,
    *,
    tokens: Collection[str] = (DEFAULT_TOKEN,),
    segment: str = "amt",
    limit_without_token: int = 60,
    limit_with_token: int = 300,
    log: Path | None = None,
    faults: Sequence[Fault] = (),
    clock: Callable[[], datetime] | None = None,
) -> FastAPI:
    """Return the application that serves a world.

    `segment` names the operator in version 0's paths; `log` is a file that gets one line per answer;
    limits are requests per caller in any 60 seconds; `faults` are injected into answers; `clock` gives
    `now` where no header does.
    """
    app = FastAPI(title="Emulated transit information", version="1", description=_DESCRIPTION)
    app.include_router(routes_v1.routes(world))
    app.include_router(routes_v0.routes(world, segment))
    _add_about(app, world)
    _add_error_answers(app)
    _correct_openapi(app)
    rules = AccessRules(frozenset(tokens), segment, limit_without_token, limit_with_token)
    app.add_middleware(FaultInjection, world=world, faults=tuple(faults))
    app.add_middleware(AccessControl, rules=rules, clock=clock or _utc_now)
    if log is not None:
        app.add_middleware(RequestLog, path=log, clock=_utc_now)
    return app


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _add_about(app: FastAPI, world: World) -> None:
    network = world.network

    @app.get("/", response_model=models.Informazioni, tags=["about"])
    async def about(request: Request) -> Response:
        """Say what is emulated, and at which instant there is much to see."""
        return json_response({
            "name": "transit-etl emulator",
            "network": network.name,
            "seed": world.seed,
            "timezone": network.zone.key,
            "first_date": network.calendar.first_date.isoformat(),
            "last_date": network.calendar.last_date.isoformat(),
            "suggested_now": world.busy_instant(request.state.now).isoformat(),
            "n_lines": len(network.lines),
            "n_stops": len(network.stops),
        })  # fmt: skip


def _add_error_answers(app: FastAPI) -> None:
    @app.exception_handler(RefusedError)
    async def refused(_request: Request, error: RefusedError) -> Response:
        return error_response(error)

    @app.exception_handler(RequestValidationError)
    async def unreadable(_request: Request, error: RequestValidationError) -> Response:
        problem = error.errors()[0]
        return error_response(BadRequestError(f"{problem['loc'][-1]}: {problem['msg']}"))

    @app.exception_handler(HTTPException)
    async def other(_request: Request, error: HTTPException) -> Response:
        return json_response({"errore": error.detail}, error.status_code, dict(error.headers or {}))


def _correct_openapi(app: FastAPI) -> None:
    """Add the token's scheme to the document; remove the 422 answers, which are 400 here."""
    derive = app.openapi

    def corrected() -> dict[str, Any]:
        document = derive()
        document["components"]["securitySchemes"] = openapi.BEARER
        for name in ("HTTPValidationError", "ValidationError"):
            document["components"]["schemas"].pop(name, None)
        for path in document["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
        return document

    app.openapi = corrected  # type: ignore[method-assign]
