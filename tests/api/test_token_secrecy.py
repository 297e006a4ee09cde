"""The token goes into request headers and nowhere else: no log, text, exception, address or file."""

import asyncio
import json
import logging
import traceback
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.api import raw_server
from tests.api.raw_server import sends
from transit_etl.api import v0, v1
from transit_etl.api.client import Client
from transit_etl.api.exchange import Answer, Outcome, Request
from transit_etl.api.redaction import MARK, SHORTEST_TOKEN, Redactor
from transit_etl.clock import SystemClock
from transit_etl.collect.allowance.budget import credential, open_budget
from transit_etl.endpoints import Kind
from transit_etl.settings import Settings

TOKEN = "s3cr3t/tok+en=="
LEGACY = "0ld-s3cr3t-t0ken"


def _settings(base_url: str = "http://t.test/api/v1/", **values: object) -> Settings:
    return Settings(base_url=base_url, token=TOKEN, legacy_token=LEGACY, **values)  # type: ignore[arg-type]


def _send(handler: httpx.MockTransport, request: Request) -> Answer:
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
    before = {name: list(logging.getLogger(name).filters) for name in ("httpx", "httpcore.http11")}

    _send(httpx.MockTransport(lambda _: httpx.Response(200, json=[])), v1.all_of("lines"))

    assert before == {name: list(logging.getLogger(name).filters) for name in before}


def test_no_error_holds_it() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError(f"refused {request.headers['Authorization']}", request=request)

    answer = _send(httpx.MockTransport(handler), v1.all_of("lines"))

    assert Outcome.CONNECTION_ERROR == answer.outcome
    assert f"ConnectError: refused Bearer {MARK}" == answer.error
    assert _is_clean(repr(answer))


def test_no_address_holds_it() -> None:
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url))
        return httpx.Response(200, json=[])

    _send(httpx.MockTransport(handler), v1.all_of("lines"))
    _send(httpx.MockTransport(handler), v0.news(3))

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
    ],
    ids=["plain", "escaped", "quoted", "quoted in lower case", "escaped as in other languages"],
)
def test_a_body_that_repeats_it_is_redacted_before_anyone_can_land_it(request_: Request, echo: str) -> None:
    answer = _send(httpx.MockTransport(lambda _: httpx.Response(200, content=echo.encode())), request_)

    assert Outcome.OK == answer.outcome
    assert answer.body is not None
    assert MARK in answer.body.decode()
    assert b"s3cr3t" not in answer.body
    assert "the body repeated the token: [redacted]" == answer.error


def test_a_reason_built_from_the_body_is_redacted_too() -> None:
    echo = json.dumps({TOKEN: 1}).encode()

    answer = _send(httpx.MockTransport(lambda _: httpx.Response(200, content=echo)), v1.all_of("lines"))

    assert Outcome.WRONG_SHAPE == answer.outcome
    assert answer.error is not None
    assert MARK in answer.error
    assert _is_clean(answer.error)


def test_a_reason_cut_short_does_not_hold_a_half_of_it() -> None:
    echo = json.dumps({"x" * 72 + TOKEN: 1}).encode()

    answer = _send(httpx.MockTransport(lambda _: httpx.Response(200, content=echo)), v1.all_of("lines"))

    assert answer.error is not None
    assert TOKEN[:6] not in answer.error


def test_no_text_of_the_settings_or_the_client_holds_it() -> None:
    settings = _settings(limiter_url="postgresql://user:database-password@db/transit")
    client = Client(settings, SystemClock(), httpx.MockTransport(lambda _: httpx.Response(200)))

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

    assert any(credential(settings).encode() in content for content in contents)
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
