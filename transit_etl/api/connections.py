"""Opens connections with the proxies and certificates of the environment, and says what is wrong there."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from urllib.request import getproxies_environment

import httpx2

from transit_base.errors import TransitError
from transit_etl.settings import CollectSettings

_LIMITS = httpx2.Limits(max_connections=32, max_keepalive_connections=16, keepalive_expiry=15)
_OF_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")
_LAST_PORT = 65535


class ConnectionSettingError(TransitError):
    """A variable of the environment that says how to connect, and is not one of ours, cannot be obeyed."""


def open_pool(settings: CollectSettings, transport: httpx2.AsyncBaseTransport | None) -> httpx2.AsyncClient:
    """Return a pool of connections; ConnectionSettingError names the variable that stands in the way."""
    if transport is None:
        _check_proxies()
    try:
        return httpx2.AsyncClient(
            headers={
                "User-Agent": settings.user_agent,
                "Accept": "application/json",
                "Accept-Encoding": "gzip, deflate",
            },
            timeout=httpx2.Timeout(settings.read_timeout_seconds, connect=settings.connect_timeout_seconds),
            limits=_LIMITS,
            follow_redirects=False,
            transport=transport,
        )
    except OSError as error:
        given = [f"{name}={os.environ[name]}" for name in _OF_CERTIFICATES if os.environ.get(name)]
        raise ConnectionSettingError(f"no certificates by {' and '.join(given)}: {error}") from error


def proxy_variables(proxy: str) -> str:
    """Return the names of the variables by which a proxy, HOST:PORT, is used."""
    used = [*_proxies()]
    names = [name for name, value in used if proxy in value] or [name for name, _ in used]
    return " or ".join(names)


def _check_proxies() -> None:
    for name, value in _proxies():
        try:
            proxy = httpx2.Proxy(value).url
        except (ValueError, httpx2.InvalidURL):
            proxy = None
        if proxy is None or not 0 < (proxy.port or 1) <= _LAST_PORT:
            # its value may hold a password
            raise ConnectionSettingError(f"{name} is no proxy that can be used: http://HOST:PORT is expected")
        if proxy.scheme.startswith("socks") and find_spec("socksio") is None:
            raise ConnectionSettingError(
                f"{name} is a SOCKS proxy, which needs another package: pip install 'httpx2[socks]', "
                "or leave it out by NO_PROXY=*"
            )


def _proxies() -> Iterator[tuple[str, str]]:
    """Yield the variables that name proxies, and the address that each names."""
    found = getproxies_environment()
    if "*" in (each.strip() for each in found.get("no", "").split(",")):
        return
    for scheme in ("http", "https", "all"):
        for name, value in os.environ.items():
            if name.lower() == f"{scheme}_proxy" and value and value == found.get(scheme):
                yield name, value if "://" in value else f"http://{value}"
