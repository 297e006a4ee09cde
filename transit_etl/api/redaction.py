"""Removes tokens from everything that is written: texts, bodies and log records."""

import json
import logging
import re
from base64 import b64encode
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Self
from urllib.parse import quote

MARK = "[redacted]"
SHORTEST_TOKEN = 4  # anything shorter is no secret, and would be found in every body
_SHORTEST_BASE64 = 6  # anything shorter would be found in images
_URL_SAFE = str.maketrans("+/", "-_")
_WIRE_LOGGERS = (
    "httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy", "httpcore.socks",
)  # fmt: skip


class Redactor:
    """Replaces tokens, also percent-quoted, escaped as in JSON, or within base64, by a mark."""

    def __init__(self, tokens: Iterable[str]) -> None:
        forms = {form for token in tokens if len(token) >= SHORTEST_TOKEN for form in _forms(token)}
        self._forms = sorted(forms, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return a text without the tokens."""
        for form in self._forms:
            text = text.replace(form, MARK)
        return text

    def body(self, body: bytes) -> bytes:
        """Return a body without the tokens; the same object if it held none."""
        for form in self._forms:
            if form.encode() in body:
                body = body.replace(form.encode(), MARK.encode())
        return body


class WireLogGuard(logging.Filter, AbstractContextManager["WireLogGuard"]):
    """Redacts the logs of the HTTP libraries while entered: at DEBUG they print every response header."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def __enter__(self) -> Self:
        for name in _WIRE_LOGGERS:
            logging.getLogger(name).addFilter(self)
        return self

    def __exit__(self, *_: object) -> None:
        for name in _WIRE_LOGGERS:
            logging.getLogger(name).removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Let the record pass, without the tokens."""
        message = record.getMessage()
        redacted = self._redactor.text(message)
        if redacted != message:
            record.msg, record.args = redacted, None
        return True


def _forms(token: str) -> set[str]:
    quoted, escaped = quote(token, safe=""), json.dumps(token)[1:-1]
    lower_quoted = re.sub("%..", lambda hexadecimal: hexadecimal[0].lower(), quoted)
    unicode_escaped = {
        "".join(char if char.isalnum() else style.format(ord(char)) for char in token)
        for style in (r"\u{:04x}", r"\u{:04X}")
    }
    plain = {
        token,
        quoted,
        quote(token),
        lower_quoted,
        escaped,
        escaped.replace("/", r"\/"),
        *unicode_escaped,
    }
    return plain | _base64_forms(token)


def _base64_forms(token: str) -> set[str]:
    """Return what of base64 is the token's alone, wherever it stands in the text that was encoded."""
    forms = set()
    for n_before in range(3):
        encoded = b64encode(bytes(n_before) + token.encode()).decode().rstrip("=")
        first = -(-n_before * 8 // 6)  # characters before hold bits of what stands before
        last = (n_before + len(token)) * 8 // 6  # and the one after it bits of what follows
        forms.add(encoded[first:last])
    long_enough = {form for form in forms if len(form) >= _SHORTEST_BASE64}
    return long_enough | {form.translate(_URL_SAFE) for form in long_enough}
