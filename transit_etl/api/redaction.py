"""Removes tokens from everything that is written: texts, bodies and log records."""

import logging
import re
from array import array
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from html import unescape
from typing import Self

MARK = "[redacted]"
SHORTEST_TOKEN = 4  # anything shorter is no secret, and would be found in every body
_SHORTEST_BASE64 = 6  # anything shorter would be found in images
_MOST_LAYERS = 6  # of escapes within escapes; staging undoes three
_MOST_CHARACTERS = 1 << 20  # of a text of which escapes are told apart: it takes 60 bytes for each
_ESCAPE = re.compile(
    r"""[\0\\%&](?:(?<=\0)
        | (?<=\\)(?:u[0-9a-f]{4}|x[0-9a-f]{2}|["'/\\])
        | (?<=%)[0-9a-f]{2}
        | (?<=&)(?:\#[0-9]+;?|\#x[0-9a-f]+;?|[a-z]{2,20};?))""",
    re.VERBOSE | re.IGNORECASE,
)
_CUT_ESCAPE = re.compile(r"(?:[\\%&][#0-9A-Za-z]{0,20})+\0?\Z")
_URL_SAFE = str.maketrans("+/", "-_")
_WIRE_LOGGERS = (
    "httpx2",
    *(f"httpcore2.{each}" for each in ("connection", "http11", "http2", "proxy", "socks")),
)


class Redactor:
    """Replaces tokens by a mark: plain, in base64, in hexadecimal, under escapes of JSON, XML and addresses.

    Escapes may be mixed and nested, and NUL bytes may stand between the characters, as in UTF-16.
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        forms = {form for token in tokens if len(token) >= SHORTEST_TOKEN for form in _forms(token)}
        self._forms = sorted(forms, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return a text without the tokens."""
        return self._redacted(text, is_cut=False)

    def body(self, body: bytes, *, is_cut: bool = False) -> bytes:
        """Return a body without the tokens; the same object if it held none.

        The end of a body that was cut may be the beginning of a token, which is replaced too.
        """
        text = body.decode("latin-1")
        redacted = self._redacted(text, is_cut=is_cut)
        return body if redacted is text else redacted.encode("latin-1")

    def _redacted(self, text: str, *, is_cut: bool) -> str:
        if not self._is_in(text, is_cut=is_cut):
            return text
        if len(text) > _MOST_CHARACTERS:
            return self._redacted_long(text, is_cut=is_cut)
        pieces, end = [], 0
        for start, stop in _joined(self._places(text, is_cut=is_cut)):
            pieces += [text[end:start], MARK]
            end = stop
        return "".join([*pieces, text[end:]])

    def _redacted_long(self, text: str, *, is_cut: bool) -> str:
        """Return a long text with a mark for each plain token; the mark alone if that leaves one in it."""
        for form in self._forms:
            text = text.replace(form, MARK)
        return MARK if self._is_in(text, is_cut=is_cut) else text

    def _is_in(self, text: str, *, is_cut: bool) -> bool:
        return any(
            any(form in layer for form in self._forms) or (is_cut and self._begun(layer) < len(layer))
            for layer in _layers(text)
        )

    def _places(self, text: str, *, is_cut: bool) -> Iterator[tuple[int, int]]:
        """Yield where a token begins and ends in a text, in whatever layer of escapes it is found."""
        layer, origins = text, array("I", range(len(text) + 1))
        for _ in range(_MOST_LAYERS):  # as `_layers`
            for form in self._forms:
                at = layer.find(form)
                while at >= 0:
                    yield origins[at], origins[at + len(form)]
                    at = layer.find(form, at + len(form))
            if is_cut:
                yield origins[self._begun(layer)], len(text)
            undone, origins = _undone(layer, origins)
            if undone == layer:
                return
            layer = undone

    def _begun(self, layer: str) -> int:
        """Return where a token begins that the end of a text cuts off, also within an escape."""
        end = _CUT_ESCAPE.search(layer)
        ends = [len(layer), *([end.start()] if end else [])]
        begun = (
            end - length
            for end in ends
            for form in self._forms
            for length in range(SHORTEST_TOKEN, len(form))
            if layer.endswith(form[:length], 0, end)
        )
        return min(begun, default=len(layer))


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
    plain = {form for form in _layers(token) if len(form) >= SHORTEST_TOKEN}  # it may itself look escaped
    hexadecimal = token.encode().hex()
    return plain | {hexadecimal, hexadecimal.upper()} | _base64_forms(token)


def _layers(text: str) -> Iterator[str]:
    """Yield a text, and what is under its escapes, until there are none."""
    for _ in range(_MOST_LAYERS):
        yield text
        undone = _ESCAPE.sub(lambda found: _meaning(found[0]), text)
        if undone == text:
            return
        text = undone


def _undone(text: str, origins: "array[int]") -> "tuple[str, array[int]]":
    """Undo one layer of escapes; `origins` says where each character, and the end, was at first."""
    pieces, kept, end = [], array("I"), 0
    for found in _ESCAPE.finditer(text):
        meaning = _meaning(found[0])
        pieces += [text[end : found.start()], meaning]
        kept.extend(origins[end : found.start()])
        kept.extend([origins[found.start()]] * len(meaning))
        end = found.end()
    kept.extend(origins[end:])
    return "".join([*pieces, text[end:]]), kept


@lru_cache(maxsize=4096)
def _meaning(escape: str) -> str:
    """Return the characters that an escape stands for, in one byte each; an unknown one stands for itself."""
    if escape[0] == "\0":
        return ""
    if escape[0] == "&":
        meaning = unescape(escape)
    elif len(escape) == len(r"\/"):
        return escape[1] if escape[0] == "\\" else escape
    else:
        meaning = chr(int(escape.lstrip("\\uUxX%"), 16))
    return meaning if meaning.isascii() else escape


def _joined(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join places that overlap."""
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(places):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(stop, joined[-1][1])
        elif start < stop:
            joined.append((start, stop))
    return joined


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
