"""A request of either version, and its answer with an outcome."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from transit_etl.endpoints import ENDPOINTS


class Outcome(StrEnum):
    """The outcome of a planned request. Only `ok` tells anything about the service."""

    OK = "ok"  # 200, and a body of the expected shape
    NO_CONTENT = "no_content"  # 204
    EMPTY_BODY = "empty_body"  # 200 without a body: the answer to a blocked caller
    NOT_JSON = "not_json"  # an HTML page, a truncated body, a wrong charset
    WRONG_SHAPE = "wrong_shape"  # JSON, but not in the shape of this endpoint
    ERROR_ROW = "error_row"  # a passage answer with an *ERR* row: an unknown stop, or one that is not served
    TOO_LARGE = "too_large"  # the body passed the size limit and was cut off
    RATE_LIMITED = "rate_limited"  # 429
    CLIENT_ERROR = "client_error"  # any other 4xx; a 3xx too, redirects are not followed
    SERVER_ERROR = "server_error"  # 5xx
    TIMEOUT = "timeout"
    CONNECTION_ERROR = "connection_error"
    INTERRUPTED = "interrupted"  # the collector died while this was in flight
    NOT_SENT = "not_sent"  # planned, but never sent; `error` says why
    BAD_IDENTIFIER = "bad_identifier"  # never sent: an identifier that cannot be a part of an address

    @property
    def is_good(self) -> bool:
        """Whether the answer may be read as an observation."""
        return self is Outcome.OK


class Purpose(StrEnum):
    """What a request is made for, where that is not what its endpoint is asked for anyway."""

    AUDIT = "audit"  # a visit of the audit sample is watched


@dataclass(frozen=True, slots=True)
class Request:
    """One GET. `key` identifies what is requested within the endpoint; `path` is percent-encoded.

    `purpose` and `draws` are kept in the ledger, and not sent: `draws` are the visits of the audit sample
    that the answer is about, as JSON, whatever the purpose.
    """

    endpoint: str
    key: str
    path: str
    version: int = 1
    query: tuple[tuple[str, str], ...] = ()
    purpose: Purpose | None = None
    draws: str | None = None

    @classmethod
    def of(
        cls, endpoint: str, *segments: str, key: str | None = None, query: tuple[tuple[str, str], ...] = ()
    ) -> "Request":
        """Build a request whose path is the endpoint's with some segments, each checked and quoted.

        Without a `key` of its own the segments are the key.
        """
        row = ENDPOINTS[endpoint]
        path = "/".join([row.path, *segments])
        return cls(endpoint, "/".join(segments) if key is None else key, path, row.version, query)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request; `body` holds the exact bytes received, decompressed.

    Of the `attempts`, `n_sent` left this machine. `proxy` is the one by which it was asked, if there is one.
    """

    request: Request
    outcome: Outcome
    sent_at: datetime
    received_at: datetime
    elapsed_ms: float
    attempts: int = 1
    http_status: int | None = None
    body: bytes | None = field(default=None, repr=False)
    error: str | None = None
    retry_after_seconds: float | None = None
    n_sent: int = 1
    proxy: str | None = None


class RetryRefusedError(Exception):
    """Raised by `before_retry` when there must be no second attempt."""
