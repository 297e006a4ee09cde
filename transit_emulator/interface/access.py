"""Determines the instant and the caller of each request, and enforces tokens and request limits."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from transit_emulator.interface.limits import SlidingLimits
from transit_emulator.interface.refusals import (
    BadRequestError,
    RefusedError,
    TooManyRequestsError,
    UnauthorizedError,
)
from transit_emulator.interface.responses import error_response

NOW_HEADER = "X-Emulated-Now"
_FIRST, _LAST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class AccessRules:
    """The valid tokens, and the limits of callers with and without one: requests in any 60 seconds."""

    tokens: Collection[str]
    segment: str = "amt"
    limit_without_token: int = 60
    limit_with_token: int = 300


class AccessControl:
    """Answers 400, 401 and 429 before anything else; sets `state.now` and `state.caller`."""

    def __init__(self, app: ASGIApp, rules: AccessRules, clock: Callable[[], datetime]) -> None:
        self._app = app
        self._rules = rules
        self._clock = clock
        self._limits = SlidingLimits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer why it is refused."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._admit(HTTPConnection(scope))
        except RefusedError as error:
            await error_response(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _admit(self, request: HTTPConnection) -> None:
        given = request.headers.get(NOW_HEADER)
        now = self._clock() if given is None else _instant(given)
        request.state.now = now.replace(microsecond=now.microsecond // 1000 * 1000)
        path = request.scope["path"]
        if not path.startswith("/api/"):
            return
        token = self._token(request, is_needed=path.startswith(f"/api/{self._rules.segment}/"))
        request.state.caller = "address" if token is None else "token"
        address = request.client.host if request.client else "unknown"
        self._count(token, address, request.state.now.timestamp(), is_virtual=given is not None)

    def _token(self, request: HTTPConnection, *, is_needed: bool) -> str | None:
        """Return the caller's token; raise UnauthorizedError if it is not valid, or missing and needed."""
        given = request.headers.get("Authorization")
        if given is None:
            if is_needed:
                raise UnauthorizedError("manca il token: Authorization: Bearer <ACCESS_TOKEN>")
            return None
        kind, _, token = given.partition(" ")
        if kind.lower() != "bearer" or token.strip() not in self._rules.tokens:
            raise UnauthorizedError("token non valido")
        return token.strip()

    def _count(self, token: str | None, address: str, now: float, *, is_virtual: bool) -> None:
        caller = f"address {address}" if token is None else f"token {token}"
        allowed = self._rules.limit_without_token if token is None else self._rules.limit_with_token
        wait = self._limits.wait_seconds(caller, now, allowed, is_virtual=is_virtual)
        if wait:
            raise TooManyRequestsError("troppe richieste", retry_after_seconds=wait)


def _instant(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise BadRequestError(f"{NOW_HEADER}: not an ISO 8601 instant") from None
    if instant.tzinfo is None:
        raise BadRequestError(f"{NOW_HEADER}: needs an offset or Z")
    if not _FIRST <= instant <= _LAST:
        raise BadRequestError(f"{NOW_HEADER}: must lie between {_FIRST.year} and {_LAST.year}")
    return instant.astimezone(UTC)
