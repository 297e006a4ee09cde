"""What all routes share in the OpenAPI document: errors, security and the header `X-Emulated-Now`."""

from typing import Any

from transit_emulator.interface.access import NOW_HEADER
from transit_emulator.interface.models import Errore

_MEANINGS = {
    400: "A date, code or instant cannot be read",
    401: "The token is missing or not valid",
    404: "No such line or news item",
    429: "The allowance is used up; `Retry-After` says for how many seconds",
}
_NOW_PARAMETER = {
    "name": NOW_HEADER,
    "in": "header",
    "required": False,
    "description": "Answer as of this ISO 8601 instant; no part of the upstream's interface",
    "schema": {"type": "string", "format": "date-time"},
}
BEARER = {"bearer": {"type": "http", "scheme": "bearer"}}
OPTIONAL_TOKEN: list[dict[str, list[str]]] = [{}, {"bearer": []}]
NEEDED_TOKEN: list[dict[str, list[str]]] = [{"bearer": []}]


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documented error answers of a route."""
    return {status: {"model": Errore, "description": _MEANINGS[status]} for status in (*statuses, 429)}


def operation(security: list[dict[str, list[str]]]) -> dict[str, Any]:
    """Return the parts of an operation that FastAPI cannot derive from its signature."""
    return {"parameters": [_NOW_PARAMETER], "security": security}
