"""Serves the interface of S3 on this machine, with a proxy before it that spoils chosen requests."""

import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest.mock import patch

from moto.server import ThreadedMotoServer

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "made-up", "AWS_SECRET_ACCESS_KEY": "made-up-secret"}
# What else could send a test to a real store, or spend seconds on looking for a machine's role.
_OTHERS = {
    "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/nowhere",
    "AWS_SHARED_CREDENTIALS_FILE": "/nowhere", "NO_PROXY": "*",
}  # fmt: skip
_OF_ONE_HOP = {"connection", "transfer-encoding", "content-length", "expect", "keep-alive"}


class Fault(Enum):
    """How the proxy spoils a request."""

    REFUSE = auto()  # closes the connection at once
    BUSY = auto()  # answers 503
    DELAY = auto()  # takes a moment, and is otherwise right
    TEAR_UPLOAD = auto()  # passes half of the body on, then closes both connections
    LOSE_ANSWER = auto()  # passes the request on, then closes without the answer
    TEAR_DOWNLOAD = auto()  # passes half of the answer's body back, then closes


Chooser = Callable[[str, str], Fault | None]


@dataclass
class Proxy:
    """What stands before the server: `choose` says by method and path which requests are spoilt, and how."""

    target: tuple[str, int]
    choose: Chooser = lambda _method, _path: None
    delay_seconds: float = 0.05
    n_requests: Counter[str] = field(default_factory=Counter)
    n_faults: Counter[Fault] = field(default_factory=Counter)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are written apart: each would wait for 40 ms
    proxy: Proxy

    def do_any(self) -> None:
        self.proxy.n_requests[self.command] += 1
        fault = self.proxy.choose(self.command, self.path)
        self.proxy.n_faults.update([fault] if fault else [])
        self.close_connection = fault is not None
        if fault is Fault.REFUSE:
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if fault is Fault.BUSY:
            self._answer(503, {}, b"")
            return
        if fault is Fault.DELAY:
            time.sleep(self.proxy.delay_seconds)
        with closing(HTTPConnection(*self.proxy.target, timeout=20)) as upstream:
            self._send(upstream, body, is_torn=fault is Fault.TEAR_UPLOAD)
            if fault is Fault.TEAR_UPLOAD:
                return
            answer = upstream.getresponse()
            content = answer.read()
        if fault is Fault.LOSE_ANSWER:
            return
        if fault is Fault.TEAR_DOWNLOAD:
            self._answer(answer.status, dict(answer.getheaders()), content, n_sent=len(content) // 2)
        else:
            self._answer(answer.status, dict(answer.getheaders()), content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_any  # noqa: N815 - names of the standard library

    def log_message(self, *_: object) -> None:
        """Keep the output of tests readable."""

    def _send(self, upstream: HTTPConnection, body: bytes, *, is_torn: bool) -> None:
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in _OF_ONE_HOP:
                upstream.putheader(name, value)
        upstream.putheader("Content-Length", str(len(body)))
        upstream.endheaders(body[: len(body) // 2] if is_torn else body)

    def _answer(self, status: int, headers: dict[str, str], body: bytes, n_sent: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in _OF_ONE_HOP:
                self.send_header(name, value)
        is_head = self.command == "HEAD"
        length = next((value for name, value in headers.items() if name.lower() == "content-length"), None)
        self.send_header("Content-Length", str(length if is_head and length else len(body)))
        self.end_headers()
        if not is_head:
            self.wfile.write(body[:n_sent])


def _environment(address: str) -> dict[str, str]:
    """Return this process's environment with one store, and nothing that could lead to another one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {**kept, **CREDENTIALS, **_OTHERS, "AWS_ENDPOINT_URL": address}


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    """Serve an empty store on a free port; yield host and port."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        yield server.get_host_and_port()
    finally:
        server.stop()


@contextmanager
def proxied(target: tuple[str, int]) -> Iterator[Proxy]:
    """Serve a proxy before a store, and let this process find the store there."""
    proxy = Proxy(target)
    handler = type("Handler", (_Handler,), {"proxy": proxy})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    try:
        with patch.dict("os.environ", _environment(address), clear=True):
            yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
