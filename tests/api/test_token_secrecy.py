"""The token goes into request headers and nowhere else: no log, text, exception, address or file."""

import asyncio
import base64
import json
import logging
import traceback
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.api import raw_server
from tests.api.raw_server import sends
from transit_etl.api import v0, v1
from transit_etl.api.client import Client, MissingTokenError
from transit_etl.api.exchange import Answer, Outcome, Request
from transit_etl.api.redaction import MARK, SHORTEST_TOKEN, Redactor
from transit_etl.clock import SystemClock
from transit_etl.collect.allowance.budget import open_budget
from transit_etl.collect.allowance.budget_store import BudgetStoreError, SqlStore
from transit_etl.endpoints import Kind
from transit_etl.settings import Settings

TOKEN = "s3cr3t/tok+en=="
LEGACY = "0ld-s3cr3t-t0ken"


def _settings(base_url: str = "http://t.test/api/v1/", **values: object) -> Settings:
    return Settings(base_url=base_url, token=TOKEN, legacy_token=LEGACY, **values)  # type: ignore[arg-type]


def _send(handler: httpx2.MockTransport, request: Request) -> Answer:
    async def main() -> Answer:
        async with Client(_settings(), SystemClock(), handler) as client:
            return await client.send(request)

    return asyncio.run(main())


def _is_clean(text: str) -> bool:
    return TOKEN not in text and LEGACY not in text


def test_no_log_of_ours_or_of_a_library_holds_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def main() -> None:
        async with raw_server.raw_server(sends(b"[]", X_You_Sent=f"Bearer {TOKEN} {LEGACY}")) as server:
            async with Client(_settings(server.base_url), SystemClock()) as client:
                await client.send(v1.all_of("lines"))
                await client.send(v0.status())
            assert TOKEN in server.requests[0]
            assert LEGACY in server.requests[1]

    asyncio.run(main())

    assert "X-You-Sent" in caplog.text
    assert _is_clean(caplog.text)


def test_the_guard_leaves_with_its_client() -> None:
    before = {name: list(logging.getLogger(name).filters) for name in ("httpx2", "httpcore2.http11")}

    _send(httpx2.MockTransport(lambda _: httpx2.Response(200, json=[])), v1.all_of("lines"))

    assert before == {name: list(logging.getLogger(name).filters) for name in before}


