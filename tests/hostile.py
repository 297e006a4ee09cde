"""An upstream whose answers over a real socket are bad in the way a test needs."""

import json
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Reply = Callable[[socket.socket], None]


def http(body: bytes, status: str = "200 OK", *headers: str) -> Reply:
    """Reply with a complete HTTP answer."""
    return raw(_head(status, len(body), *headers) + body)


def json_reply(document: object) -> Reply:
    """Reply with a document as JSON."""
    return http(json.dumps(document).encode(), "200 OK", "Content-Type: application/json")


def raw(data: bytes) -> Reply:
    """Reply with bytes as they are, and close."""
    return lambda connection: connection.sendall(data)


def reset(connection: socket.socket) -> None:
    """Send nothing and break the connection."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def reset_in_the_body(connection: socket.socket) -> None:
    """Send less than the announced length, then break the connection."""
    connection.sendall(_head("200 OK", 1000) + b'{"codice_linea')
    time.sleep(0.05)
    reset(connection)


def never_answer(connection: socket.socket) -> None:
    """Send nothing for longer than the read timeout."""
    time.sleep(3)
    reset(connection)


def drip(connection: socket.socket) -> None:
    """Send a byte every 0.1 s, so that no single read times out."""
    connection.sendall(_head("200 OK", 1000))
    for _ in range(100):
        connection.sendall(b" ")
        time.sleep(0.1)


def huge(connection: socket.socket) -> None:
    """Send a body far above the limit."""
    connection.sendall(_head("200 OK", 50_000_000))
    for _ in range(50):
        connection.sendall(b'"' + b"x" * 999_999)


@contextmanager
def serving(choose: Callable[[str], Reply]) -> Iterator[str]:
    """Serve on a free port the reply that `choose` returns for a path; yield the version 1 base address."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            request = _read_head(self.request)
            if request:
                try:
                    choose(request.split(" ")[1])(self.request)
                except OSError:
                    return  # the client has closed the connection, as it should

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/api/v1/"
        server.shutdown()


def _read_head(connection: socket.socket) -> str:
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(4096)
        if not piece:
            return ""
        received += piece
    return received.decode("latin-1")


def _head(status: str, length: int, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {length}", "Connection: close", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
