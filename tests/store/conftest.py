"""A store for the tests of this folder, and in it a bucket for each test."""

from collections.abc import Iterator
from itertools import count

import httpx2
import pytest

from tests.store.server import Proxy, proxied, served
from transit_etl.store.objects import ObjectStore

_NUMBERS = count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[tuple[str, int]]:
    """Serve one store for all tests of a process."""
    with served() as address:
        yield address


@pytest.fixture
def proxy(server: tuple[str, int]) -> Iterator[Proxy]:
    """Serve a proxy before the store, which spoils nothing yet."""
    with proxied(server) as found:
        yield found


@pytest.fixture
def url(proxy: Proxy) -> str:
    """Make a bucket, and name a place in it."""
    host, port = proxy.target
    bucket = f"lake-{next(_NUMBERS)}"
    httpx2.put(f"http://{host}:{port}/{bucket}").raise_for_status()
    return f"s3://{bucket}/one/place"


@pytest.fixture
def store(url: str) -> ObjectStore:
    """Open the place in the store."""
    return ObjectStore(url)
