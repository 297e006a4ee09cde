"""Makes responses: compact UTF-8 JSON, and errors in one shape."""

import json
from typing import Any

from starlette.responses import Response

from transit_emulator.interface.refusals import RefusedError

_MEDIA_TYPE = "application/json; charset=utf-8"


def json_response(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:  # noqa: ANN401 - JSON
    """Return a response whose bytes are a function of its content."""
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(body, status_code=status, headers=headers, media_type=_MEDIA_TYPE)


def error_response(error: RefusedError) -> Response:
    """Return the response to a refused request, with `Retry-After` where the error has one."""
    headers = {}
    if error.retry_after_seconds is not None:
        headers["Retry-After"] = str(error.retry_after_seconds)
    if error.status == 401:  # noqa: PLR2004 - HTTP's own number
        headers["WWW-Authenticate"] = "Bearer"
    return json_response({"errore": str(error)}, error.status, headers)