def test_no_error_holds_it() -> None:
    def handler(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError(f"refused {request.headers['Authorization']}", request=request)

    answer = _send(httpx2.MockTransport(handler), v1.all_of("lines"))

    assert Outcome.CONNECTION_ERROR == answer.outcome
    assert f"refused Bearer {MARK}" == str(answer.error).rpartition(": ")[2]
    assert _is_clean(repr(answer))


def test_no_address_holds_it() -> None:
    seen: list[str] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(str(request.url))
        return httpx2.Response(200, json=[])

    _send(httpx2.MockTransport(handler), v1.all_of("lines"))
    _send(httpx2.MockTransport(handler), v0.news(3))

    assert 2 == len(seen)
    assert _is_clean("".join(seen))


@pytest.mark.parametrize("request_", [v1.news(), v0.news()])
@pytest.mark.parametrize(
    "echo",
    [
        json.dumps([{"titolo": f"Bearer {TOKEN} {LEGACY}"}]),
        json.dumps([{"titolo": TOKEN}]).replace("/", r"\/"),
        '[{"titolo": "s3cr3t%2Ftok%2Ben%3D%3D"}]',
        '[{"titolo": "s3cr3t%2ftok%2ben%3d%3d"}]',
        r'[{"titolo": "s3cr3t\u002Ftok\u002Ben\u003D\u003D"}]',
        json.dumps([{"titolo": base64.b64encode(f"user:{TOKEN}".encode()).decode()}]),
        json.dumps([{"titolo": TOKEN.encode().hex()}]),
    ],
    ids=[
        "plain", "escaped", "quoted", "quoted in lower case", "escaped as in other languages", "base64",
        "hexadecimal",
    ],
)  # fmt: skip
def test_a_body_that_repeats_it_is_redacted_before_anyone_can_land_it(request_: Request, echo: str) -> None:
    answer = _send(httpx2.MockTransport(lambda _: httpx2.Response(200, content=echo.encode())), request_)

    assert Outcome.OK == answer.outcome
    assert answer.body is not None
    assert MARK in answer.body.decode()
    assert b"s3cr3t" not in answer.body
    assert "the body repeated the token: [redacted]" == answer.error


_UNFINISHED = "XML with zeros, unfinished"
_ESCAPED: dict[str, Callable[[str], str]] = {
    "JSON": lambda char: f"\\u{ord(char):04x}",
    "JSON in upper case": lambda char: f"\\u{ord(char):04X}",
    "XML": lambda char: f"&#{ord(char)};",
    _UNFINISHED: lambda char: f"&#000{ord(char)}",
    "XML, hexadecimal": lambda char: f"&#x{ord(char):x};",
    "XML, hexadecimal in upper case": lambda char: f"&#X{ord(char):X};",
    "XML, named": lambda char: {"/": "&sol;", "+": "&plus;", "=": "&equals;"}.get(char, char),
    "address": lambda char: f"%{ord(char):02x}",
    "address in upper case": lambda char: f"%{ord(char):02X}",
}


def _escaped(text: str, *ways: str) -> str:
    for way in ways:
        text = "".join(map(_ESCAPED[way], text))
    return text


@pytest.mark.parametrize("last", _ESCAPED)
@pytest.mark.parametrize("first", _ESCAPED)
def test_escapes_within_escapes_do_not_hide_it(first: str, last: str) -> None:
    body = f'[{{"titolo": "è {_escaped(TOKEN, first, last)}&amp;\\n"}}]'

    assert f'[{{"titolo": "è {MARK}&amp;\\n"}}]' == Redactor([TOKEN]).body(body.encode()).decode()


@given(
    st.lists(
        st.sampled_from(["", *sorted(_ESCAPED.keys() - {_UNFINISHED})]),
        min_size=len(TOKEN),
        max_size=len(TOKEN),
    )
)
def test_escapes_of_some_of_its_characters_do_not_hide_it(ways: list[str]) -> None:
    mixed = "".join(_escaped(char, *filter(None, [way])) for char, way in zip(TOKEN, ways, strict=True))

    assert f"<{MARK}>" == Redactor([TOKEN]).text(f"<{mixed}>")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-32", "utf-8-sig"])
def test_another_encoding_does_not_hide_it(encoding: str) -> None:
    redacted = Redactor([TOKEN]).body(f'[{{"titolo": "{TOKEN}"}}]'.encode(encoding))

    assert MARK.encode() in redacted
    assert b"t0k" not in redacted.replace(b"\0", b"")


@pytest.mark.parametrize("ways", [(), ("JSON",), ("XML, hexadecimal", "JSON"), ("address",)], ids=str)
def test_wherever_a_body_is_cut_off_its_beginning_is_not_kept(ways: tuple[str, ...]) -> None:
    escaped = f"[0123456789 {_escaped(TOKEN, *ways)}"
    n_characters = len(escaped) - len(_escaped(TOKEN[SHORTEST_TOKEN:], *ways))

    for end in range(n_characters, len(escaped)):
        cut = Redactor([TOKEN]).body(escaped[:end].encode(), is_cut=True)

        assert f"[0123456789 {MARK}" == cut.decode().rstrip("\\u03b")  # which finish the last escape


def test_an_answer_cut_off_in_the_middle_of_it_is_landed_without_its_beginning() -> None:
    settings, body = _settings(max_body_bytes=1024), "x" * 1014 + TOKEN

    async def main() -> Answer:
        transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=body.encode()))
        async with Client(settings, SystemClock(), transport) as client:
            return await client.send(v1.all_of("lines"))

    answer = asyncio.run(main())

    assert Outcome.TOO_LARGE == answer.outcome
    assert ("x" * 1014 + MARK).encode() == answer.body


