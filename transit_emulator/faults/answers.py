"""Makes the answers that replace a real one, and damages the bytes of a real one."""

from collections.abc import Callable

from starlette.responses import Response

from transit_emulator.faults.definitions import FAULT_HEADER, Fault, FaultKind
from transit_emulator.interface.responses import json_response

_PAGE = "<!DOCTYPE html><html><head><title>Manutenzione</title></head><body>Servizio sospeso</body></html>"
_NOT_UTF8 = "à".encode("latin-1")


def replacement(fault: Fault) -> Response | None:
    """Return the answer that replaces the real one; None for a fault that changes the real one."""
    make = _REPLACEMENTS.get(fault.kind)
    return None if make is None else make(fault)


def _refusal(fault: Fault, text: str, status: int) -> Response:
    wait = fault.retry_after_seconds
    headers = {FAULT_HEADER: fault.kind.value}  # distinguishes it from a refusal over the limit
    if wait is not None:
        headers["Retry-After"] = str(wait)
    return json_response({"errore": text}, status, headers)


_REPLACEMENTS: dict[FaultKind, Callable[[Fault], Response]] = {
    FaultKind.RATE_LIMITED: lambda fault: _refusal(fault, "troppe richieste", 429),
    FaultKind.SERVER_ERROR: lambda fault: _refusal(fault, "errore interno", fault.status),
    FaultKind.NO_CONTENT: lambda _fault: Response(status_code=204),
    FaultKind.EMPTY_BODY: lambda _fault: Response(b"", media_type="application/json"),
    FaultKind.HTML: lambda _fault: Response(_PAGE, media_type="text/html"),
    FaultKind.NOT_JSON: lambda _fault: Response("servizio sospeso", media_type="application/json"),
}


def damaged(fault: Fault, body: bytes) -> bytes:
    """Return the body changed by a fault of its bytes; unchanged by any other fault."""
    if fault.kind is FaultKind.TRUNCATED:
        return body[: len(body) // 2]
    if fault.kind is FaultKind.WRONG_CHARSET:
        return _in_latin_1(body)
    if fault.kind is FaultKind.HUGE:
        return body.rjust(fault.n_bytes)
    return body


def _in_latin_1(body: bytes) -> bytes:
    """Return text in Latin-1; pure ASCII gets one other letter, so that it is not valid UTF-8."""
    try:
        text = body.decode().encode("latin-1", "replace")
    except UnicodeDecodeError:  # another fault has damaged it already
        return body
    if text != body:
        return text
    place = body.find(b'"') + 1
    return body[:place] + _NOT_UTF8 + body[place:]
