"""Describes the answers of version 1, field by field, for the OpenAPI document."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

LINE_CODE = r"^[A-Z0-9]+-[0-9]{2}$"
STOP_CODE = r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,31}$"
LOCAL_DATE = r"^\d{4}-\d{2}-\d{2}$"
UTC_INSTANT = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$"

LineCode = Annotated[str, Field(description="Line code, usually `NNN-NN`", pattern=LINE_CODE)]
StopCode = Annotated[str, Field(description="Stop code, usually four digits", pattern=STOP_CODE)]


class Answer(BaseModel):
    """An object with exactly the fields it names."""

    model_config = ConfigDict(extra="forbid")


class Linea(Answer):
    """A line of the lines list."""

    codice: LineCode
    numero: str = Field(description="Public line number; not a key")
    capolinea_andata: str = Field(description="Terminus of the outbound direction")
    capolinea_ritorno: str = Field(description="Terminus of the return direction")
    attiva: bool = Field(description="Whether the line is active")
    note: str = Field(description="Free text; may be empty")


class Fermata(Answer):
    """A stop in a line's sequence."""

    codice_linea: LineCode
    direzione: str = Field(description="`1` outbound, `2` return", pattern=r"^\d+$")
    codice_fermata: StopCode
    ordine: int = Field(description="Position; starts at 1, ascends, may have gaps", ge=1)


class FermateLinea(Answer):
    """The stops of a line; a line of one direction has no `ritorno`."""

    codice_linea: LineCode
    andata: list[Fermata] = Field(description="Stops of the outbound direction")
    ritorno: list[Fermata] = Field(default=[], description="Stops of the return direction; assumed key")


class Notizia(Answer):
    """A news summary."""

    id: str = Field(description="News identifier")
    titolo: str
    data: str = Field(
        description="UTC timestamp", pattern=UTC_INSTANT, json_schema_extra={"format": "date-time"}
    )
    data_formattata: str = Field(description="Local time", pattern=r"^\d{2}/\d{2}/\d{4} \d{2}:\d{2}$")


class DettaglioNotizia(Answer):
    """The full text of a news item."""

    titolo: str
    contenuto: str = Field(description="Full text")
    data: str = Field(pattern=LOCAL_DATE, json_schema_extra={"format": "date"})


class Tratta(Answer):
    """One direction of a service."""

    descrizione: str = Field(description="Description of the leg; empty in junk entries")
    partenze: list[Annotated[str, Field(pattern=r"^\d{2}:\d{2}$")]] = Field(
        description="Departures from the origin, `HH:MM`; hours may pass 24"
    )


class Tratte(Answer):
    """The legs of a service, by direction."""

    andata: Tratta
    ritorno: Tratta | None = Field(
        default=None, description="Return leg, absent where there is none; assumed key"
    )


class Servizio(Answer):
    """A service of a line's timetable."""

    codice: str = Field(description="Service code")
    barrato: bool = Field(description="Whether this is a short or variant run")
    targa: str = Field(description="Destination plate")
    descrizione: str
    tratte: Tratte


class Orario(Answer):
    """The timetable of a line for a day."""

    linea: str = Field(description="Line code as requested")
    data: str = Field(pattern=LOCAL_DATE, json_schema_extra={"format": "date"})
    servizi: list[Servizio]


class Passaggio(Answer):
    """A passage listed at a stop; all texts are empty in an `*ERR*` row."""

    linea: str = Field(
        description="Line label; may be zero-padded or end in a slash; `*ERR*` at an unknown stop"
    )
    destinazione: str
    orario: str = Field(description="Local time without a date", pattern=r"^(\d{2}:\d{2}:\d{2})?$")
    attesa: str = Field(description="Wait in minutes and an apostrophe")
    teorico: bool = Field(description="Timetable time, without a vehicle behind it")
    id_corsa: str = Field(description="Trip identifier; may be a vehicle's, shared, or empty")
    pieno: bool = Field(description="Whether the bus is full")


class Passaggi(Answer):
    """The next passages at a stop."""

    codice_fermata: str
    timestamp: str = Field(pattern=UTC_INSTANT, json_schema_extra={"format": "date-time"})
    passaggi: list[Passaggio]


class Evento(Answer):
    """An entry of the service status."""

    evento: str = Field(description="Event code, such as `DEV`, `GEV`, `FERS`")
    categoria: str = Field(description="Category code, such as `SG`, `ASC`, `MM`")
    linee: list[str] | str = Field(default=[], description="Line numbers, or a name; may be absent")
    causa: str = Field(default="", description="Cause; may be absent")
    messaggio: str
    data: str = Field(description="Start, local", pattern=r"^\d{1,2}/\d{1,2}/\d{4} \d{2}:\d{2}$")


class StatoServizio(Answer):
    """The service status."""

    stato: list[Evento]


class Errore(Answer):
    """What every error answers; the shape is assumed."""

    errore: str = Field(description="What went wrong, for a person to read")


class Informazioni(Answer):
    """What the emulator says about itself."""

    name: str
    network: str
    seed: int
    timezone: str
    first_date: str = Field(description="First service date with any service")
    last_date: str = Field(description="Last service date with any service")
    suggested_now: str = Field(description="An instant at a busy time of a covered service day")
    n_lines: int
    n_stops: int