def test_a_body_that_hides_it_too_often_to_be_told_apart_is_replaced_whole() -> None:
    hidden = (_escaped(TOKEN, "JSON") + '\\"') * ((8 << 20) // 92)

    assert MARK.encode() == Redactor([TOKEN]).body(hidden.encode())


def test_a_reason_built_from_the_body_is_redacted_too() -> None:
    echo = json.dumps({TOKEN: 1}).encode()

    answer = _send(httpx2.MockTransport(lambda _: httpx2.Response(200, content=echo)), v1.all_of("lines"))

    assert Outcome.WRONG_SHAPE == answer.outcome
    assert answer.error is not None
    assert MARK in answer.error
    assert _is_clean(answer.error)


@pytest.mark.parametrize("before", ["", "x" * 30])
def test_a_header_that_repeats_it_is_told_without_it(before: str) -> None:
    settings = Settings(base_url="http://t.test/api/v1/", token="S3CR3T-T0KEN-OF-OURS")
    headers = {"Content-Encoding": f"{before}S3CR3T-T0KEN-OF-OURS"}

    async def main() -> Answer:
        transport = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers))
        async with Client(settings, SystemClock(), transport) as client:
            return await client.send(v1.all_of("lines"))

    answer = asyncio.run(main())

    assert Outcome.NOT_JSON == answer.outcome
    assert "s3cr3t" not in str(answer.error).lower()


def test_a_reason_cut_short_does_not_hold_a_half_of_it() -> None:
    echo = json.dumps({"x" * 72 + TOKEN: 1}).encode()

    answer = _send(httpx2.MockTransport(lambda _: httpx2.Response(200, content=echo)), v1.all_of("lines"))

    assert answer.error is not None
    assert TOKEN[:6] not in answer.error


@pytest.mark.parametrize("n_before", [0, 265, 275, 290])
def test_where_a_redirection_leads_is_told_without_it(n_before: int) -> None:
    location = f"https://elsewhere.test/{'x' * n_before}?key={TOKEN}"
    response = httpx2.Response(302, headers={"Location": location})

    answer = _send(httpx2.MockTransport(lambda _: response), v1.all_of("lines"))

    assert "a redirection to https://elsewhere.test/" in str(answer.error)
    assert TOKEN[:6] not in str(answer.error)


def test_no_text_of_the_settings_or_the_client_holds_it() -> None:
    settings = _settings(limiter_url="postgresql://user:database-password@db/transit")
    client = Client(settings, SystemClock(), httpx2.MockTransport(lambda _: httpx2.Response(200)))

    texts = [repr(settings), str(settings), repr(client), settings.model_dump_json(), str(vars(client))]

    assert all(_is_clean(text) for text in texts)
    assert "database-password" not in repr(settings)


def test_a_bad_token_is_refused_without_being_shown() -> None:
    with pytest.raises(ValueError, match="printable ASCII") as refusal:
        Settings(token="s3cr3t t0ken")

    shown = "".join(traceback.format_exception(refusal.value))
    assert "s3cr3t t0ken" not in shown.replace('Settings(token="s3cr3t t0ken")', "")


def test_no_file_of_the_budget_holds_it(tmp_path: Path) -> None:
    settings, contents = _settings(data_dir=tmp_path), list[bytes]()

    async def main() -> None:
        async with open_budget(settings, SystemClock()) as budget:
            await budget.acquire(Kind.STATUS)
            contents.extend(_contents(tmp_path))

    asyncio.run(main())

    assert any(settings.credential.encode() in content for content in contents)
    assert not any(TOKEN.encode() in content or LEGACY.encode() in content for content in contents)


def _contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


def test_a_body_without_it_is_the_same_object() -> None:
    body = b'{"passaggi": []}'

    assert body is Redactor([TOKEN]).body(body)


