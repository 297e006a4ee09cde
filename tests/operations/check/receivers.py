"""A mail server and a web server that remember the messages they are sent."""

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_string
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def web_server() -> Iterator[tuple[str, list[str]]]:
    """Run a web server; yield its address for alerts, and the titles of what it is sent."""
    titles: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            titles.append(body["title"].partition(": ")[2])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"json://127.0.0.1:{server.server_port}/hook", titles
        server.shutdown()


@contextmanager
def mail_server() -> Iterator[tuple[str, list[str]]]:
    """Run a mail server; yield its address for alerts, and the subjects of what it is sent."""
    subjects: list[str] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.say("220 test")
            for line in self.rfile:
                word = line.split()[0].upper() if line.split() else b""
                if word == b"DATA":
                    self.say("354 go on")
                    subjects.append(self.subject())
                self.say("221 bye" if word == b"QUIT" else "250 ok")

        def say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

        def subject(self) -> str:
            lines = iter(self.rfile.readline, b".\r\n")
            message = message_from_string("".join(line.decode() for line in lines))
            return " ".join(str(message["Subject"]).split()).partition(": ")[2]

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        port = server.server_address[1]
        yield f"mailto://127.0.0.1:{port}?from=us@example.org&to=you@example.org", subjects
        server.shutdown()
