"""Formats the ledger of requests: an intent when one is planned, a row when its outcome is known."""

import base64
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pydantic import TypeAdapter

from transit_etl.api.exchange import Answer, Outcome, Request
from transit_etl.clock import in_utc
from transit_etl.surrogates import escape_surrogates


@dataclass(frozen=True, slots=True)
class Planned:
    """A planned request. `request_id` is the window it was planned in and a number."""

    request_id: str
    endpoint: str
    key: str
    api_version: int
    planned_at: datetime
    purpose: str | None = None
    draws: str | None = None

    @property
    def window(self) -> str:
        """The window the request was planned in; its row may land in a later one."""
        return self.request_id.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class _Row:
    """What a row must have to be kept."""

    request_id: str


_INTENT, _ROW = TypeAdapter(Planned), TypeAdapter(_Row)


def planned(request: Request, window: str, number: int, planned_at: datetime) -> Planned:
    """Return a request with its identity: the `number`-th one planned in `window`."""
    return Planned(
        f"{window}/{number}",
        request.endpoint,
        request.key,
        request.version,
        planned_at,
        request.purpose,
        request.draws,
    )


def intent_line(intent: Planned) -> bytes:
    """Format what is known before sending as one line."""
    fields = {
        "request_id": intent.request_id,
        "endpoint": intent.endpoint,
        "key": intent.key,
        "api_version": intent.api_version,
        "planned_at": instant_text(intent.planned_at),
        "purpose": intent.purpose,
        "draws": intent.draws,
    }
    return _line(fields)


def read_intent(line: bytes) -> Planned:
    """Parse a line of intents; ValueError if it is not one."""
    intent = _INTENT.validate_json(line, strict=True)
    return replace(intent, planned_at=in_utc(intent.planned_at))


def read_request_id(line: bytes) -> str:
    """Return whose row a line is; ValueError if it is no row."""
    return _ROW.validate_json(line, strict=True).request_id


def answered_row(operator: str, window: str, intent: Planned, answer: Answer) -> bytes:
    """Format the row of a request that was sent, answered or not; `window` is where it lands."""
    return _row(
        operator,
        window,
        intent,
        answer.outcome,
        sent_at=instant_text(answer.sent_at),
        received_at=instant_text(answer.received_at),
        http_status=answer.http_status,
        elapsed_ms=round(answer.elapsed_ms, 3),
        attempts=answer.attempts,
        error=answer.error,
        **_body_fields(answer.body),
    )


def unsent_row(
    operator: str, window: str, intent: Planned, reason: str, outcome: Outcome = Outcome.NOT_SENT
) -> bytes:
    """Format the row of a request that was not sent, and why."""
    return _row(operator, window, intent, outcome, attempts=0, error=reason)


def interrupted_row(operator: str, window: str, intent: Planned) -> bytes:
    """Format the row of a request whose collector ended before its answer was landed."""
    reason = "the collector ended before the answer was landed"
    return _row(operator, window, intent, Outcome.INTERRUPTED, error=reason)


def instant_text(instant: datetime) -> str:
    """Format an aware instant as UTC with microseconds and `Z`."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _row(operator: str, window: str, intent: Planned, outcome: Outcome, **result: object) -> bytes:
    fields: dict[str, object] = {
        "request_id": intent.request_id,
        "window": window,
        "operator": operator,
        "endpoint": intent.endpoint,
        "key": intent.key,
        "api_version": intent.api_version,
        "planned_at": instant_text(intent.planned_at),
        "sent_at": None,
        "received_at": None,
        "outcome": outcome.value,
        "http_status": None,
        "elapsed_ms": None,
        "attempts": None,
        "error": None,
        "purpose": intent.purpose,
        "draws": intent.draws,
        "n_bytes": None,
        "body": None,
        "body_base64": None,
    }
    return _line(fields | result)


def _body_fields(body: bytes | None) -> dict[str, object]:
    if body is None:
        return {}
    try:
        return {"n_bytes": len(body), "body": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"n_bytes": len(body), "body_base64": base64.b64encode(body).decode("ascii")}


def _line(fields: dict[str, object]) -> bytes:
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return escape_surrogates(text).encode() + b"\n"  # a key or a reason may quote upstream text