def test_a_token_too_short_to_be_a_secret_does_not_tear_holes() -> None:
    assert b"[15, 15]" == Redactor(["15"]).body(b"[15, 15]")


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=SHORTEST_TOKEN), st.text(), st.text()
)
def test_whatever_the_token_it_is_gone(token: str, before: str, after: str) -> None:
    redacted = Redactor([token]).text(before + token + after)

    assert token not in redacted.replace(MARK, "\n")


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=7), st.binary(), st.binary(),
    st.sampled_from([base64.b64encode, base64.urlsafe_b64encode]),
)  # fmt: skip
def test_a_token_within_base64_is_gone(
    token: str, before: bytes, after: bytes, encode: Callable[[bytes], bytes]
) -> None:
    encoded = encode(before + token.encode() + after)

    redacted = Redactor([token]).body(encoded)

    assert MARK.encode() in redacted
    kept = len(encoded.rstrip(b"=")) - len(redacted.replace(MARK.encode(), b"").rstrip(b"="))
    assert kept >= len(token) * 8 // 6 - 1  # but for bits that it shares with its neighbours


@pytest.mark.parametrize("request_", [v1.all_of("lines"), v0.news()])
def test_a_redirect_is_not_followed_so_the_token_stays(request_: Request) -> None:
    seen: list[str] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.url.host)
        return httpx2.Response(302, headers={"Location": "https://elsewhere.test/api/v1/"})

    answer = _send(httpx2.MockTransport(handler), request_)

    assert Outcome.CLIENT_ERROR == answer.outcome
    assert ["t.test"] == seen


def test_version_0_at_another_host_is_not_sent_the_token_of_version_1() -> None:
    settings = Settings(
        base_url="https://t.test/api/v1/", legacy_base_url="https://old.test/api/", token=TOKEN
    )
    seen: list[httpx2.Request] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200)

    async def main() -> None:
        async with Client(settings, SystemClock(), httpx2.MockTransport(handler)) as client:
            await client.send(v0.news())

    with pytest.raises(MissingTokenError, match="set TRANSIT_LEGACY_TOKEN"):
        asyncio.run(main())
    assert [] == seen


@pytest.mark.parametrize(
    ("values", "n_warnings"),
    [
        ({"base_url": "http://t.test/api/v1/", "token": TOKEN}, 1),
        ({"base_url": "http://t.test/api/v1/"}, 0),
        ({"base_url": "https://t.test/api/v1/", "token": TOKEN}, 0),
        ({"base_url": "http://127.0.0.1:8400/api/v1/", "token": TOKEN}, 0),
        ({"base_url": "http://localhost/api/v1/", "token": TOKEN}, 0),
        ({"base_url": "http://[::1]/api/v1/", "token": TOKEN}, 0),
        ({"base_url": "http://127.evil.test/api/v1/", "token": TOKEN}, 1),
        ({"legacy_base_url": "http://old.test/", "legacy_token": LEGACY}, 0),
    ],
)
def test_a_token_that_others_could_read_is_warned_of_once_where_it_is_sent(
    caplog: pytest.LogCaptureFixture, values: dict[str, str], n_warnings: int
) -> None:
    async def main() -> None:
        transport = httpx2.MockTransport(lambda _: httpx2.Response(200))
        async with Client(Settings(**values), SystemClock(), transport) as client:  # type: ignore[arg-type]
            for _ in range(2):
                await client.send(v1.all_of("lines"))

    asyncio.run(main())

    assert n_warnings == caplog.text.count("everybody on the way can read the token")
    assert _is_clean(caplog.text)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:{}@127.0.0.1:1/transit", "postgresql://127.0.0.1:1/transit?password={}",
        "postgresql://user@127.0.0.1:1/transit?sslpassword={}&password={}",
    ],
)  # fmt: skip
def test_no_message_about_the_limiter_holds_its_password(url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    settings = Settings(limiter_url=url.replace("{}", TOKEN.replace("/", "%2F")))

    async def main() -> None:
        async with open_budget(settings, SystemClock()) as budget:
            await budget.acquire(Kind.STATUS)

    with pytest.raises(BudgetStoreError) as asked:
        asyncio.run(main())
    with pytest.raises(BudgetStoreError) as read:
        SqlStore(settings.budget_url, settings.credential).peek()
    for text in (str(asked.value), str(read.value), caplog.text):
        assert "s3cr3t" not in text
