"""Describes the answers of version 0. Its field names are not published: every one here is assumed."""

from typing import Annotated

from pydantic import Field

from transit_emulator.interface.models import LOCAL_DATE, UTC_INSTANT, Answer

ASSUMED = "Field names of this answer are assumed: the specification of version 0 does not show them."
_LINE_NUMBER = Annotated[str, Field(description="Assumed name: line number as shown at the stop")]


class Transito(Answer):
    """A real-time arrival. Field names are assumed."""

    linea: _LINE_NUMBER
    destinazione: str = Field(description="Assumed name: destination")
    orario: str = Field(description="Assumed name: local time `HH:MM:SS`", pattern=r"^(\d{2}:\d{2}:\d{2})?$")
    attesa: str = Field(description="Assumed name: wait in minutes and an apostrophe")
    teorico: bool = Field(description="Assumed name: timetable time")


class Transiti(Answer):
    """Real-time arrivals at a stop. Field names are assumed."""

    codiceFermata: str = Field(description="Assumed name: stop code")  # noqa: N815 - the interface's spelling
    timestamp: str = Field(description="Assumed name: UTC instant of the answer", pattern=UTC_INSTANT)
    transiti: list[Transito] = Field(description="Assumed name: arrivals, soonest first")


class TrattaLinea(Answer):
    """A leg of a line's timetable. Field names are assumed."""

    direzione: str = Field(description="Assumed name: `andata` or `ritorno`")
    descrizione: str = Field(description="Assumed name: description of the leg")
    destinazione: str = Field(description="Assumed name: destination")
    barrato: bool = Field(description="Assumed name: short or variant run")
    partenze: list[str] = Field(description="Assumed name: departures, `HH:MM`")


class OrarioLinea(Answer):
    """The complete timetable of a line. Field names are assumed."""

    linea: str = Field(description="Assumed name: line as asked for")
    data: str = Field(description="Assumed name: date", pattern=LOCAL_DATE)
    tratte: list[TrattaLinea] = Field(description="Assumed name: legs")


class NotiziaBreve(Answer):
    """A news item of the list. Field names are assumed."""

    id: str = Field(description="Assumed name: identifier")
    titolo: str = Field(description="Assumed name: title")
    data: str = Field(description="Assumed name: publication date", pattern=LOCAL_DATE)


class Collegamento(Answer):
    """A link of a news item. Field names are assumed."""

    testo: str = Field(description="Assumed name: link text")
    url: str = Field(description="Assumed name: address")


class NotiziaCompleta(Answer):
    """A full news item. Field names are assumed."""

    id: str = Field(description="Assumed name: identifier")
    titolo: str = Field(description="Assumed name: title")
    data: str = Field(description="Assumed name: publication date", pattern=LOCAL_DATE)
    contenuto: str = Field(description="Assumed name: HTML")
    immagini: list[str] = Field(description="Assumed name: addresses of images")
    collegamenti: list[Collegamento] = Field(description="Assumed name: links")


class VoceStato(Answer):
    """A disruption. Field names are assumed."""

    nome: str = Field(description="Assumed name: lines or facility; empty where none is named")
    causa: str = Field(description="Assumed name: cause; may be empty")
    messaggio: str = Field(description="Assumed name: message")
    data: str = Field(description="Assumed name: start, `D/M/YYYY HH:MM` local")


class StatoPerServizio(Answer):
    """The service status by type of service. Field names are assumed."""

    ascensori: list[VoceStato] = Field(description="Assumed name: lifts")
    funicolari: list[VoceStato] = Field(description="Assumed name: funiculars")
    ferrovia_genova_casella: list[VoceStato] = Field(description="Assumed name: Genoa-Casella railway")
    metropolitana: list[VoceStato] = Field(description="Assumed name: metro")
    autobus: list[VoceStato] = Field(description="Assumed name: bus lines")
