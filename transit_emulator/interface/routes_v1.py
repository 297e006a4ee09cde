"""Serves version 1 of the interface, under `/api/v1`."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from transit_emulator.interface import models, openapi, render_v1
from transit_emulator.interface.refusals import BadRequestError, UnknownError
from transit_emulator.interface.responses import json_response
from transit_emulator.world import UnknownLineError, UnknownNewsError, UnknownStopError, World

_EXTRA = openapi.operation(openapi.OPTIONAL_TOKEN)

LineCode = Annotated[str, Path(description="Line code, usually `NNN-NN`", examples=["001-00"])]
BareLineCode = Annotated[str, Path(description="Line code, or its first three digits", examples=["001"])]
Day = Annotated[str, Path(description="Date, `YYYY-MM-DD`", json_schema_extra={"format": "date"})]
StopCode = Annotated[str, Path(description="Stop code", examples=["0100"])]
NewsId = Annotated[str, Path(description="News identifier")]
Category = Annotated[str, Path(description="Category code", examples=["ASC"])]


def read_day(text: str) -> date:
    """Return the date of `YYYY-MM-DD`, or raise BadRequestError."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise BadRequestError(f"data non valida: {text}") from None
    if day.isoformat() != text:
        raise BadRequestError(f"data non valida: {text}")
    return day


def routes(world: World) -> APIRouter:
    """Return the routes of version 1 over a world."""
    router = APIRouter(prefix="/api/v1", tags=["version 1"])
    _add_network_routes(router, world)
    _add_moving_routes(router, world)
    _add_news_routes(router, world)
    return router


def _add_network_routes(router: APIRouter, world: World) -> None:
    @router.get("/linee", response_model=list[models.Linea], responses=openapi.errors(400, 401),
                openapi_extra=_EXTRA)  # fmt: skip
    async def linee(request: Request) -> Response:
        """List the lines."""
        return json_response(render_v1.lines(world, request.state.now))

    @router.get("/fermate/{codicelinea}", response_model=models.FermateLinea,
                responses=openapi.errors(400, 401, 404), openapi_extra=_EXTRA)  # fmt: skip
    async def fermate(codicelinea: LineCode, request: Request) -> Response:
        """List the stops of a line by direction."""
        try:
            return json_response(render_v1.line_stops(world, codicelinea, request.state.now))
        except UnknownLineError as error:
            raise UnknownError(str(error)) from None

    @router.get("/orari/{codice_linea}/{data}", response_model=models.Orario,
                responses=openapi.errors(400, 401, 404), openapi_extra=_EXTRA)  # fmt: skip
    async def orari(codice_linea: BareLineCode, data: Day, request: Request) -> Response:
        """List a line's departures from the origin on a date."""
        try:
            answer = render_v1.timetable(world, codice_linea, read_day(data), request.state.now)
            return json_response(answer)
        except UnknownLineError as error:
            raise UnknownError(str(error)) from None


def _add_moving_routes(router: APIRouter, world: World) -> None:
    @router.get("/passaggi/{codice_fermata}", response_model=models.Passaggi,
                responses=openapi.errors(400, 401), openapi_extra=_EXTRA)  # fmt: skip
    async def passaggi(codice_fermata: StopCode, request: Request) -> Response:
        """List the next passages at a stop; an unknown one gets a row whose line is `*ERR*`."""
        now = request.state.now
        try:
            return json_response(render_v1.passages(world, codice_fermata, now))
        except UnknownStopError:
            return json_response(render_v1.unknown_stop(codice_fermata, now))

    @router.get("/stato_servizio", response_model=models.StatoServizio,
                responses=openapi.errors(400, 401), openapi_extra=_EXTRA)  # fmt: skip
    async def stato_servizio(request: Request) -> Response:
        """List the disruptions of all categories."""
        return json_response(render_v1.status(world, request.state.now))

    @router.get("/stato_servizio/categoria/{categoria}", response_model=models.StatoServizio,
                responses=openapi.errors(400, 401), openapi_extra=_EXTRA)  # fmt: skip
    async def stato_servizio_categoria(categoria: Category, request: Request) -> Response:
        """List the disruptions of one category; none of an unknown one."""
        return json_response(render_v1.status(world, request.state.now, categoria))


def _add_news_routes(router: APIRouter, world: World) -> None:
    @router.get("/news", response_model=list[models.Notizia], responses=openapi.errors(400, 401),
                openapi_extra=_EXTRA)  # fmt: skip
    async def news(request: Request) -> Response:
        """List the news, newest first."""
        return json_response(render_v1.news(world, request.state.now))

    @router.get("/news/{id}", response_model=models.DettaglioNotizia,
                responses=openapi.errors(400, 401, 404), openapi_extra=_EXTRA)  # fmt: skip
    async def news_detail(id: NewsId, request: Request) -> Response:  # noqa: A002 - the interface's name
        """Return the full text of a news item."""
        try:
            item = world.news_item(id, request.state.now)
            return json_response(render_v1.news_detail(world, item, request.state.now))
        except UnknownNewsError as error:
            raise UnknownError(str(error)) from None
