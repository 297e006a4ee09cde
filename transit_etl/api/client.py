"""Sends one GET at a time and turns its response, or its failure, into an answer."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Self

import httpx2

from transit_base.errors import TransitError
from transit_etl.api.classification import REDIRECTION, Verdict, classify
from transit_etl.api.connections import open_pool
from transit_etl.api.exchange import Answer, Outcome, Request, RetryRefusedError
from transit_etl.api.redaction import MARK, Redactor, WireLogGuard
from transit_etl.api.retry_after import retry_after_seconds
from transit_etl.clock import Clock
from transit_etl.settings import CollectSettings

NOW_HEADER = "X-Emulated-Now"
RETRY_PAUSE_SECONDS = 0.2
_MILLISECOND = timedelta(milliseconds=1)
# httpx2 decompresses these in pieces of 1 MiB, after each of which the size limit is checked.
ENCODINGS = frozenset({"", "identity", "gzip", "deflate"})

_MOST_BYTES_JUDGED_AT_ONCE = 1 << 18  # a longer body would keep other requests waiting for seconds

_log = logging.getLogger(__name__)

BeforeRetry = Callable[[], Awaitable[object]]


class MissingTokenError(TransitError):
    """Version 0 is to be asked, and no token is set that its host may be sent."""

    def __init__(self) -> None:
        super().__init__(
            "version 0 requires a token: set TRANSIT_LEGACY_TOKEN, or TRANSIT_TOKEN if both have one host"
        )


@dataclass(slots=True)
class _Reply:
    """What has arrived so far; filled while it arrives, so that a failure keeps what came before it."""

    status: int | None = None
    body: bytes = b""
    outcome: Outcome | None = None
    error: str | None = None
    retry_after_seconds: float | None = None
    location: str = ""
    is_sent: bool = True


class Client(AbstractAsyncContextManager["Client"]):
    """An open connection pool to one upstream, for both versions. Use it with `async with`.

    `transport` replaces the network in tests. When the clock is simulated, every request tells the emulator
    the time. A virtual clock stands still while an answer is awaited; do not call `send` inside `busy()`: it
    sleeps before a retry. The token is put into headers alone.
    """

    def __init__(
        self,
        settings: CollectSettings,
        clock: Clock,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._redactor = Redactor(_tokens(settings))
        self._http = open_pool(settings, transport)
        self._open = AsyncExitStack()
        self._warned_of: set[str] = set()
        self._peers: dict[bytes, str] = {}

    async def __aenter__(self) -> Self:
        self._open.enter_context(WireLogGuard(self._redactor))
        await self._open.enter_async_context(self._http)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    async def send(self, request: Request, before_retry: BeforeRetry | None = None) -> Answer:
        """Make one GET and return its answer, also of a failure; only a missing version 0 token raises.

        A connection that breaks before any response is tried once more at once, after `before_retry` was
        awaited: each attempt counts against the allowance. Without `before_retry`, or when it raises
        RetryRefusedError, there is no second attempt. Times and `elapsed_ms` are of the last attempt.
        """
        answer = await self._attempt(request, attempts=1)
        if answer.outcome is not Outcome.CONNECTION_ERROR or answer.http_status or before_retry is None:
            return answer
        await self._clock.sleep(RETRY_PAUSE_SECONDS)
        try:
            await before_retry()
        except RetryRefusedError:
            return answer
        second = await self._attempt(request, attempts=2)
        return replace(second, n_sent=answer.n_sent + second.n_sent)

    async def _attempt(self, request: Request, attempts: int) -> Answer:
        outgoing = self._build(request)
        sent_at, started = self._clock.now(), self._clock.stopwatch()
        with self._clock.busy():
            reply = await self._exchange(outgoing, sent_at)
        elapsed = timedelta(seconds=self._clock.stopwatch() - started)
        answer = Answer(
            request=request,
            outcome=Outcome.OK,
            sent_at=sent_at,
            received_at=sent_at + elapsed,  # also when the clock is set in the meantime
            elapsed_ms=elapsed / _MILLISECOND,
            attempts=attempts,
            http_status=reply.status,
            retry_after_seconds=reply.retry_after_seconds,
            n_sent=int(reply.is_sent),
            proxy=self._proxy_of(outgoing.url),
        )
        if len(reply.body) <= _MOST_BYTES_JUDGED_AT_ONCE:
            return self._judged(answer, reply)
        with self._clock.busy():
            return await asyncio.to_thread(self._judged, answer, reply)

    async def _exchange(self, outgoing: httpx2.Request, sent_at: datetime) -> _Reply:
        reply = _Reply()
        outgoing.extensions["trace"] = partial(self._note_peer, outgoing.url)
        try:
            async with asyncio.timeout(self._settings.total_timeout_seconds):
                await self._receive(outgoing, sent_at, reply)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            is_late = isinstance(error, httpx2.ConnectTimeout)
            reply.outcome = Outcome.TIMEOUT if is_late else Outcome.CONNECTION_ERROR
            proxy = self._proxy_of(outgoing.url)
            to = f"the proxy {proxy}" if proxy else outgoing.url.netloc.decode()
            reply.error = f"cannot connect to {to}: {str(error) or 'nothing answers in time'}"
            reply.is_sent = False
        except (httpx2.TimeoutException, TimeoutError) as error:
            reply.outcome, reply.error = Outcome.TIMEOUT, _in_words(error, "no complete answer in time")
        except httpx2.DecodingError as error:
            reply.outcome, reply.error = Outcome.NOT_JSON, _in_words(error, "broken compression")
        except (httpx2.HTTPError, OSError) as error:
            reply.outcome, reply.error = Outcome.CONNECTION_ERROR, _in_words(error, "connection lost")
        return reply

    async def _note_peer(self, url: httpx2.URL, event: str, details: Mapping[str, Any]) -> None:
        """Remember to which address a connection for this URL is made: its own, or that of a proxy."""
        if event == "connection.connect_tcp.started":
            self._peers[url.raw_host] = f"{details['host']}:{details['port']}"

    def _proxy_of(self, url: httpx2.URL) -> str | None:
        peer = self._peers.get(url.raw_host)
        port = url.port or {"https": 443}.get(url.scheme, 80)
        return None if peer in {None, f"{url.raw_host.decode()}:{port}"} else peer

    async def _receive(self, outgoing: httpx2.Request, sent_at: datetime, reply: _Reply) -> None:
        response = await self._http.send(outgoing, stream=True)
        try:
            reply.status = response.status_code
            reply.location = response.headers.get("Location", "")
            reply.retry_after_seconds = retry_after_seconds(response.headers, sent_at)
            await self._read(response, reply)
        finally:
            await response.aclose()

    async def _read(self, response: httpx2.Response, reply: _Reply) -> None:
        encoding = self._redactor.text(response.headers.get("Content-Encoding", "")).strip().lower()
        if encoding not in ENCODINGS:
            reply.outcome, reply.error = Outcome.NOT_JSON, f"encoded as {encoding[:40]}, not asked for"
            return
        received, limit = bytearray(), self._settings.max_body_bytes
        try:
            async for chunk in response.aiter_bytes():
                received += chunk
                if len(received) > limit:
                    reply.outcome, reply.error = Outcome.TOO_LARGE, f"cut off after {limit} bytes"
                    return
        finally:
            reply.body = bytes(received[:limit])

    def _judged(self, answer: Answer, reply: _Reply) -> Answer:
        # Redact before classifying: a reason may quote a part of the body, even half of a token.
        body = self._redactor.body(reply.body, is_cut=reply.outcome is not None)
        verdict = Verdict(reply.outcome, reply.error) if reply.outcome else None
        if answer.http_status is not None and (verdict is None or answer.http_status >= REDIRECTION):
            # An error status is more specific than an incomplete body.
            verdict = classify(answer.request, answer.http_status, body, self._redactor.text(reply.location))
        outcome, reason = verdict or Verdict(Outcome.CONNECTION_ERROR, "no answer")
        if body is not reply.body:
            reason = "; ".join(filter(None, [reason, f"the body repeated the token: {MARK}"]))
        return replace(
            answer,
            outcome=outcome,
            body=None if answer.http_status is None else body,
            error=None if reason is None else self._redactor.text(reason),
        )

    def _build(self, request: Request) -> httpx2.Request:
        root = self._settings.base_url if request.version else self._settings.legacy_root
        headers = self._legacy_credential() if request.version == 0 else self._credential()
        self._warn_of_readers(root, has_token=bool(headers))
        if self._clock.is_simulated:
            headers[NOW_HEADER] = self._clock.now().isoformat()
        return self._http.build_request(
            "GET", root + request.path, params=request.query or None, headers=headers
        )

    def _warn_of_readers(self, root: str, *, has_token: bool) -> None:
        """Warn once of an address to which a token is sent without encryption, unless it is this machine."""
        if has_token and root.startswith("http:") and not _is_here(root) and root not in self._warned_of:
            self._warned_of.add(root)
            _log.warning("%s is not https: everybody on the way can read the token", root)

    def _credential(self) -> dict[str, str]:
        token, header = self._settings.token, self._settings.token_header
        if token is None:
            return {}
        scheme = "Bearer " if header.lower() == "authorization" else ""
        return {header: scheme + token.get_secret_value()}

    def _legacy_credential(self) -> dict[str, str]:
        token = self._settings.token_of_version_0
        if token is None:
            raise MissingTokenError
        return {"Authorization": f"Bearer {token.get_secret_value()}"}


def _tokens(settings: CollectSettings) -> list[str]:
    return [token.get_secret_value() for token in (settings.token, settings.legacy_token) if token]


def _is_here(url: str) -> bool:
    host = httpx2.URL(url).host
    return host in {"localhost", "::1"} or re.fullmatch(r"127(\.\d+){3}", host) is not None


def _in_words(error: Exception, otherwise: str) -> str:
    return f"{type(error).__name__}: {str(error) or otherwise}"
