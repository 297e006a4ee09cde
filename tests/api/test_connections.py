"""Proxies and certificates of the environment are used, or named where they stand in the way."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.api import raw_server
from tests.api.clients import PASSAGES, settings_with
from tests.api.raw_server import Reply, sends
from transit_base.errors import TransitError
from transit_etl.api import v1
from transit_etl.api.advice import Advice, advice_about
from transit_etl.api.client import Client
from transit_etl.api.connections import ConnectionSettingError
from transit_etl.api.exchange import Answer, Outcome
from transit_etl.clock import SystemClock

ELSEWHERE = "http://upstream.test/api/v1/"
PAGE = b"<!DOCTYPE html>\n<html><head><title>Hotel\n &amp; Spa</title></head><body></body></html>"
SetVariable = Callable[[str, str], None]


@pytest.fixture(autouse=True)
def set_variable(monkeypatch: pytest.MonkeyPatch) -> SetVariable:
    """Begin without the variables of whoever runs the tests."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch.setenv


def _ask(base_url: str) -> Answer:
    async def main() -> Answer:
        async with Client(settings_with(base_url=base_url), SystemClock()) as client:
            return await client.send(v1.all_of("lines"), before_retry=_permit)

    return asyncio.run(main())


async def _permit() -> None:
    """Allow the second attempt."""


def _served(reply: Reply, ask: Callable[[str], str]) -> tuple[str, Answer]:
    """Ask the address that `ask` makes of a server's HOST:PORT; return that, and the answer."""

    async def main() -> tuple[str, Answer]:
        async with raw_server.raw_server(reply) as server:
            address = server.base_url.removeprefix("http://").removesuffix("/api/v1/")
            async with Client(settings_with(base_url=ask(address)), SystemClock()) as client:
                return address, await client.send(v1.all_of("lines"))

    return asyncio.run(main())


def _advice(answer: Answer) -> Advice:
    return advice_about(settings_with(base_url=ELSEWHERE), answer)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTP_PROXY", "ftp://me:secret@proxy.invalid:3128"),
        ("http_proxy", "http://me:secret@proxy.invalid:99999"),
        ("https_proxy", "http://me:secret@[::1"),
        ("ALL_PROXY", "socks5://me:secret@127.0.0.1:1080"),
        ("SSL_CERT_FILE", "/nonexistent/ca.pem"),
        ("SSL_CERT_FILE", "/"),
        ("SSL_CERT_FILE", __file__),
    ],
)
def test_a_variable_that_cannot_be_obeyed_is_named_without_its_password(
    set_variable: SetVariable, name: str, value: str
) -> None:
    set_variable(name, value)

    with pytest.raises(TransitError, match=f"{name}\\b") as raised:
        _ask(ELSEWHERE)

    assert isinstance(raised.value, ConnectionSettingError)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("value", ["localhost,[::1]", "fe80::/10,10.0.0.0/8", "[::1", "a b,http://x:y", ",,"])
def test_what_no_proxy_says_beside_names_and_addresses_is_passed_over(
    set_variable: SetVariable, value: str
) -> None:
    set_variable("NO_PROXY", value)
    set_variable("HTTPS_PROXY", "http://proxy.invalid:3128")

    _, answer = _served(sends(b"[]"), lambda address: f"http://{address}/api/v1/")

    assert Outcome.OK == answer.outcome
    assert answer.proxy is None


def test_no_proxy_for_anything_leaves_out_also_one_that_cannot_be_used(set_variable: SetVariable) -> None:
    set_variable("ALL_PROXY", "socks5://127.0.0.1:1080")
    set_variable("NO_PROXY", "*")

    _, answer = _served(sends(b"[]"), lambda address: f"http://{address}/api/v1/")

    assert Outcome.OK == answer.outcome


def test_a_proxy_that_is_away_is_blamed_and_not_the_address(set_variable: SetVariable) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        proxy = f"127.0.0.1:{closed.getsockname()[1]}"
    set_variable("HTTP_PROXY", f"http://me:secret@{proxy}")
    answer = _ask(ELSEWHERE)
    advice = _advice(answer)

    assert f"cannot connect to the proxy {proxy}: " in str(answer.error)
    assert (2, 0) == (answer.attempts, answer.n_sent)
    assert "proxy" == advice.subject
    assert "look at HTTP_PROXY" in advice.text
    assert "TRANSIT_BASE_URL" not in advice.text
    assert "secret" not in advice.text


@pytest.mark.parametrize("status", ["407 Proxy Authentication Required", "502 Bad Gateway"])
def test_a_refusal_of_the_proxy_is_told_as_one(set_variable: SetVariable, status: str) -> None:
    def by_proxy(address: str) -> str:
        set_variable("HTTP_PROXY", f"http://{address}")
        return ELSEWHERE

    proxy, answer = _served(sends(b"no", status), by_proxy)
    advice = _advice(answer)

    assert "proxy" == advice.subject
    assert f"{answer.error}; it is asked by way of the proxy {proxy}: look at HTTP_PROXY" in advice.text


def test_a_proxy_that_refuses_a_tunnel_is_named(set_variable: SetVariable) -> None:
    def by_proxy(address: str) -> str:
        set_variable("HTTPS_PROXY", f"http://{address}")
        return ELSEWHERE.replace("http:", "https:")

    proxy, answer = _served(sends(b"no", "407 Proxy Authentication Required"), by_proxy)

    assert "proxy" == _advice(answer).subject
    assert f"cannot connect to the proxy {proxy}: 407" in str(answer.error)


@pytest.mark.parametrize(
    ("reply", "subject", "says"),
    [
        (sends(PAGE), "address", "a page of HTML titled 'Hotel & Spa': another server's, or the login"),
        (sends(b'[{"codice": "015-'), "server", "it breaks off after 17 characters; the address is reached"),
        (raw_server.breaks_off, "server", "the address is reached, and the fault is there or on the way"),
        (sends(b"", "511 Network Authentication Required"), "network", "HTTP 511; the network that"),
        (sends(b"", "407 Proxy Authentication Required"), "proxy", "a proxy on the way wants a login"),
        (sends(b"", "502 Bad Gateway"), "server", "HTTP 502; the address is reached"),
        (sends(b"", "301 Moved", Location="https://new.test/"), "address",
         "HTTP 301, a redirection to https://new.test/, which is not followed; look at TRANSIT_BASE_URL"),
        (sends(PASSAGES), "address", "found; look at TRANSIT_BASE_URL"),
    ],
)  # fmt: skip
def test_an_answer_that_is_not_usable_is_explained_by_what_came(
    reply: Reply, subject: str, says: str
) -> None:
    _, answer = _served(reply, lambda address: f"http://{address}/api/v1/")
    advice = _advice(answer)

    assert subject == advice.subject
    assert says in advice.text
    assert ("TRANSIT_BASE_URL" in advice.text) == (subject == "address")


def test_a_certificate_that_is_not_trusted_here_is_told_as_one() -> None:
    answer = replace(
        _ask("http://127.0.0.1:9/api/v1/"),
        error="cannot connect: [SSL: CERTIFICATE_VERIFY_FAILED] self-signed",
    )

    assert "certificate" == _advice(answer).subject
    assert "look at SSL_CERT_FILE" in _advice(answer).text
