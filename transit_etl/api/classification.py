"""Classifies an answer by its status and its body, which must have the shape of its endpoint."""

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any, NamedTuple, NoReturn

from transit_etl.api.exchange import Outcome, Request
from transit_etl.endpoints import ENDPOINTS, Shape

ERROR_MARK = "*ERR*"
_BYTE_ORDER_MARK = "\ufeff"  # RFC 8259 lets a reader ignore it

_NO_CONTENT = (204, 205)
NOT_JSON, PAGE, CUT = "not JSON", "a page of HTML", "it breaks off"  # in reasons; `NOT_JSON` begins one
REDIRECTION = 300  # from here on the status alone decides
_RATE_LIMITED, _SERVER_ERROR = 429, 500
_TITLE = re.compile(r"<title[^>]*>([^<]{1,500})", re.IGNORECASE)
_LONGEST_TITLE, _LONGEST_LOCATION, _LONGEST_HEAD = 60, 300, 4096


class Verdict(NamedTuple):
    """An outcome and, unless it is `ok`, the reason in words."""

    outcome: Outcome
    reason: str | None = None


def classify(request: Request, status: int, body: bytes, location: str = "") -> Verdict:
    """Classify a complete answer; `location` is where a redirection leads.

    Single rows are not checked here; staging validates them.
    """
    if status == _RATE_LIMITED:
        return Verdict(Outcome.RATE_LIMITED, "HTTP 429")
    if status >= _SERVER_ERROR:
        return Verdict(Outcome.SERVER_ERROR, f"HTTP {status}")
    if status >= REDIRECTION:
        to = f", a redirection to {location[:_LONGEST_LOCATION]}" if location else ""
        return Verdict(Outcome.CLIENT_ERROR, f"HTTP {status}{to}")
    if status in _NO_CONTENT:
        return Verdict(Outcome.NO_CONTENT, f"HTTP {status}")
    if not body.strip():
        return Verdict(Outcome.EMPTY_BODY, "an empty body")
    return judge_body(request.endpoint, body)


def judge_body(endpoint: str, body: bytes) -> Verdict:
    """Classify a whole body that came with a status of success."""
    try:
        # RFC 8259 requires UTF-8; Python would also accept UTF-16 and NaN, which no later step reads.
        document = json.loads(without_mark(body.decode("utf-8")), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return Verdict(Outcome.NOT_JSON, f"{NOT_JSON}: {_page(body) or _in_words(error)}")
    row = ENDPOINTS[endpoint]
    return _CHECKS[row.shape](document, *row.shape_keys)


def without_mark(body: str) -> str:
    """Return a body without the byte order mark that it may begin with."""
    return body.removeprefix(_BYTE_ORDER_MARK)


def _page(body: bytes) -> str:
    """Say which page for people a body is; nothing of a body that is none."""
    text = without_mark(body[:_LONGEST_HEAD].decode("utf-8", "replace")).lstrip()
    if not text.lower().startswith(("<!doctype html", "<html")):
        return ""
    title = " ".join(unescape("".join(_TITLE.findall(text)[:1])).split())[:_LONGEST_TITLE]
    return f"{PAGE} titled {title!r}" if title else PAGE


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _in_words(error: ValueError | RecursionError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"{error.reason} at byte {error.start}, not UTF-8"
    if isinstance(error, json.JSONDecodeError) and (
        error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string")
    ):
        return f"{CUT} after {len(error.doc)} characters"
    return str(error)


def _any(_document: object) -> Verdict:
    return Verdict(Outcome.OK)


def _rows(document: object) -> Verdict:
    if not isinstance(document, list):
        return _wrong(f"an array expected, {_kind(document)} found")
    return _objects(document)


def _rows_under_key(document: object, key: str) -> Verdict:
    if not isinstance(document, dict) or not isinstance(document.get(key), list):
        return _wrong(f"an object with an array {key} expected, {_kind(document)} found")
    return _objects(document[key])


def _with_any_key(document: object, *keys: str) -> Verdict:
    if isinstance(document, dict) and any(key in document for key in keys):
        return Verdict(Outcome.OK)
    return _wrong(f"an object with {' or '.join(keys)} expected, {_kind(document)} found")


def _stops(document: object) -> Verdict:
    # The key of the return direction is not specified, so any array besides `andata` may be one. A line
    # that serves no listed stop may have no array at all, but names itself.
    if not isinstance(document, dict):
        return _wrong(f"an object expected, {_kind(document)} found")
    if "codice_linea" in document or any(isinstance(value, list) for value in document.values()):
        return Verdict(Outcome.OK)
    return _wrong(f"codice_linea or an array of stops expected, {_kind(document)} found")


def _passages(document: object, key: str) -> Verdict:
    verdict = _rows_under_key(document, key)
    if isinstance(document, dict) and verdict.outcome is Outcome.OK:
        lines = [row.get("linea") for row in document[key] if isinstance(row, dict)]
        if any(isinstance(line, str) and ERROR_MARK in line for line in lines):
            return Verdict(Outcome.ERROR_ROW, f"a row of line {ERROR_MARK}")
    return verdict


def _status(document: object, key: str) -> Verdict:
    # When nothing is disrupted, the upstream may leave the key out: `{}`. An object with other keys instead
    # is a message about something else; reading it as "nothing is disrupted" would end every open episode.
    if isinstance(document, dict) and document.get(key) is None and not set(document) - {key}:
        return Verdict(Outcome.OK)
    return _rows_under_key(document, key)


def _objects(rows: list[Any]) -> Verdict:
    if rows and not any(isinstance(row, dict) for row in rows):
        return _wrong(f"an array of objects expected, of {_kind(rows[0])} found")
    return Verdict(Outcome.OK)


def _wrong(reason: str) -> Verdict:
    return Verdict(Outcome.WRONG_SHAPE, reason)


def _kind(document: object) -> str:
    if isinstance(document, dict):
        keys = ", ".join(sorted(document)[:5])
        return f"an object with {keys[:80]}" if keys else "an empty object"
    if isinstance(document, list):
        return "an array"
    return "null" if document is None else f"a {type(document).__name__}"


_CHECKS: dict[Shape, Callable[..., Verdict]] = {
    Shape.ROWS: _rows,
    Shape.ROWS_UNDER_KEY: _rows_under_key,
    Shape.WITH_ANY_KEY: _with_any_key,
    Shape.STOPS: _stops,
    Shape.PASSAGES: _passages,
    Shape.STATUS: _status,
    Shape.ANY: _any,
}
