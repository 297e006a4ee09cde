"""Measures how many answers a second the emulator serves at city size, over real connections.

Run: python benchmarks/emulator_throughput.py [--seconds 5] [--connections 4] [--size city]
"""

import argparse
import asyncio
import multiprocessing
import time
from datetime import UTC, datetime, timedelta

from transit_emulator.app import create_app
from transit_emulator.process import first_answer, free_port
from transit_emulator.server import serve
from transit_emulator.world import World, build_world

START = datetime(2026, 3, 4, 7, tzinfo=UTC)
MANY = 10**9


def paths_of(world: World) -> dict[str, list[str]]:
    """Return paths to request, by kind."""
    network = world.network
    return {
        "passages": [f"/api/v1/passaggi/{stop.code}" for stop in network.stops],
        "timetables": [f"/api/v1/orari/{line.code}/2026-03-04" for line in network.lines],
        "status": ["/api/v1/stato_servizio"],
    }


def run_server(size: str, port: int) -> None:
    """Serve a network with a limit that is never reached."""
    serve(create_app(build_world(size), limit_without_token=MANY), port=port)


async def ask_for(paths: list[str], port: int, seconds: float, connections: int) -> tuple[int, float]:
    """Send requests one after the other on each connection; return (answers, worst milliseconds)."""
    ends_at = time.perf_counter() + seconds
    counts = await asyncio.gather(*(_ask(paths[n:] + paths[:n], port, ends_at) for n in range(connections)))
    return sum(n for n, _ in counts), 1_000 * max(worst for _, worst in counts)


async def _ask(paths: list[str], port: int, ends_at: float) -> tuple[int, float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    n, worst = 0, 0.0
    while time.perf_counter() < ends_at:
        now = (START + timedelta(seconds=n / 10)).isoformat()
        began = time.perf_counter()
        request = f"GET {paths[n % len(paths)]} HTTP/1.1\r\nHost: x\r\nX-Emulated-Now: {now}\r\n\r\n"
        writer.write(request.encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        n, worst = n + 1, max(worst, time.perf_counter() - began)
    writer.close()
    return n, worst


def main() -> None:
    """Print answers a second for each kind of path."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--size", default="city")
    options = parser.parse_args()
    port = free_port()
    server = multiprocessing.get_context("spawn").Process(
        target=run_server, args=(options.size, port), daemon=True
    )
    server.start()
    first_answer(f"http://127.0.0.1:{port}/", server.is_alive)
    for kind, paths in paths_of(build_world(options.size)).items():
        began = time.perf_counter()
        asyncio.run(ask_for(paths, port, 0.01, 1))
        first = time.perf_counter() - began
        n, worst = asyncio.run(ask_for(paths, port, options.seconds, options.connections))
        rate = n / options.seconds
        print(f"{kind}: {rate:,.0f} answers a second, worst {worst:.0f} ms, the very first {first:.2f} s")
    server.terminate()
    server.join()


if __name__ == "__main__":
    main()
