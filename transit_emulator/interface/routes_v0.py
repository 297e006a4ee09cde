"""Serves the deprecated version 0, under `/api/{operator_segment}`; every endpoint needs a token."""

from datetime import date, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from transit_emulator.interface import models_v0, openapi, render_v0
from transit_emulator.interface.refusals import BadRequestError, UnknownError
from transit_emulator.interface.responses import json_response
from transit_emulator.local_time import local
from transit_emulator.world import UnknownLineError, UnknownNewsError, UnknownStopError, World

_EXTRA = openapi.operation(openapi.NEEDED_TOKEN)
_MOST_NEWS = 100

StopCode = Annotated[str, Path(description="Stop code, exactly four digits", pattern=r"^[0-9]{4}$")]
Line = Annotated[str, Path(description="Line identifier: its code or its first three digits")]
TwoDigits = Annotated[str | None, Query(pattern=r"^[0-9]{2}$")]
FourDigits = Annotated[str | None, Query(pattern=r"^[0-9]{4}$")]
NewsId = Annotated[str, Path(description="News identifier")]
Limit = Annotated[int, Query(description="Maximum number of items; default and maximum are assumed", ge=1,
                             le=_MOST_NEWS)]  # fmt: skip


def routes(world: World, segment: str) -> APIRouter:
    """Return the routes of version 0 over a world; `segment` names the operator."""
    router = APIRouter(prefix=f"/api/{segment}", tags=["version 0"], deprecated=True)
    _add_moving_routes(router, world)
    _add_timetable_route(router, world)
    _add_news_routes(router, world)
    return router


def _add_moving_routes(router: APIRouter, world: World) -> None:
    @router.get("/transiti/{codiceFermata}", response_model=models_v0.Transiti, openapi_extra=_EXTRA,
                response_description=models_v0.ASSUMED, responses=openapi.errors(400, 401))  # fmt: skip
    async def transiti(codiceFermata: StopCode, request: Request) -> Response:  # noqa: N803 - its name
        """List the real-time arrivals at a stop."""
        now = request.state.now
        try:
            return json_response(render_v0.arrivals(world, codiceFermata, now))
        except UnknownStopError:
            return json_response(render_v0.unknown_stop(codiceFermata, now))

    @router.get("/stato-servizio", response_model=models_v0.StatoPerServizio, openapi_extra=_EXTRA,
                response_description=models_v0.ASSUMED, responses=openapi.errors(400, 401))  # fmt: skip
    async def stato_servizio(request: Request) -> Response:
        """List the disruptions by type of service."""
        return json_response(render_v0.status(world, request.state.now))


def _add_timetable_route(router: APIRouter, world: World) -> None:
    @router.get("/orari/{linea}", response_model=models_v0.OrarioLinea, openapi_extra=_EXTRA,
                response_description=models_v0.ASSUMED,
                responses=openapi.errors(400, 401, 404))  # fmt: skip
    async def orari(
        linea: Line, request: Request, gg: TwoDigits = None, mm: TwoDigits = None, aa: FourDigits = None
    ) -> Response:
        """List a line's legs and departures; each part of the date left out is the current one."""
        day = _day(local(request.state.now.timestamp(), world.network.zone), gg, mm, aa)
        try:
            return json_response(render_v0.timetable(world, linea, day, request.state.now))
        except UnknownLineError as error:
            raise UnknownError(str(error)) from None


def _day(now: datetime, day: str | None, month: str | None, year: str | None) -> date:
    try:
        return date(int(year or now.year), int(month or now.month), int(day or now.day))
    except ValueError:
        raise BadRequestError("data non valida") from None


def _add_news_routes(router: APIRouter, world: World) -> None:
    @router.get("/news", response_model=list[models_v0.NotiziaBreve], openapi_extra=_EXTRA,
                response_description=models_v0.ASSUMED, responses=openapi.errors(400, 401))  # fmt: skip
    async def news(request: Request, limit: Limit = 10) -> Response:
        """List the latest news and notices."""
        return json_response(render_v0.news(world, request.state.now, limit))

    @router.get("/news/{id}", response_model=models_v0.NotiziaCompleta, openapi_extra=_EXTRA,
                response_description=models_v0.ASSUMED,
                responses=openapi.errors(400, 401, 404))  # fmt: skip
    async def news_detail(id: NewsId, request: Request) -> Response:  # noqa: A002 - its name
        """Return a full item: HTML, images and links."""
        try:
            item = world.news_item(id, request.state.now)
            return json_response(render_v0.news_detail(world, item, request.state.now))
        except UnknownNewsError as error:
            raise UnknownError(str(error)) from None
